"""One start of one engine in a process of its own; prints its times as JSON.

    start_worker.py ENGINE MODEL SHAPES INPUTS.npz CACHE

Times: `load` from the model file to a ready engine, `first` the first run, both with imports (and, for OpenCL, driver
and context) done; `steady` the median of some further runs; `up` what comes before `load` in this process.
"""

from __future__ import annotations

import time

START = time.perf_counter()

import json  # noqa: E402  its import is part of the start
import statistics  # noqa: E402
import sys  # noqa: E402
from collections.abc import Callable  # noqa: E402
from pathlib import Path  # noqa: E402

import numpy as np  # noqa: E402

STEADY_RUNS = 15

Arrays = dict[str, np.ndarray]
Run = Callable[[Arrays], object]


def mace(model: Path, _shapes: dict[str, list[int]], cached: bool) -> tuple[Run, float]:
    """mace-cl; driver and context are made before the clock starts, as for the bare program."""
    import mace_cl
    from mace_cl.opencl.context import context_of
    from mace_cl.opencl.devices import select_device

    load = mace_cl.load
    context_of(select_device())
    begin = time.perf_counter()
    session = load(model, cache=cached, probe="never")
    return session.run, begin


def bare(model: Path, _shapes: dict[str, list[int]], _cached: bool) -> tuple[Run, float]:
    """The floor: map the file, load the program, create the kernels, bind the weights, launch each step once.

    What the file holds (plan, offsets) is read before the clock starts, by a mapping of its own.
    """
    from mace_cl.opencl import bootstrap
    from mace_cl.opencl.devices import select_device
    from mace_cl.program.plan import LocalArg, Plan, ScalarArg
    from mace_cl.program.reader import read_file

    bootstrap.prepare()
    device = select_device()
    import mmap

    import pyopencl as cl  # noqa: TID251  the bare program uses nothing of mace-cl but what tells it where things lie

    file = read_file(str(model))
    entry = next(e for e in file.entries if e.identity == device.identity)
    plan = Plan.from_bytes(entry.plans[0].blob.checked())
    content = model.read_bytes()
    blobs = {n: b.unchecked() for n, b in entry.weights.items()}
    offsets = {n: content.find(bytes(b[:4096])) for n, b in blobs.items()}
    binary = entry.programs["p0"].binary
    assert binary is not None
    at = content.find(bytes(binary.unchecked()[:4096]))
    sizes = {n: b.nbytes for n, b in blobs.items()}
    del content
    context = cl.Context([device.handle])
    queue = cl.CommandQueue(context)
    names = [k.name for k in entry.programs["p0"].kernels]

    begin = time.perf_counter()
    with model.open("rb") as stream:
        view = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    program = cl.Program(context, [device.handle], [view[at : at + binary.size]]).build(cache_dir=False)
    kernels = {n: cl.Kernel(program, n) for n in names}
    flags = cl.mem_flags
    buffers = []
    for item in plan.buffers:
        if item.kind == "weights":
            place = offsets[item.weights]
            data = np.frombuffer(view, np.uint8, sizes[item.weights], place)
            buffers.append(cl.Buffer(context, flags.READ_ONLY | flags.USE_HOST_PTR, hostbuf=data))
        else:
            buffers.append(cl.Buffer(context, flags.READ_WRITE, item.size))
    parts: dict[int, object] = {}
    for i, tensor in enumerate(plan.tensors):
        whole = tensor.size == plan.buffers[tensor.buffer].size
        read_only = plan.buffers[tensor.buffer].kind == "weights"
        access = flags.READ_ONLY if read_only else flags.READ_WRITE
        parts[i] = (
            buffers[tensor.buffer]
            if whole
            else buffers[tensor.buffer].get_sub_region(tensor.offset, tensor.size, access)
        )

    def run(feeds: Arrays) -> Arrays:
        for end in plan.inputs:
            cl.enqueue_copy(queue, parts[end.tensor], np.ascontiguousarray(feeds[end.name]))
        for step in plan.launches:
            kernel = kernels[step.kernel]
            for i, arg in enumerate(step.args):
                if isinstance(arg, ScalarArg):
                    kernel._set_arg_buf(i, arg.value)
                elif isinstance(arg, LocalArg):
                    kernel.set_arg(i, cl.LocalMemory(arg.size))
                else:
                    kernel.set_arg(i, parts[arg.tensor])
            cl.enqueue_nd_range_kernel(queue, kernel, step.global_size, step.local_size or None)
        outputs = {e.name: np.empty(e.shape, e.dtype.numpy) for e in plan.outputs}
        for end in plan.outputs:
            cl.enqueue_copy(queue, outputs[end.name], parts[end.tensor])
        queue.finish()
        return outputs

    run.kept = buffers  # type: ignore[attr-defined]  # the mapping lives as long as the buffers that use it
    return run, begin


def peer(name: str) -> Callable[[Path, dict[str, list[int]], bool], tuple[Run, float]]:
    """A peer by its name in `engines.py`; its package is imported before the clock starts."""

    def make(model: Path, shapes: dict[str, list[int]], _cached: bool) -> tuple[Run, float]:
        import engines

        __import__({"ONNX Runtime": "onnxruntime", "OpenVINO": "openvino"}.get(name, "ai_edge_litert.interpreter"))
        begin = time.perf_counter()
        fixed = {n: tuple(s) for n, s in shapes.items()}
        if name == "OpenVINO":
            return engines.openvino(model, fixed, Path(sys.argv[5])), begin
        return engines.ENGINES[name](model, fixed), begin

    return make


def main() -> None:
    """Start, run, and report."""
    engine, model, shapes = sys.argv[1], Path(sys.argv[2]), json.loads(sys.argv[3])
    with np.load(sys.argv[4]) as arrays:
        feeds = {n: arrays[n] for n in arrays.files}
    make = {"mace-cl": mace, "bare": bare}.get(engine) or peer(engine)
    run, begin = make(model, shapes, True)
    loaded = time.perf_counter()
    run(feeds)
    first = time.perf_counter()
    times = []
    for _ in range(STEADY_RUNS):
        start = time.perf_counter()
        run(feeds)
        times.append(1e3 * (time.perf_counter() - start))
    report = {
        "up": 1e3 * (begin - START),
        "load": 1e3 * (loaded - begin),
        "first": 1e3 * (first - loaded),
        "steady": statistics.median(times),
        "after": 1e3 * (time.perf_counter() - first),
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main()
