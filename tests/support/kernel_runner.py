"""Runs one node or a small graph through a kernel family on an OpenCL device, each tensor in a buffer of exactly its
size, and gives the outputs as arrays. Independent of lowering, plans and sessions."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from mace_cl.graph import Graph, Node, Value
from mace_cl.graph.evaluate import evaluate_graph
from mace_cl.graph.ops.base import Operator
from mace_cl.kernels.base import (
    Config,
    Family,
    KernelCall,
    LocalMemory,
    Match,
    Read,
    Scalar,
    Scratch,
    Weights,
    Write,
)
from mace_cl.kernels.source import program_source

# Kernels are tested one by one on every runtime, so all vendors are made visible, Intel's from the environment too.
from mace_cl.opencl import bootstrap
from mace_cl.targets.facts import DeviceFacts
from mace_cl.types import type_of

bootstrap.prepare("all")
os.environ.setdefault("PYOPENCL_NO_CACHE", "1")


import pyopencl as cl  # noqa: E402, TID251  kernels are run here without the rest of the package


@cache
def devices() -> tuple[cl.Device, ...]:
    """Every OpenCL device of this process, Intel's CPU runtime first."""
    found = [d for p in cl.get_platforms() for d in p.get_devices()]
    return tuple(sorted(found, key=lambda d: "Intel" not in d.platform.name))


@cache
def context(device: cl.Device) -> tuple[cl.Context, cl.CommandQueue]:
    ctx = cl.Context([device])
    return ctx, cl.CommandQueue(ctx)


def facts_of(device: cl.Device) -> DeviceFacts:
    intel = "Intel" in device.platform.name
    is_cpu = bool(device.type & cl.device_type.CPU)
    return DeviceFacts(
        family="intel-cpu" if intel else "pocl" if "Portable" in device.platform.name else "generic-cpu",
        kind="cpu" if is_cpu else "gpu",
        compute_units=device.max_compute_units,
        vector_floats=8,
        max_work_group_size=device.max_work_group_size,
        local_mem_bytes=device.local_mem_size,
        function_attribute="__attribute__((intel_vec_len_hint(1)))" if intel else "",
    )


def one_node(
    op: Operator, inputs: Sequence[np.ndarray | None], constants: Sequence[int] = ()
) -> tuple[Graph, Node, dict[str, np.ndarray]]:
    """A graph of one node. Inputs whose index stands in `constants` are constants."""
    graph = Graph("test")
    values: list[Value | None] = []
    feeds: dict[str, np.ndarray] = {}
    for i, array in enumerate(inputs):
        if array is None:
            values.append(None)
        elif i in constants:
            values.append(graph.constant(array, f"c{i}"))
        else:
            values.append(graph.add_input(f"x{i}", type_of(array)))
            feeds[f"x{i}"] = array
    for i, value in enumerate(graph.add(op, values)):
        graph.add_output(f"y{i}", value)
    return graph, graph.nodes[0], feeds


