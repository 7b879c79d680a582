"""What sessions of one process share: programs and weight buffers, by content and device. Nothing is kept alive."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar
from weakref import WeakValueDictionary

from mace_cl.opencl.programs import LoadedProgram
from mace_cl.runtime.binding import WeightSet

_programs: WeakValueDictionary[tuple[int, str, str], LoadedProgram] = WeakValueDictionary()
_weights: WeakValueDictionary[tuple[int, str], WeightSet] = WeakValueDictionary()
_lock = threading.RLock()

T = TypeVar("T")


def find_program(device: int, sha256: str, options: str) -> LoadedProgram | None:
    """A program that another session loaded from the same bytes."""
    with _lock:
        return _programs.get((device, sha256, options))


def share_program(device: int, sha256: str, options: str, program: LoadedProgram) -> None:
    """Let other sessions have a program."""
    with _lock:
        _programs[device, sha256, options] = program


def shared_weights(device: int, sha256: str, make: Callable[[], WeightSet]) -> WeightSet:
    """Weights by content; made if no session has them."""
    with _lock:
        found = _weights.get((device, sha256))
        if found is None:
            found = _weights[device, sha256] = make()
        return found
