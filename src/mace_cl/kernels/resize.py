"""Linear and cubic scaling, and nearest in float32 that `remap` does not take: tables of taps for each dimension."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mace_cl.graph.core import Graph, Node
from mace_cl.graph.ops import Resize
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
    Scratch,
    Weights,
    Write,
    roofline_us,
    single,
)
from mace_cl.kernels.elementwise import MAX_INDEX, SMALL_ELEMENTS
from mace_cl.kernels.expression import literal
from mace_cl.kernels.tiles import grid_of
from mace_cl.kernels.vectors import ceil_div, vector_macros, width_for
from mace_cl.targets.facts import DeviceFacts
from mace_cl.types import DataType, Shape


@dataclass(frozen=True)
class Pair:
    """One launch: up to two scaled dimensions of a tensor.

    Attributes:
        shape: The tensor's shape before it.
        axes: The scaled dimensions, in order.
    """

    shape: Shape
    axes: tuple[int, ...]


class ResizeFamily(Family):
    """Scaling of float32 data, two dimensions a launch."""

    name = "resize"
    operators = ("Resize",)

    def match(self, graph: Graph, node: Node, facts: DeviceFacts) -> Match | Refusal:
        """The node alone."""
        op = _op(node)
        x = node.input(0)
        if x.dtype is not DataType.FLOAT32:
            return Refusal(f"{x.dtype.value} is not float32")
        if max(x.type.elements, node.output.type.elements) > MAX_INDEX:
            return Refusal("more elements than a 32-bit index holds")
        axes = op.scaled_axes(x.type)
        if op.coordinate_mode == "tf_crop_and_resize" and len(axes) > 2:
            return Refusal("extrapolation along more than two dimensions")
        return single(node)

    def cost(self, match: Match, config: Config, facts: DeviceFacts) -> float:
        """Taps at a tenth of the peak, or memory traffic."""
        return roofline_us(_cost(match.node), facts, 0.1, max(1, len(_pairs(match.node))))

    def emit(self, match: Match, config: Config, facts: DeviceFacts) -> Sequence[KernelCall]:
        """One launch for each pair of scaled dimensions."""
        node = match.node
        pairs = _pairs(node)
        calls: list[KernelCall] = []
        source: CallArg = Read(node.input(0))
        for i, pair in enumerate(pairs):
            shape = _scaled(pair, _op(node))
            target: CallArg = Write(node.output)
            if i + 1 < len(pairs):
                target = Scratch(4 * math.prod(shape), f"{node.name}.scaled")
            calls.append(_call(node, pair, source, target, facts))
            source = target if isinstance(target, Scratch) else source
        return calls


def _op(node: Node) -> Resize:
    assert isinstance(node.op, Resize)
    return node.op


def _cost(node: Node) -> Cost:
    return node.op.cost([node.input(0).type], [node.output.type])


def _pairs(node: Node) -> list[Pair]:
    """The launches in order; a tensor that is not scaled at all is copied by one."""
    op = _op(node)
    axes = op.scaled_axes(node.input(0).type)
    shape = node.input(0).shape
    pairs = []
    for i in range(0, max(len(axes), 1), 2):
        pair = Pair(shape, axes[i : i + 2])
        pairs.append(pair)
        shape = _scaled(pair, op)
    return pairs


def _scaled(pair: Pair, op: Resize) -> Shape:
    return tuple(op.shape[d] if d in pair.axes else n for d, n in enumerate(pair.shape))


def _call(node: Node, pair: Pair, source: CallArg, target: CallArg, facts: DeviceFacts) -> KernelCall:
    op = _op(node)
    first, second = _axes(pair)
    shape = (*pair.shape, 1)
    a, b = math.prod(shape[: max(first, 0)]), math.prod(shape[max(first, -1) + 1 : second])
    c = math.prod(shape[second + 1 :])
    in_h, in_w = (shape[first] if first >= 0 else 1), shape[second]
    tables = [_table(op, pair, first, in_h), _table(op, pair, second, in_w)]
    out_h, out_w = (len(t[0]) for t in tables)
    rows = a * out_h * b
    width = width_for(c, facts)
    parts = rows if facts.kind != "cpu" else 1 if rows * out_w * c < SMALL_ELEMENTS else facts.compute_units
    rows_per = ceil_div(rows, parts)
    grid = grid_of(facts, ceil_div(rows, rows_per))
    macros = {**vector_macros(width), "GROUP": grid.group}
    macros |= {"TAPS_H": str(tables[0][0].shape[1]), "TAPS_W": str(tables[1][0].shape[1])}
    args: list[CallArg] = [source, target]
    for index, weights in tables:
        args += [Weights(index.astype(np.int32), "indices"), Weights(weights.astype(np.float32), "weights")]
    outside = [_outside(op, first, in_h, out_h), _outside(op, second, in_w, out_w)]
    if any(o.any() for o in outside):
        macros |= {"FLAGS": "1", "EXTRAPOLATION": literal(op.extrapolation_value)}
        args += [Weights((~o).astype(np.float32), "inside") for o in outside]
    args += [Scalar("int", n) for n in (rows, rows_per, in_h, in_w, out_h, out_w, b, c)]
    spec = KernelSpec.of("resize", macros)
    return KernelCall(spec, tuple(args), grid.global_size, grid.local_size, _cost(node))


def _axes(pair: Pair) -> tuple[int, int]:
    """(first, second) scaled dimension; -1 where there is no first, one past the end where there is none at all."""
    if len(pair.axes) == 2:
        return pair.axes[0], pair.axes[1]
    return -1, pair.axes[0] if pair.axes else len(pair.shape)


def _table(op: Resize, pair: Pair, axis: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Indices and weights [out, taps] of a dimension; a dimension that is not scaled has one tap of weight 1."""
    if axis in pair.axes:
        return op.table(axis, size)
    return np.arange(size, dtype=np.int64)[:, None], np.ones((size, 1))


def _outside(op: Resize, axis: int, size: int, out: int) -> np.ndarray:
    if op.coordinate_mode != "tf_crop_and_resize" or not 0 <= axis < len(op.shape):
        return np.zeros(out, bool)
    return op.outside(axis, size)


FAMILY = ResizeFamily()
