"""Files that go away when this process ends well, at the very end, and stay when it does not.

Python's own exit handlers run before drivers take themselves apart, where a damaged program may still crash. So the C
library is asked to remove the files: a crash, a kill or an abort leaves them behind.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import threading
from typing import Any

SLOTS = 8
_PATH_BYTES = 4096


class _State:
    slots: list[int] | None = None
    used: set[int] = set()
    lock = threading.Lock()


def arm() -> None:
    """Register with the C library; before drivers are loaded, so that they take themselves apart first."""
    with _State.lock:
        if _State.slots is None:
            _State.slots = _register()


def _register() -> list[int]:
    try:
        libc: Any = ctypes.CDLL(None)
        at_exit, unlink, calloc = libc.__cxa_atexit, libc.unlink, libc.calloc
    except (OSError, AttributeError):
        return []
    calloc.restype = ctypes.c_void_p
    calloc.argtypes = [ctypes.c_size_t, ctypes.c_size_t]
    at_exit.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
    slots = []
    for _ in range(SLOTS):
        # Memory of C, not of Python: it is read when Python is gone. An empty path removes nothing.
        memory = calloc(1, _PATH_BYTES)
        if memory and at_exit(ctypes.cast(unlink, ctypes.c_void_p), memory, None) == 0:
            slots.append(memory)
    return slots


class ExitFile:
    """A file that is removed when the process ends well.

    Args:
        path: The file; it exists.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._slot: int | None = None
        data = os.fsencode(path)
        with _State.lock:
            free = [s for s in _State.slots or () if s not in _State.used]
            if free and len(data) < _PATH_BYTES:
                self._slot = free[0]
                _State.used.add(free[0])
                ctypes.memmove(free[0], data + b"\0", len(data) + 1)

    @property
    def is_kept(self) -> bool:
        """Whether there was room to register it."""
        return self._slot is not None

    def remove(self) -> None:
        """Remove the file now."""
        with _State.lock:
            if self._slot is not None:
                ctypes.memset(self._slot, 0, 1)
                _State.used.discard(self._slot)
                self._slot = None
        with contextlib.suppress(OSError):
            os.unlink(self._path)
