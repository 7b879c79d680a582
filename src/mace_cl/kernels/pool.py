"""Pooling over windows: maximum, mean and p-norm."""

from __future__ import annotations

from collections.abc import Sequence

from mace_cl.graph.core import Graph, Node
from mace_cl.graph.ops import AveragePool, LpPool, MaxPool
from mace_cl.graph.ops.base import Cost
from mace_cl.kernels.base import (
    CallArg,
    Config,
    Family,
    KernelCall,
    KernelSpec,
    Match,
    Read,
    Refusal,
    Scalar,
    Write,
    roofline_us,
    single,
)
from mace_cl.kernels.elementwise import MAX_INDEX
from mace_cl.kernels.expression import literal
from mace_cl.kernels.tiles import grid_of
from mace_cl.kernels.vectors import ceil_div, vector_macros, width_for
from mace_cl.targets.facts import DeviceFacts
from mace_cl.types import DataType

SMALL_LOADS = 4096
"""Below so many vector loads one work-item does it all."""

_Pool = MaxPool | AveragePool | LpPool


class Pool(Family):
    """Pools of channels-last float32 data with one to three spatial dimensions."""

    name = "pool"
    operators = ("MaxPool", "AveragePool", "LpPool")

    def match(self, graph: Graph, node: Node, facts: DeviceFacts) -> Match | Refusal:
        """The node alone."""
        op = _op(node)
        x = node.input(0)
        if not op.channels_last:
            return Refusal("channels are not last")
        if x.dtype is not DataType.FLOAT32:
            return Refusal(f"{x.dtype.value} is not float32")
        if x.type.rank > 5:
            return Refusal("more than three spatial dimensions")
        if x.type.elements > MAX_INDEX:
            return Refusal("more elements than a 32-bit index holds")
        return single(node)

    def cost(self, match: Match, config: Config, facts: DeviceFacts) -> float:
        """Window elements at a fifth of the peak, or memory traffic."""
        return roofline_us(_cost(match.node), facts, 0.1)

    def emit(self, match: Match, config: Config, facts: DeviceFacts) -> Sequence[KernelCall]:
        """One launch."""
        node = match.node
        op = _op(node)
        x, y = node.input(0), node.output
        c = x.shape[-1]
        width = width_for(c, facts)
        vectors, pixels = ceil_div(c, width), y.type.elements // c
        pixel_parts, vector_parts = _parts(pixels, vectors, _window(op), facts)
        pixels_per, vectors_per = ceil_div(pixels, pixel_parts), ceil_div(vectors, vector_parts)
        grid = grid_of(facts, ceil_div(vectors, vectors_per), ceil_div(pixels, pixels_per))
        macros = {**vector_macros(width), **_macros(op), "GROUP": grid.group}
        spatial = [(1,) * (5 - v.type.rank) + v.shape[1:-1] for v in (x, y)]
        missing = 5 - x.type.rank
        begins = (0,) * missing + tuple(a for a, _ in op.pads)
        uncounted = op.uncounted if isinstance(op, AveragePool) else (0,) * len(op.pads)
        ends = (1,) * missing + tuple(n + b - u for n, (_, b), u in zip(x.shape[1:-1], op.pads, uncounted, strict=True))
        numbers = [pixels, pixels_per, vectors_per, c, *spatial[0], *spatial[1], *begins, *ends]
        args: list[CallArg] = [Read(x), Write(y), *(Scalar("int", n) for n in numbers)]
        spec = KernelSpec.of(self.name, macros)
        return [KernelCall(spec, tuple(args), grid.global_size, grid.local_size, _cost(node))]


def _op(node: Node) -> _Pool:
    op = node.op
    assert isinstance(op, MaxPool | AveragePool | LpPool)
    return op


def _window(op: _Pool) -> int:
    total = 1
    for k in op.kernel:
        total *= k
    return total


def _cost(node: Node) -> Cost:
    return node.op.cost([node.input(0).type], [node.output.type])


def _parts(pixels: int, vectors: int, window: int, facts: DeviceFacts) -> tuple[int, int]:
    """Parts along pixels and along channel vectors."""
    if facts.kind != "cpu":
        return pixels, vectors
    if pixels * vectors * window < SMALL_LOADS:
        return 1, 1
    return (facts.compute_units, 1) if pixels >= facts.compute_units else (1, min(facts.compute_units, vectors))


def _macros(op: _Pool) -> dict[str, str]:
    missing = 3 - len(op.kernel)
    macros: dict[str, str] = {}
    for letter, values in (("K", op.kernel), ("S", op.strides), ("D", op.dilations)):
        full = (1,) * missing + values
        macros |= {f"{letter}{axis}": str(v) for axis, v in zip("DHW", full, strict=True)}
    if isinstance(op, MaxPool):
        # Not fmax: a NaN wins, as in the reference.
        macros |= {
            "START": "-INFINITY",
            "STEP(acc, v)": "acc = (v > acc || v != v) ? v : acc;",
            "DONE(acc, count)": "acc",
        }
    elif isinstance(op, AveragePool):
        macros |= {
            "START": "0.0f",
            "STEP(acc, v)": "acc += v;",
            "DONE(acc, count)": "(acc * (1.0f / (float)max(count, 1)))",
        }
        if op.count_include_pad:
            macros["COUNT_PADDING"] = "1"
    else:
        power = literal(float(op.p))
        step = {1: "fabs(v)", 2: "v * v"}.get(op.p, f"pow(fabs(v), (VEC)({power}))")
        done = {1: "acc", 2: "sqrt(acc)"}.get(op.p, f"pow(acc, (VEC)(1.0f / {power}))")
        macros |= {"START": "0.0f", "STEP(acc, v)": f"acc += {step};", "DONE(acc, count)": done}
    return macros


FAMILY = Pool()
