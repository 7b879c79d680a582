"""The child process that builds one program, started by `mace_cl.opencl.build`.

One program a process, so that equal sources give equal binaries.
"""

from __future__ import annotations

from typing import Any

from mace_cl.errors import BuildError, DeviceError, MaceError, NoDeviceError
from mace_cl.opencl import bootstrap, driver
from mace_cl.opencl.child import Channel, serve
from mace_cl.opencl.devices import DeviceInfo, devices_of
from mace_cl.opencl.programs import LoadedProgram, program_from_il, program_from_source


def find_device(vendor: str, digest: str) -> DeviceInfo:
    """The device with the identity of the parent's.

    Args:
        vendor: Key of its driver, so that no other is loaded.
        digest: Of its identity.

    Raises:
        NoDeviceError: This process does not see it.
    """
    for wanted in (vendor, bootstrap.ALL):
        for device in devices_of(wanted):
            if device.identity.digest == digest:
                return device
    raise NoDeviceError("the child process does not find the device that its parent uses")


def kernel_args(kernel: Any) -> list[tuple[str, str]]:
    """Name and type of each argument; names are empty where the driver does not keep them."""
    cl = driver.binding()
    keys = cl.kernel_arg_info
    spaces = {
        int(cl.kernel_arg_address_qualifier.GLOBAL): "__global ",
        int(cl.kernel_arg_address_qualifier.LOCAL): "__local ",
        int(cl.kernel_arg_address_qualifier.CONSTANT): "__constant ",
    }
    args: list[tuple[str, str]] = []
    for i in range(int(kernel.get_info(cl.kernel_info.NUM_ARGS))):
        try:
            space = spaces.get(int(kernel.get_arg_info(i, keys.ADDRESS_QUALIFIER)), "")
            name = str(kernel.get_arg_info(i, keys.NAME)).strip("\0")
            args.append((name, space + str(kernel.get_arg_info(i, keys.TYPE_NAME)).strip("\0")))
        except cl.Error:
            args.append(("", ""))
    return args


def build(channel: Channel, request: Any, payload: bytes) -> None:
    """Build, create every kernel, then read the binary: some drivers compile only when a kernel is made."""
    channel.phase("device")
    device = find_device(request["vendor"], request["device"])
    kernels: list[str] = request["kernels"]
    channel.phase("build")
    program = _program(device, request, payload, kernels)
    records = []
    for name in kernels or program.kernel_names():
        channel.phase(f"kernel {name}")
        records.append([name, kernel_args(program.kernel(name))])
    channel.phase("binary")
    try:
        binary = program.binary()
    except DeviceError:  # a driver without binaries: whoever wants the program builds it in its own process
        binary = b""
    channel.answer({"ok": True, "log": program.log(), "kernels": records}, binary)


def _program(device: DeviceInfo, request: Any, payload: bytes, kernels: list[str]) -> LoadedProgram:
    if request["form"] == "il":
        return program_from_il(device, payload, request["options"], kernels)
    return program_from_source(device, payload.decode(), request["options"], kernels)


def main() -> None:
    """Serve one request."""
    channel, request, payload = serve()
    try:
        build(channel, request, payload)
    except BuildError as error:
        channel.answer({"ok": False, "kind": "build", "message": error.message, "log": error.log})
    except MaceError as error:
        channel.answer({"ok": False, "kind": "device", "message": str(error), "log": ""})


if __name__ == "__main__":
    main()
