"""Times one kernel family on one shape, beside the peak that a matrix product reaches in the same run.

    python benchmarks/kernels.py conv 1x56x56x64 64 --kernel 3
    python benchmarks/kernels.py pointwise 1x14x14x96 576 --space
    python benchmarks/kernels.py inverted_residual 1x28x28x32 32 --expand 192
    python benchmarks/kernels.py --list mobilenet

Each figure is the least of many runs of a chain of launches, since other work may disturb some of them.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import numpy as np
import pyopencl as cl  # noqa: TID251

from mace_cl.graph import Graph, Value
from mace_cl.graph.ops import Add, Clip, Conv, ConvTranspose, MatMul
from mace_cl.graph.ops.expression import Expression
from mace_cl.kernels.base import Config, Family, KernelCall, Match, Read, Refusal, Scalar, Scratch, Weights, Write
from mace_cl.kernels.registry import families
from mace_cl.kernels.source import program_source
from mace_cl.targets.facts import DeviceFacts
from mace_cl.types import DataType, TensorType
from support.kernel_runner import context, devices, facts_of

RELU6 = Expression(1, ((Clip(0.0, 6.0), (0,)),))
ADD = Expression(2, ((Add(), (0, 1)),))
RNG = np.random.default_rng(0)

LISTS = {
    "mobilenet": (
        "conv 1x224x224x3 32 --kernel 3 --stride 2",
        "depthwise 1x112x112x32 32 --kernel 3",
        "pointwise 1x112x112x32 16",
        "pointwise 1x112x112x16 96",
        "depthwise 1x112x112x96 96 --kernel 3 --stride 2",
        "pointwise 1x56x56x96 24",
        "pointwise 1x56x56x24 144",
        "depthwise 1x56x56x144 144 --kernel 3",
        "pointwise 1x28x28x192 32",
        "pointwise 1x14x14x64 384",
        "depthwise 1x14x14x384 384 --kernel 3",
        "pointwise 1x14x14x384 64",
        "pointwise 1x14x14x576 96",
        "depthwise 1x7x7x960 960 --kernel 3",
        "pointwise 1x7x7x160 960",
        "pointwise 1x7x7x960 160",
        "pointwise 1x7x7x320 1280",
        "pointwise 1x1x1x1280 1000",
    ),
    "resnet": (
        "conv 1x224x224x3 64 --kernel 7 --stride 2",
        "conv 1x56x56x64 64 --kernel 3",
        "conv 1x56x56x64 128 --kernel 3 --stride 2",
        "conv 1x28x28x128 128 --kernel 3",
        "conv 1x14x14x256 256 --kernel 3",
        "conv 1x7x7x512 512 --kernel 3",
        "pointwise 1x56x56x64 128 --stride 2",
    ),
    "blocks": (
        "depthwise_pointwise 1x64x64x24 24 --kernel 3",
        "depthwise_pointwise 1x32x32x48 48 --kernel 3",
        "depthwise_pointwise 1x16x16x96 96 --kernel 3",
        "depthwise_pointwise 1x56x56x128 128 --kernel 3",
        "depthwise_pointwise 1x14x14x512 512 --kernel 3",
        "depthwise_pointwise 1x7x7x1024 1024 --kernel 3",
        "inverted_residual 1x112x112x16 24 --expand 96 --stride 2",
        "inverted_residual 1x56x56x24 24 --expand 144",
        "inverted_residual 1x28x28x32 32 --expand 192",
        "inverted_residual 1x14x14x64 64 --expand 384",
        "inverted_residual 1x14x14x96 96 --expand 576",
        "inverted_residual 1x7x7x160 160 --expand 960",
    ),
    "text": (
        "conv 1x640x640x3 16 --kernel 3 --stride 2",
        "depthwise 1x320x320x16 16 --kernel 3",
        "pointwise 1x160x160x48 48",
        "depthwise 1x40x40x192 192 --kernel 5",
        "winograd 1x160x160x96 24 --kernel 3",
        "winograd 1x160x160x24 24 --kernel 3",
        "conv_transpose 1x160x160x24 24 --kernel 2 --stride 2",
        "conv_transpose 1x320x320x24 1 --kernel 2 --stride 2",
    ),
}


def array(*shape: int) -> np.ndarray:
    return (RNG.standard_normal(shape) * 0.1).astype(np.float32)


def add_conv(graph: Graph, x: Value, co: int, kernel: int, stride: int, groups: int, residual: Value | None) -> Value:
    """Same-padded convolution with Clip, or with a residual."""
    ci, pad = x.shape[-1], (kernel - 1) // 2
    op = Conv((stride, stride), ((pad, pad), (pad, pad)), (1, 1), groups, True, RELU6 if residual is None else ADD)
    inputs = [x, graph.constant(array(co, ci // groups, kernel, kernel)), graph.constant(array(co))]
    return graph.add1(op, [*inputs, *([residual] if residual is not None else [])])


def build(args: argparse.Namespace) -> Graph:
    """The graph of the node or block that is asked for."""
    graph = Graph("bench")
    shape = tuple(int(d) for d in args.shape.split("x"))
    x = graph.add_input("x", TensorType(DataType.FLOAT32, shape))
    ci, co, k, s = shape[-1], args.channels, args.kernel, args.stride
    if args.family == "matmul":
        other = graph.add_input("b", TensorType(DataType.FLOAT32, (*shape[:-2], shape[-1], co)))
        y = graph.add1(MatMul(), [x, other])
    elif args.family == "conv_transpose":
        op = ConvTranspose((s, s), ((0, 0), (0, 0)), (1, 1), (0, 0), args.groups, True)
        y = graph.add1(op, [x, graph.constant(array(ci, co // args.groups, k, k)), graph.constant(array(co))])
    elif args.family == "depthwise_pointwise":
        y = add_conv(graph, add_conv(graph, x, ci, k, s, ci, None), co, 1, 1, 1, x if ci == co and s == 1 else None)
    elif args.family == "inverted_residual":
        wide = add_conv(graph, add_conv(graph, x, args.expand, 1, 1, 1, None), args.expand, k, s, args.expand, None)
        y = add_conv(graph, wide, co, 1, 1, 1, x if ci == co and s == 1 else None)
    else:
        y = add_conv(graph, x, co, k, s, ci if args.family == "depthwise" else args.groups, None)
    graph.add_output("y", y)
    return graph


class Timer:
    """Launches prepared on a device."""

    def __init__(self, device: cl.Device, facts: DeviceFacts, calls: Sequence[KernelCall]) -> None:
        self.context, self.queue = context(device)
        start = time.perf_counter()
        source = program_source([c.spec for c in calls])
        program = cl.Program(self.context, source).build(options=list(facts.build_options))
        self.build_s = time.perf_counter() - start
        self.buffers: dict[int, cl.Buffer] = {}
        self.launches = []
        for call in calls:
            kernel = cl.Kernel(program, call.spec.function)
            for i, arg in enumerate(call.args):
                kernel.set_arg(i, self.argument(arg))
            self.launches.append((kernel, call.global_size, call.local_size))

    def argument(self, arg: object) -> object:
        """The argument with memory of its own."""
        match arg:
            case Read(value) | Write(value):
                data = value.data if value.data is not None else array(*value.shape)
                return self.buffer(id(value), data)
            case Weights(data):
                return self.buffer(id(data), data)
            case Scratch(nbytes):
                return self.buffer(id(arg), np.zeros(nbytes, np.uint8))
            case Scalar(_, number):
                return np.int32(number)
        raise TypeError(f"no argument of the type {type(arg).__name__}")

    def buffer(self, key: int, data: np.ndarray) -> cl.Buffer:
        """The buffer of a value."""
        if key not in self.buffers:
            flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
            self.buffers[key] = cl.Buffer(self.context, flags, hostbuf=np.ascontiguousarray(data))
        return self.buffers[key]

    def enqueue(self) -> None:
        """Launch everything once."""
        for kernel, global_size, local_size in self.launches:
            cl.enqueue_nd_range_kernel(self.queue, kernel, global_size, local_size)

    def microseconds(self, seconds: float = 0.4, chain: int = 8) -> float:
        """Least time of one round of the launches, among chains of `chain` rounds."""
        best = float("inf")
        self.enqueue()  # some drivers finish compiling at the first launch
        self.queue.finish()
        stop = time.perf_counter() + seconds
        while time.perf_counter() < stop:
            start = time.perf_counter()
            for _ in range(chain):
                self.enqueue()
            self.queue.finish()
            best = min(best, (time.perf_counter() - start) / chain)
        return best * 1e6


def family_named(name: str) -> Family:
    return next(f for f in families() if f.name == name)


def measure(graph: Graph, family: Family, device: cl.Device, facts: DeviceFacts, config: Config | None) -> str:
    """One line: time, GFLOP/s, estimate and build time."""
    match = family.match(graph, graph.nodes[0], facts)
    if isinstance(match, Refusal):
        return f"refused: {match.reason}"
    chosen = config or family.default(match, facts)
    timer = Timer(device, facts, family.emit(match, chosen, facts))
    us = timer.microseconds()
    flop = sum(n.op.cost([v and v.type for v in n.inputs], [v.type for v in n.outputs]).flop for n in match.nodes)
    estimate = family.cost(match, chosen, facts)
    speed = f"{us:8.1f} us {flop / us / 1e3:6.1f} GFLOP/s  estimate {estimate:7.1f} us"
    return f"{speed}  build {timer.build_s:.2f} s  {dict(chosen)}"


def peak(device: cl.Device, facts: DeviceFacts) -> str:
    """What a matrix product that fits the cache reaches now."""
    args = parser().parse_args(["pointwise", "1x1x768x256", "256"])
    return measure(build(args), family_named("pointwise"), device, facts, None)


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("family", nargs="?")
    p.add_argument("shape", nargs="?", help="input, channels last: 1x56x56x64")
    p.add_argument("channels", nargs="?", type=int, help="output channels")
    p.add_argument("--kernel", type=int, default=1)
    p.add_argument("--stride", type=int, default=1)
    p.add_argument("--groups", type=int, default=1)
    p.add_argument("--expand", type=int, default=0)
    p.add_argument("--config", action="append", default=[], help="parameter=value")
    p.add_argument("--space", action="store_true", help="measure every configuration")
    p.add_argument("--list", choices=sorted(LISTS))
    p.add_argument("--device", default="Intel", help="part of the platform's name")
    p.add_argument("--avx512", type=int, default=1, help="0: tiles for 16 registers of 8 floats")
    return p


def report(args: argparse.Namespace, device: cl.Device, facts: DeviceFacts) -> None:
    if args.family in ("inverted_residual", "depthwise_pointwise") and args.kernel == 1:
        args.kernel = 3
    graph, family = build(args), family_named(args.family)
    config: Mapping[str, int] = {}
    match = family.match(graph, graph.nodes[0], facts)
    assert isinstance(match, Match), match
    if args.config:
        config = {**family.default(match, facts), **{k: int(v) for k, v in (c.split("=") for c in args.config)}}
    for chosen in family.space(match, facts) if args.space else [config or None]:
        print(measure(graph, family, device, facts, chosen), flush=True)


def main() -> None:
    args = parser().parse_args()
    warnings.simplefilter("ignore")
    device = next(d for d in devices() if args.device.lower() in d.platform.name.lower())
    facts = facts_of(device)
    if args.avx512:
        facts = replace(facts, registers=32, vector_floats=16, gflops_per_unit=96.0, l2_bytes=1 << 20)
    print("peak", peak(device, facts))
    for line in LISTS[args.list] if args.list else [""]:
        one = parser().parse_args(line.split()) if line else args
        one.space, one.config = args.space, args.config
        print(line, end="\n" if args.space else ":\n   ")
        report(one, device, facts)


if __name__ == "__main__":
    main()
