"""The child process that tries programs with a plan, started by `runtime.probe`: load, make kernels, run on zeros."""

from __future__ import annotations

from typing import Any

from mace_cl.errors import FormatError, MaceError
from mace_cl.opencl.build_worker import find_device
from mace_cl.opencl.child import Channel, serve
from mace_cl.opencl.context import context_of, new_queue
from mace_cl.opencl.memory import Memory
from mace_cl.opencl.programs import LoadedProgram, program_from_binary
from mace_cl.program.plan import Plan
from mace_cl.program.reader import read_file
from mace_cl.runtime.binding import BoundPlan, WeightSet
from mace_cl.runtime.loading import kernels_used
from mace_cl.runtime.running import RunningPlan


def attempt(channel: Channel, request: Any, payload: bytes) -> None:
    """Do all that the parent would do, saying each step before it is taken."""
    view = memoryview(payload)
    plan = Plan.from_bytes(view[: request["plan_bytes"]])
    at = request["plan_bytes"]
    channel.phase("device")
    device = find_device(request["vendor"], request["device"])
    context_of(device)
    programs: dict[str, LoadedProgram] = {}
    for about in request["programs"]:
        channel.phase(f"load of program {about['name']}")
        binary = view[at : at + about["bytes"]]
        at += about["bytes"]
        programs[about["name"]] = program_from_binary(device, binary, about["options"], about["kernels"])
    kernels: dict[tuple[str, str], Any] = {}
    for program, names in kernels_used(plan).items():
        for name in names:
            channel.phase(f"kernel {name}")
            if program not in programs:
                raise FormatError(f"needs program {program!r}, which the entry does not have", where="plan")
            kernels[program, name] = programs[program].kernel(name)
    channel.phase("binding")
    memory = Memory(device)
    weights = {n: WeightSet(data, memory) for n, data in _weights(request, view[at:]).items()}
    bound = BoundPlan(plan, memory, lambda program, name: kernels[program, name], weights)
    running = RunningPlan(plan, bound, new_queue(device))
    channel.phase("first launch")
    running.dry_run()
    channel.phase("end")


def _weights(request: Any, rest: memoryview) -> dict[str, memoryview]:
    """The entry's weights: from the file, or behind the binaries."""
    wanted: dict[str, str] = request["weights"]
    if request["path"] is None:
        sizes = request["weight_bytes"]
        found, at = {}, 0
        for name in wanted:
            found[name] = rest[at : at + sizes[name]]
            at += sizes[name]
        return found
    entry = read_file(request["path"]).entries[request["entry"]]
    if {n: b.sha256 for n, b in entry.weights.items()} != wanted:
        raise FormatError("the file was replaced while it was tried", where=request["path"])
    return {n: b.unchecked() for n, b in entry.weights.items()}


def main() -> None:
    """Serve one request."""
    channel, request, payload = serve()
    try:
        attempt(channel, request, payload)
    except MaceError as error:
        channel.answer({"ok": False, "message": str(error)})
    else:
        channel.answer({"ok": True})


if __name__ == "__main__":
    main()
