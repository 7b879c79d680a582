"""Makes kernel objects without the 60 ms and 0.2 ms each that pyopencl spends on Python code to call them.

pyopencl's constructor asks its package for a function that sets arguments by position; a run sets them itself. While a
kernel is made, an empty module stands in for the package, unless the process has imported the real one. Should a
version of pyopencl not go along, the package is imported after all.
"""

from __future__ import annotations

import importlib
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from mace_cl.opencl import driver

_PACKAGE = "pyopencl"
_INVOKER = "pyopencl.invoker"
_lock = threading.Lock()


def make_kernel(program: Any, name: str) -> Any:
    """A new kernel object of pyopencl's program.

    Raises:
        DeviceError: The driver has no such kernel, or cannot compile it.
    """
    cl = driver.binding()
    try:
        with _lock:
            if _PACKAGE not in sys.modules:
                try:
                    with _stand_in(cl):
                        return cl.Kernel(program, name)
                except (AttributeError, ImportError, TypeError):
                    importlib.import_module(_PACKAGE)
            return cl.Kernel(program, name)
    except cl.Error as error:
        raise driver.translate(error, f"making kernel {name!r}") from error


def argument_count(kernel: Any) -> int:
    """How many arguments a kernel takes."""
    return int(kernel.get_info(driver.binding().kernel_info.NUM_ARGS))


@contextmanager
def _stand_in(cl: Any) -> Iterator[None]:
    invoker: Any = ModuleType(_INVOKER)
    invoker.generate_enqueue_and_set_args = lambda *_args, **_more: (_no_call, _no_call)
    sys.modules[_PACKAGE] = ModuleType(_PACKAGE)
    sys.modules[_INVOKER] = invoker
    cl.Context.devices = property(lambda _context: [])
    try:
        yield
    finally:
        del cl.Context.devices
        del sys.modules[_INVOKER], sys.modules[_PACKAGE]


def _no_call(*_args: Any, **_more: Any) -> None:
    raise TypeError("this kernel is launched by mace_cl.opencl.commands only")
