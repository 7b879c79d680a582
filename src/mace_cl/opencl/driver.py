"""The door to the OpenCL driver: pyopencl's extension module, loaded without the package around it.

`import pyopencl` costs 60 ms, most of it for helpers that a run has no use for; its extension module alone takes 4.
A later `import pyopencl` in the same process finds the same module, so both can be used together.
"""

from __future__ import annotations

import ctypes
import importlib
import importlib.machinery
import importlib.util
import os
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from mace_cl.errors import DeviceError, NoDeviceError
from mace_cl.opencl import bootstrap

_NAME = "pyopencl._cl"


class _State:
    cl: Any = None
    platforms: list[Any] | None = None
    added: dict[str, list[Any]] = {}


def binding() -> Any:
    """pyopencl's extension module.

    Raises:
        NoDeviceError: pyopencl is not installed, or no libOpenCL can be loaded.
    """
    if _State.cl is None:
        try:
            _State.cl = _load()
        except ImportError as error:
            raise NoDeviceError(
                f"the OpenCL binding cannot be loaded ({error})", hint="install it with: pip install pyopencl"
            ) from error
    return _State.cl


def _load() -> ModuleType:
    """The extension module alone where its file is found, through its package elsewhere."""
    if _NAME in sys.modules:
        return sys.modules[_NAME]
    folder = bootstrap.pyopencl_folder()
    if folder is not None:
        for suffix in importlib.machinery.EXTENSION_SUFFIXES:
            path = os.path.join(folder, "_cl" + suffix)
            if os.path.exists(path):
                return _load_file(path, str(folder))
    return importlib.import_module(_NAME)


