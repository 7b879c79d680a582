"""The child process that tries programs with a plan, started by `runtime.probe`: load, make kernels, run on zeros."""

from __future__ import annotations

import gc
from collections.abc import Mapping, Sequence
from typing import Any

from mace_cl.errors import FormatError, MaceError
from mace_cl.opencl.build_worker import find_device
from mace_cl.opencl.child import Channel, serve
from mace_cl.opencl.context import context_of, new_queue
from mace_cl.opencl.devices import DeviceInfo
from mace_cl.opencl.memory import Memory
from mace_cl.opencl.programs import LoadedProgram, program_from_binary
from mace_cl.program.plan import Plan
from mace_cl.program.reader import read_file
from mace_cl.runtime.binding import BoundPlan, WeightSet
from mace_cl.runtime.loading import kernels_used
from mace_cl.runtime.running import RunningPlan

ROUNDS = 3
"""A damaged program may crash one time and not another, as memory happens to lie."""


def attempt(channel: Channel, request: Any, payload: bytes) -> None:
    """Do all that the parent would do, a few times, saying each step before it is taken."""
    view = memoryview(payload)
    plan = Plan.from_bytes(view[: request["plan_bytes"]])
    binaries, at = [], request["plan_bytes"]
    for about in request["programs"]:
        binaries.append((about, view[at : at + about["bytes"]]))
        at += about["bytes"]
    channel.phase("device")
    device = find_device(request["vendor"], request["device"])
    context_of(device)
    weights = _weights(request, view[at:])
    for _ in range(ROUNDS):
        _one_round(channel, device, plan, binaries, weights)
        channel.phase("release")
        gc.collect()
    channel.phase("end")


def _one_round(
    channel: Channel,
    device: DeviceInfo,
    plan: Plan,
    binaries: Sequence[tuple[Any, memoryview]],
    weights: Mapping[str, memoryview],
) -> None:
    programs: dict[str, LoadedProgram] = {}
    for about, binary in binaries:
        channel.phase(f"load of program {about['name']}")
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
    sets = {n: WeightSet(data, memory) for n, data in weights.items()}
    bound = BoundPlan(plan, memory, lambda program, name: kernels[program, name], sets)
    running = RunningPlan(plan, bound, new_queue(device))
    channel.phase("first launch")
    running.dry_run()


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
