"""Transposes from [N, *S, C] to [N, C, *S] move towards the outputs until they meet their inverse and vanish.

    f(transpose(x, p))  =  transpose(f'(x), p)

where f' is f with its axes permuted: elementwise operators, reductions, Concat, Split, Slice, Pad, Tile, Resize,
softmax and searches along an axis, and reshapes that only add or drop dimensions of size 1. Transposes of transposes
become one, those that move only dimensions of size 1 become reshapes. An operand of an elementwise operator that has
not been transposed gets the inverse (constants are transposed here). Other permutations stay where they are: they are
the model's own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mace_cl.graph import Graph, Node, Value
from mace_cl.graph.ops import (
    ArgMax,
    ArgMin,
    Concat,
    CumSum,
    Hardmax,
    LogSoftmax,
    LpNormalization,
    Pad,
    ReduceL1,
    ReduceL2,
    ReduceLogSum,
    ReduceLogSumExp,
    ReduceMax,
    ReduceMean,
    ReduceMin,
    ReduceProd,
    ReduceSum,
    ReduceSumSquare,
    Reshape,
    Resize,
    Slice,
    Softmax,
    Split,
    Tile,
    TopK,
    Transpose,
)
from mace_cl.graph.ops.base import Operator
from mace_cl.passes.base import Pass, Report, sweep
from mace_cl.passes.channels_last import MIN_RANK, to_first

_REDUCTIONS = (
    ReduceSum, ReduceMean, ReduceMax, ReduceMin, ReduceProd, ReduceL1, ReduceL2, ReduceLogSum, ReduceLogSumExp,
    ReduceSumSquare,
)  # fmt: skip
_ALONG_AXIS = (Softmax, LogSoftmax, Hardmax, CumSum, LpNormalization, Concat, Split, TopK)
_SEARCHES = (ArgMax, ArgMin)

Perm = tuple[int, ...]


@dataclass(frozen=True)
class SinkTransposes(Pass):
    """Move layout transposes down until they cancel."""

    name = "sink-transposes"

    def run(self, graph: Graph, report: Report) -> None:
        """Repeat until no transpose can move."""

        def visit(node: Node) -> bool:
            if isinstance(node.op, Transpose):
                return _simplify(graph, node, report)
            return _sink(graph, node, report)

        sweep(graph, visit)
        graph.prune()


# -- transposes among themselves --------------------------------------------------------------------------------


def _simplify(graph: Graph, node: Node, report: Report) -> bool:
    assert isinstance(node.op, Transpose)
    x, perm = node.input(0), node.op.perm
    before = x.producer
    if before is not None and isinstance(before.op, Transpose):
        inner = before.op.perm
        merged = graph.add1(Transpose(tuple(inner[p] for p in perm)), [before.inputs[0]], name=node.name, before=node)
    elif perm == tuple(range(len(perm))):
        merged = x
    elif _moves_only_ones(x.shape, perm):
        merged = graph.add1(Reshape(node.output.shape), [x], name=node.name, before=node)
    elif x.data is not None:
        merged = graph.constant(np.ascontiguousarray(x.data.transpose(perm)), f"{x.name}.transposed")
    else:
        return False
    graph.replace(node.output, merged)
    graph.remove(node)
    if before is not None and not any(v.users or graph.is_output(v) for v in before.outputs):
        graph.remove(before)
    report.changed(f"{node.name} simplified")
    return True


def _moves_only_ones(shape: tuple[int, ...], perm: Perm) -> bool:
    """Whether the dimensions larger than 1 keep their order."""
    moved = [p for p in perm if shape[p] != 1]
    return moved == sorted(moved)


# -- through other operators ------------------------------------------------------------------------------------


def layout_transpose(value: Value | None) -> tuple[Value, Perm] | None:
    """(x, perm) where the value is a layout transpose of x."""
    node = None if value is None else value.producer
    if node is None or not isinstance(node.op, Transpose):
        return None
    perm = node.op.perm
    if len(perm) < MIN_RANK or perm != to_first(len(perm)):
        return None
    return node.input(0), perm


def _sink(graph: Graph, node: Node, report: Report) -> bool:
    perm = next((found[1] for v in node.inputs if (found := layout_transpose(v)) is not None), None)
    if perm is None:
        return False
    if isinstance(node.op, Reshape):
        return _sink_reshape(graph, node, perm, report)
    moved = permuted(node.op, perm)
    if moved is None:
        report.refused(node, f"{node.op.name} does not commute with a transpose")
        return False
    op, after = moved
    inputs = [_unpermuted(graph, v, perm, node) for v in node.inputs]
    if any(new is None and old is not None for new, old in zip(inputs, node.inputs, strict=True)):
        report.refused(node, "an operand has a larger rank")
        return False
    made = graph.add(op, inputs, name=node.name, before=node)
    for old, new in zip(node.outputs, made, strict=True):
        back = new
        if after != tuple(range(len(after))):
            back = graph.add1(Transpose(after), [new], name=f"{node.name}.nchw", before=node)
        graph.replace(old, back)
    graph.remove(node)
    report.changed(f"{node.name} moved above a transpose")
    return True


def permuted(op: Operator, perm: Perm) -> tuple[Operator, Perm] | None:
    """(f', permutation of f's outputs) for f(transpose(x, perm)), or None where f does not commute."""
    any_op: Any = op
    if op.elementwise:
        return op, perm
    if isinstance(op, _REDUCTIONS):
        return _permuted_reduction(any_op, any_op.axes, perm)
    if isinstance(op, _SEARCHES):
        return _permuted_reduction(any_op, (any_op.axis,), perm)
    if isinstance(op, _ALONG_AXIS):
        return replace(any_op, axis=perm[any_op.axis % len(perm)]), perm
    back = _inverse(perm)
    if isinstance(op, Slice):
        return Slice(_take(op.starts, back), _take(op.sizes, back), _take(op.steps, back)), perm
    if isinstance(op, Pad):
        return replace(op, pads=_take(op.pads, back)), perm
    if isinstance(op, Tile):
        return Tile(_take(op.repeats, back)), perm
    if isinstance(op, Resize):
        rank = len(perm)
        roi = (*_take(op.roi[:rank], back), *_take(op.roi[rank:], back)) if op.roi else ()
        return replace(op, shape=_take(op.shape, back), scales=_take(op.scales, back), roi=roi), perm
    return None


def _permuted_reduction(op: Any, axes: tuple[int, ...], perm: Perm) -> tuple[Operator, Perm]:
    """A reduction over permuted axes; without keepdims the outputs keep a shorter permutation."""
    moved = tuple(sorted(perm[a] for a in axes))
    new = replace(op, axes=moved) if hasattr(op, "axes") else replace(op, axis=moved[0])
    if op.keepdims:
        return new, perm
    kept = [d for d in range(len(perm)) if d not in moved]
    return new, tuple(kept.index(perm[d]) for d in range(len(perm)) if d not in axes)


def _inverse(perm: Perm) -> Perm:
    return tuple(int(i) for i in np.argsort(perm))


def _take(items: Any, order: Perm) -> tuple[Any, ...]:
    """Per-dimension attributes of transpose(x) turned into those of x."""
    return tuple(items[i] for i in order)


def _unpermuted(graph: Graph, value: Value | None, perm: Perm, user: Node) -> Value | None:
    """What stands for an operand once the transpose is gone; None where that cannot be."""
    if value is None:
        return None
    found = layout_transpose(value)
    if found is not None and found[1] == perm:
        return found[0]
    rank = len(perm)
    if value.type.rank > rank:
        return None
    if value.type.elements == 1 and value.type.rank == 0:
        return value
    shape = (1,) * (rank - value.type.rank) + value.shape
    back = _inverse(perm)
    if value.data is not None:
        turned = np.ascontiguousarray(value.data.reshape(shape).transpose(back))
        return graph.constant(turned, f"{value.name}.nhwc")
    full = value
    if value.shape != shape:
        full = graph.add1(Reshape(shape), [value], name=f"{user.name}.rank", before=user)
    return graph.add1(Transpose(back), [full], name=f"{user.name}.nhwc", before=user)


def _sink_reshape(graph: Graph, node: Node, perm: Perm, report: Report) -> bool:
    """Reshape that only adds or drops dimensions of size 1: the others keep a shorter permutation."""
    found = layout_transpose(node.input(0))
    assert found is not None
    x = found[0]
    here = [p for p in perm if x.shape[p] != 1]
    out = node.output.shape
    places = [i for i, d in enumerate(out) if d != 1]
    if [x.shape[p] for p in here] != [out[i] for i in places]:
        report.refused(node, "it merges or splits dimensions")
        return False
    order = sorted(range(len(here)), key=lambda k: here[k])
    after = list(range(len(out)))
    before = list(out)
    for slot, k in zip(places, order, strict=True):
        before[slot] = out[places[k]]
        after[places[k]] = slot
    reshaped = graph.add1(Reshape(tuple(before)), [x], name=node.name, before=node)
    back = graph.add1(Transpose(tuple(after)), [reshaped], name=f"{node.name}.nchw", before=node)
    graph.replace(node.output, back)
    graph.remove(node)
    report.changed(f"{node.name} moved above a transpose")
    return True
