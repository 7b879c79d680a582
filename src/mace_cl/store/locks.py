"""Locks between processes that the system takes back when their holder dies."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

fcntl: Any
try:
    import fcntl
except ImportError:  # no POSIX: processes may do the same work twice, files are replaced whole all the same
    fcntl = None

_POLL_S = 0.01


@contextmanager
def file_lock(path: Path, timeout_s: float) -> Iterator[bool]:
    """Hold a lock, if it can be had.

    Args:
        path: File that stands for the lock; made, and left behind empty.
        timeout_s: Longest wait.

    Yields:
        Whether it is held: not on a disk without locks, or when another process keeps it too long. What is done under
        it must be right without it.
    """
    handle = _open(path)
    try:
        yield handle is not None and _acquire(handle, timeout_s)
    finally:
        if handle is not None:
            os.close(handle)  # which gives the lock back


def _open(path: Path) -> int | None:
    if fcntl is None:
        return None
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0), 0o600)
    except OSError:
        return None


def _acquire(handle: int, timeout_s: float) -> bool:
    end = time.monotonic() + timeout_s
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if time.monotonic() >= end:
                return False
            time.sleep(_POLL_S)
        except OSError:
            return False
