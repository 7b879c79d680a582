"""Reductions over any axes: one launch for each group of neighbouring axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from mace_cl.graph.core import Graph, Node
from mace_cl.graph.ops.base import Cost
from mace_cl.graph.ops.reduce import Reduction
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
    Scratch,
    Write,
    roofline_us,
    single,
)
from mace_cl.kernels.elementwise import MAX_INDEX
from mace_cl.kernels.tiles import grid_of
from mace_cl.kernels.typed import INTEGER_LIMITS
from mace_cl.kernels.vectors import ceil_div, vector_macros, width_for
from mace_cl.targets.facts import DeviceFacts
from mace_cl.types import DataType, Shape

SMALL_ELEMENTS = 16384

_SUM = {"START": "0", "JOIN(a, b)": "((a) + (b))"}
_OPERATORS: dict[str, dict[str, str]] = {
    "ReduceSum": {**_SUM, "STEP(TT, acc, v)": "acc += v;"},
    "ReduceMean": {**_SUM, "STEP(TT, acc, v)": "acc += v;", "DONE(acc, n)": "((acc) / (float)(n))"},
    "ReduceMax": {"JOIN(a, b)": "((a) > (b) || (a) != (a) ? (a) : (b))", "STEP(TT, acc, v)": "acc = JOIN(v, acc);"},
    "ReduceMin": {"JOIN(a, b)": "((a) < (b) || (a) != (a) ? (a) : (b))", "STEP(TT, acc, v)": "acc = JOIN(v, acc);"},
    "ReduceProd": {"START": "1", "JOIN(a, b)": "((a) * (b))", "STEP(TT, acc, v)": "acc *= v;"},
    "ReduceL1": {**_SUM, "STEP(TT, acc, v)": "acc += fabs(v);"},
    "ReduceL2": {**_SUM, "STEP(TT, acc, v)": "acc += v * v;", "DONE(acc, n)": "sqrt(acc)"},
    "ReduceSumSquare": {**_SUM, "STEP(TT, acc, v)": "acc += v * v;"},
    "ReduceLogSum": {**_SUM, "STEP(TT, acc, v)": "acc += v;", "DONE(acc, n)": "log(acc)"},
}
_INTEGERS = ("ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceSumSquare")


@dataclass(frozen=True)
class Stage:
    """One launch: x seen as [outer, reduced, inner]."""

    operator: str
    outer: int
    reduced: int
    inner: int


class Reduce(Family):
    """Every reduction but ReduceLogSumExp, in float32; sums, products and extremes of integers."""

    name = "reduce"
    operators = tuple(_OPERATORS)

    def match(self, graph: Graph, node: Node, facts: DeviceFacts) -> Match | Refusal:
        """The node alone."""
        x = node.input(0)
        if x.type.elements > MAX_INDEX:
            return Refusal("more elements than a 32-bit index holds")
        if not x.type.elements:
            return Refusal("nothing to reduce")
        if x.dtype is not DataType.FLOAT32 and not (x.dtype.is_integer and node.op.name in _INTEGERS):
            return Refusal(f"no reduction of {x.dtype.value}")
        return single(node)

    def cost(self, match: Match, config: Config, facts: DeviceFacts) -> float:
        """Memory traffic."""
        return roofline_us(_cost(match.node), facts, 0.1, len(stages_of(match.node)))

    def emit(self, match: Match, config: Config, facts: DeviceFacts) -> Sequence[KernelCall]:
        """One launch for each group of axes."""
        node = match.node
        stages = stages_of(node)
        dtype = node.input(0).dtype
        calls: list[KernelCall] = []
        source: CallArg = Read(node.input(0))
        for i, stage in enumerate(stages):
            target: CallArg = Write(node.output)
            if i + 1 < len(stages):
                target = Scratch(dtype.itemsize * stage.outer * stage.inner, f"{node.name}.partial")
            calls.append(_call(stage, dtype, source, target, facts))
            source = target
        return calls


def _cost(node: Node) -> Cost:
    return node.op.cost([node.input(0).type], [node.output.type])


def stages_of(node: Node) -> list[Stage]:
    """The launches of a reduction; groups of axes from the last to the first."""
    op = node.op
    assert isinstance(op, Reduction)
    groups = _groups(node.input(0).shape, {a % max(node.input(0).type.rank, 1) for a in op.axes})
    marked = [i for i, (_, reduced) in enumerate(groups) if reduced]
    if not marked:
        return [Stage(op.name, node.input(0).type.elements, 1, 1)]
    sizes = [size for size, _ in groups]
    stages: list[Stage] = []
    for i in reversed(marked):
        name = _stage_operator(op.name, first=not stages, last=i == marked[0])
        stages.append(Stage(name, math.prod(sizes[:i]), sizes[i], math.prod(sizes[i + 1 :])))
        sizes[i] = 1
    return stages


def _stage_operator(name: str, *, first: bool, last: bool) -> str:
    """What one of several launches computes: squares are taken by the first only, the logarithm by the last only."""
    if name == "ReduceSumSquare" and not first:
        return "ReduceSum"
    if name == "ReduceLogSum" and not last:
        return "ReduceSum"
    return name


def _groups(shape: Shape, axes: set[int]) -> list[tuple[int, bool]]:
    """(size, reduced) of neighbouring dimensions joined; dimensions of 1 join anything."""
    groups: list[list[int | bool]] = []
    for d, size in enumerate(shape):
        if size == 1:
            continue
        if groups and groups[-1][1] == (d in axes):
            groups[-1][0] *= size
        else:
            groups.append([size, d in axes])
    return [(int(s), bool(r)) for s, r in groups]


def _call(stage: Stage, dtype: DataType, source: CallArg, target: CallArg, facts: DeviceFacts) -> KernelCall:
    along = stage.inner == 1
    is_float = dtype is DataType.FLOAT32
    width = width_for(stage.reduced if along else stage.inner, facts) if is_float else 1
    outputs = stage.outer if along else stage.outer * ceil_div(stage.inner, width)
    elements = stage.outer * stage.reduced * stage.inner
    parts = outputs if facts.kind != "cpu" else 1 if elements < SMALL_ELEMENTS else min(facts.compute_units, outputs)
    outputs_per = ceil_div(outputs, parts)
    grid = grid_of(facts, ceil_div(outputs, outputs_per))
    macros = {"DONE(acc, n)": "(acc)", **_OPERATORS[stage.operator], **_types(dtype, width), "GROUP": grid.group}
    if stage.operator in ("ReduceMax", "ReduceMin"):
        macros["START"] = _extreme(stage.operator, dtype)
    if along:
        macros["ALONG"] = "1"
    numbers = (outputs, outputs_per, stage.reduced, stage.inner)
    args: tuple[CallArg, ...] = (source, target, *(Scalar("int", n) for n in numbers))
    cost = Cost(elements, dtype.itemsize * (elements + stage.outer * stage.inner))
    return KernelCall(KernelSpec.of("reduce", macros), args, grid.global_size, grid.local_size, cost)


def _types(dtype: DataType, width: int) -> dict[str, str]:
    if dtype is DataType.FLOAT32:
        return {**vector_macros(width), "T": "float"}
    return {"T": dtype.opencl, "V": "1", "VEC": dtype.opencl, "VLOAD(p)": "(*(p))", "VSTORE(v, p)": "(*(p) = (v))"}


def _extreme(operator: str, dtype: DataType) -> str:
    """The element that loses against all others."""
    greatest = operator == "ReduceMin"
    if dtype is DataType.FLOAT32:
        return "INFINITY" if greatest else "-INFINITY"
    low, high = INTEGER_LIMITS[dtype]
    if dtype is DataType.INT64 and not greatest:
        return "LONG_MIN"
    return f"{high if greatest else low}{'UL' if dtype.value.startswith('u') else 'L'}"


FAMILY = Reduce()