def run_calls(device: cl.Device, calls: Sequence[KernelCall], feeds: Mapping[int, np.ndarray]) -> dict[int, np.ndarray]:
    """Launch the calls; `feeds` and the result are keyed by id of the graph's values."""
    ctx, queue = context(device)
    source = program_source([c.spec for c in calls])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cl.CompilerWarning)  # Intel's compiler reports on every kernel
        program = cl.Program(ctx, source).build(options=list(facts_of(device).build_options))
    buffers: dict[int, cl.Buffer] = {}
    written: dict[int, Value] = {}
    flags = cl.mem_flags

    def upload(key: int, array: np.ndarray) -> cl.Buffer:
        if key not in buffers:
            data = np.ascontiguousarray(array)
            buffers[key] = cl.Buffer(
                ctx, flags.READ_WRITE | flags.COPY_HOST_PTR, hostbuf=data.reshape(-1).view(np.uint8)
            )
        return buffers[key]

    def empty(key: int, nbytes: int) -> cl.Buffer:
        if key not in buffers:
            # Not zero: a kernel that leaves a place unwritten must be seen.
            buffers[key] = cl.Buffer(
                ctx, flags.READ_WRITE | flags.COPY_HOST_PTR, hostbuf=np.full(max(nbytes, 1), 0xFF, np.uint8)
            )
        return buffers[key]

    for call in calls:
        kernel = cl.Kernel(program, call.spec.function)
        assert kernel.num_args == len(call.args), f"{call.spec.function} takes {kernel.num_args} arguments"
        for i, arg in enumerate(call.args):
            match arg:
                case Read(value):
                    if value.data is not None:
                        kernel.set_arg(i, upload(id(value), value.data))
                    elif id(value) in feeds:
                        kernel.set_arg(i, upload(id(value), feeds[id(value)]))
                    else:
                        kernel.set_arg(i, buffers[id(value)])
                case Write(value):
                    written[id(value)] = value
                    kernel.set_arg(i, empty(id(value), value.type.nbytes))
                case Weights(array):
                    kernel.set_arg(i, upload(id(array), array))
                case Scratch(nbytes):
                    kernel.set_arg(i, empty(id(arg), nbytes))
                case Scalar(type_, number):
                    kernel.set_arg(i, np.asarray(number, _NUMPY[type_])[()])
                case LocalMemory(nbytes):
                    kernel.set_arg(i, cl.LocalMemory(nbytes))
        cl.enqueue_nd_range_kernel(queue, kernel, call.global_size, call.local_size)
    out: dict[int, np.ndarray] = {}
    for key, value in written.items():
        array = np.empty(value.shape, value.dtype.numpy)
        if array.nbytes:
            flat = np.empty(array.nbytes, np.uint8)
            cl.enqueue_copy(queue, flat, buffers[key])
            array = flat.view(value.dtype.numpy).reshape(value.shape)
        out[key] = array
    queue.finish()
    return out


_NUMPY = {
    "char": np.int8, "uchar": np.uint8, "short": np.int16, "ushort": np.uint16, "int": np.int32, "uint": np.uint32,
    "long": np.int64, "ulong": np.uint64, "float": np.float32, "double": np.float64,
}  # fmt: skip


def check_family(
    family: Family,
    graph: Graph,
    node: Node,
    feeds: Mapping[str, np.ndarray],
    *,
    config: Config | None = None,
    device: cl.Device | None = None,
    rtol: float = 1e-5,
    facts_changes: Mapping[str, object] | None = None,
) -> None:
    """Run a match of the family on one device (all by default) and compare with the float64 reference.

    `rtol` is relative to the reference's largest magnitude: float32 sums of K terms err by about K/2 units in the last
    place at most, much less in practice.
    """
    wanted = evaluate_graph(graph, feeds, dtype=np.float64)
    by_value = {id(v): n for n, v in graph.outputs.items()}
    for dev in devices() if device is None else (device,):
        facts = replace(facts_of(dev), **dict(facts_changes or {}))
        match = family.match(graph, node, facts)
        assert isinstance(match, Match), f"{family.name} refuses: {match}"
        chosen = family.default(match, facts) if config is None else config
        assert family.cost(match, chosen, facts) > 0
        calls = family.emit(match, chosen, facts)
        got = run_calls(dev, calls, {id(graph.inputs[n]): a for n, a in feeds.items()})
        for key, name in by_value.items():
            if key in got:
                compare(got[key], wanted[name], rtol, f"{family.name} on {dev.platform.name}: {name}")


def compare(got: np.ndarray, wanted: np.ndarray, rtol: float, what: str) -> None:
    """Fail where the arrays differ by more than rtol times the largest finite magnitude (exactly, for integers)."""
    assert got.shape == wanted.shape, f"{what}: shape {got.shape}, not {wanted.shape}"
    if got.dtype.kind != "f":
        np.testing.assert_array_equal(got, wanted.astype(got.dtype), err_msg=what)
        return
    wide, ref = got.astype(np.float64), wanted.astype(np.float64)
    odd = ~np.isfinite(ref)
    np.testing.assert_array_equal(np.isnan(wide), np.isnan(ref), err_msg=what)
    np.testing.assert_array_equal(wide[odd & ~np.isnan(ref)], ref[odd & ~np.isnan(ref)], err_msg=what)
    scale = float(np.abs(ref[~odd]).max(initial=0.0)) or 1.0
    worst = float(np.abs(wide[~odd] - ref[~odd]).max(initial=0.0))
    assert worst <= rtol * scale, f"{what}: differs by {worst:.3g}, {worst / scale:.3g} of the largest magnitude"