def _load_file(path: str, folder: str) -> ModuleType:
    # The loader in pyopencl's wheel looks for drivers below this folder, and crashes where the variable is missing.
    os.environ["PYOPENCL_HOME"] = folder
    spec = importlib.util.spec_from_file_location(_NAME, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot load {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[_NAME] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[_NAME]
        raise
    return module


def platforms(wanted: str | None = None) -> Sequence[Any]:
    """The platforms that can hold the wanted device; see `bootstrap.prepare`.

    A loader looks for drivers once. Vendors that it was not shown then are asked directly, when they are wanted later.
    """
    bootstrap.prepare(wanted)
    cl = binding()
    if _State.platforms is None:
        try:
            _State.platforms = list(cl.get_platforms())
        except cl.Error:  # the loader's way to say that there are none
            _State.platforms = []
        finally:
            bootstrap.release()
    shown = bootstrap.shown_vendors()
    if shown is None:
        return _State.platforms
    late = [v for v in bootstrap.needed_vendors(bootstrap.find_vendors(), wanted) if v not in shown]
    return [*_State.platforms, *(p for v in late for p in _late_platforms(v))]


def _late_platforms(vendor: bootstrap.Vendor) -> list[Any]:
    """Platforms of a driver that the loader was not shown, asked through the ICD's own entry point."""
    if vendor.source not in _State.added:
        _State.added[vendor.source] = _ask_icd(vendor)
    return _State.added[vendor.source]


def _ask_icd(vendor: bootstrap.Vendor) -> list[Any]:
    try:
        library = ctypes.CDLL(vendor.library)
        address = library.clGetExtensionFunctionAddress
    except (OSError, AttributeError):
        return []
    address.restype = ctypes.c_void_p
    address.argtypes = [ctypes.c_char_p]
    pointer = address(b"clIcdGetPlatformIDsKHR")
    if not pointer:
        return []
    ask = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_uint, ctypes.c_void_p, ctypes.POINTER(ctypes.c_uint))(pointer)
    count = ctypes.c_uint(0)
    if ask(0, None, ctypes.byref(count)) != 0 or not count.value:
        return []
    ids = (ctypes.c_void_p * count.value)()
    if ask(count.value, ids, None) != 0:
        return []
    return [binding().Platform.from_int_ptr(i, False) for i in ids]


def device_info_bytes(device: Any, parameter: int) -> bytes:
    """What clGetDeviceInfo says to a question that the binding has no name for; empty where it has no answer."""
    try:
        ask = ctypes.CDLL(binding().__file__).clGetDeviceInfo
    except (OSError, AttributeError):
        return b""
    ask.argtypes = [ctypes.c_void_p, ctypes.c_uint, ctypes.c_size_t, ctypes.c_void_p, ctypes.POINTER(ctypes.c_size_t)]
    size = ctypes.c_size_t(0)
    if ask(device.int_ptr, parameter, 0, None, ctypes.byref(size)) != 0 or size.value > 4096:
        return b""
    data = ctypes.create_string_buffer(size.value)
    return data.raw if ask(device.int_ptr, parameter, size.value, data, None) == 0 else b""


def translate(error: Exception, what: str, hint: str | None = None) -> DeviceError:
    """A DeviceError that names the OpenCL call and its status.

    Args:
        error: What pyopencl raised.
        what: What was tried.
        hint: What the user can do.
    """
    return DeviceError(f"{what} failed with {status_name(error)}", where=routine(error), hint=hint)


def _record(error: Exception) -> Any:
    """pyopencl's note of a failed call, or None."""
    record: Any = error.args[0] if error.args else None
    return record if hasattr(record, "code") else None


def routine(error: Exception) -> str | None:
    """The OpenCL call that failed, where known."""
    record = _record(error)
    return None if record is None else str(record.routine())


def status_code(error: Exception) -> int | None:
    """The OpenCL status of an error, where known."""
    record = _record(error)
    return None if record is None else int(record.code())


def status_name(error: Exception) -> str:
    """The status as the specification calls it ('CL_INVALID_BINARY'), or the error's own text."""
    code = status_code(error)
    if code is None:
        return str(error)
    return _STATUS.get(code, f"status {code}")


_STATUS = {
    -1: "CL_DEVICE_NOT_FOUND",
    -2: "CL_DEVICE_NOT_AVAILABLE",
    -3: "CL_COMPILER_NOT_AVAILABLE",
    -4: "CL_MEM_OBJECT_ALLOCATION_FAILURE",
    -5: "CL_OUT_OF_RESOURCES",
    -6: "CL_OUT_OF_HOST_MEMORY",
    -7: "CL_PROFILING_INFO_NOT_AVAILABLE",
    -11: "CL_BUILD_PROGRAM_FAILURE",
    -13: "CL_MISALIGNED_SUB_BUFFER_OFFSET",
    -14: "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST",
    -15: "CL_COMPILE_PROGRAM_FAILURE",
    -17: "CL_LINK_PROGRAM_FAILURE",
    -30: "CL_INVALID_VALUE",
    -33: "CL_INVALID_DEVICE",
    -34: "CL_INVALID_CONTEXT",
    -38: "CL_INVALID_MEM_OBJECT",
    -42: "CL_INVALID_BINARY",
    -43: "CL_INVALID_BUILD_OPTIONS",
    -44: "CL_INVALID_PROGRAM",
    -45: "CL_INVALID_PROGRAM_EXECUTABLE",
    -46: "CL_INVALID_KERNEL_NAME",
    -47: "CL_INVALID_KERNEL_DEFINITION",
    -48: "CL_INVALID_KERNEL",
    -49: "CL_INVALID_ARG_INDEX",
    -50: "CL_INVALID_ARG_VALUE",
    -51: "CL_INVALID_ARG_SIZE",
    -52: "CL_INVALID_KERNEL_ARGS",
    -54: "CL_INVALID_WORK_GROUP_SIZE",
    -55: "CL_INVALID_WORK_ITEM_SIZE",
    -59: "CL_INVALID_OPERATION",
    -61: "CL_INVALID_BUFFER_SIZE",
    -63: "CL_INVALID_GLOBAL_WORK_SIZE",
    -1001: "CL_PLATFORM_NOT_FOUND_KHR",
}


def is_driver_error(error: BaseException) -> bool:
    """Whether it was raised by the binding."""
    return isinstance(error, binding().Error)


def event_us(event: Any) -> float:
    """Microseconds that a command ran, on a queue that takes times."""
    key = binding().profiling_info
    return float(event.get_profiling_info(key.END) - event.get_profiling_info(key.START)) * 1e-3
