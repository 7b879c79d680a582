"""Programs from bytes: a driver's binary, IL or source. Each is checked against the manifest of its kernels.

Whoever calls this with a binary has compared its hash and the device's identity first: no driver sees other bytes.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from mace_cl.errors import BuildError, DeviceError
from mace_cl.opencl import driver
from mace_cl.opencl.context import context_of
from mace_cl.opencl.devices import DeviceInfo
from mace_cl.opencl.kernels import make_kernel

_count_lock = threading.Lock()


class Counter:
    """How many programs this process built from source or IL. Binaries do not count."""

    source_builds = 0


def _count() -> None:
    with _count_lock:
        Counter.source_builds += 1


class LoadedProgram:
    """A built program on one device.

    Attributes:
        device: Where it is built.
        handle: pyopencl's object.
    """

    def __init__(self, device: DeviceInfo, handle: Any) -> None:
        self.device = device
        self.handle = handle

    def kernel_names(self) -> tuple[str, ...]:
        """The kernels that the driver found in it; empty where it cannot say."""
        cl = driver.binding()
        try:
            names = self.handle.get_info(cl.program_info.KERNEL_NAMES)
        except cl.Error:
            return ()
        return tuple(sorted(n for n in str(names).strip("\0 ").split(";") if n))

    def check_kernels(self, wanted: Sequence[str]) -> None:
        """Compare the kernels with those of the manifest.

        Raises:
            DeviceError: One is missing.
        """
        there = self.kernel_names()
        missing = sorted(set(wanted) - set(there)) if there else []
        if missing:
            raise DeviceError(f"holds no kernel {missing[0]!r}", where="program")

    def kernel(self, name: str) -> Any:
        """A new kernel object. Some drivers compile here (Mali).

        Raises:
            DeviceError: The driver refuses.
        """
        return make_kernel(self.handle, name)

    def binary(self) -> bytes:
        """The driver's bytes. Create every kernel first: some drivers compile only then.

        Raises:
            DeviceError: The driver gives none.
        """
        cl = driver.binding()
        try:
            binaries = self.handle.get_info(cl.program_info.BINARIES)
        except cl.Error as error:
            raise driver.translate(error, "reading the program's binary") from error
        if not binaries or not binaries[0]:
            raise DeviceError("the driver gives no binary", where="clGetProgramInfo")
        return bytes(binaries[0])

    def log(self) -> str:
        """The compiler's text."""
        cl = driver.binding()
        try:
            text = self.handle.get_build_info(self.device.handle, cl.program_build_info.LOG)
        except cl.Error:
            return ""
        return str(text).strip("\0\n ")


def program_from_binary(
    device: DeviceInfo, binary: bytes | memoryview, options: str, kernels: Sequence[str]
) -> LoadedProgram:
    """A program from a driver's own bytes.

    Args:
        device: The device that the bytes were made for; they are given to it alone.
        binary: Checked bytes.
        options: Those that it was built with.
        kernels: What it must hold.

    Raises:
        DeviceError: The driver refuses the bytes, or a kernel is missing.
    """
    cl = driver.binding()
    context = context_of(device)
    data = binary if isinstance(binary, bytes) else bytes(binary)
    try:
        handle = cl._Program(context, [device.handle], [data])
        handle._build(options.encode(), [device.handle])
    except cl.Error as error:
        raise driver.translate(error, "loading a compiled program") from error
    program = LoadedProgram(device, handle)
    program.check_kernels(kernels)
    return program


def program_from_il(device: DeviceInfo, il: bytes | memoryview, options: str, kernels: Sequence[str]) -> LoadedProgram:
    """A program from SPIR-V.

    Raises:
        DeviceError: The driver takes no IL.
        BuildError: It refuses this one.
    """
    cl = driver.binding()
    create = getattr(cl, "_create_program_with_il", None)
    if create is None or not device.capabilities.il_versions:
        raise DeviceError(f"{device.label} takes no SPIR-V", where="clCreateProgramWithIL")
    context = context_of(device)
    try:
        handle = create(context, bytes(il))
    except cl.Error as error:
        raise driver.translate(error, "loading SPIR-V") from error
    return _build(device, handle, options, kernels)


def program_from_source(device: DeviceInfo, source: str, options: str, kernels: Sequence[str]) -> LoadedProgram:
    """A program built in this process. A compiler that crashes takes the process along; see `opencl.build`.

    Raises:
        BuildError: The compiler refuses it.
    """
    cl = driver.binding()
    return _build(device, cl._Program(context_of(device), source), options, kernels)


def _build(device: DeviceInfo, handle: Any, options: str, kernels: Sequence[str]) -> LoadedProgram:
    cl = driver.binding()
    program = LoadedProgram(device, handle)
    _count()
    try:
        handle._build(options.encode(), [device.handle])
    except cl.Error as error:
        raise BuildError(
            f"{device.label} does not build it ({driver.status_name(error)})", log=program.log()
        ) from error
    program.check_kernels(kernels)
    return program
