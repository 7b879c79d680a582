"""Reductions, searches and scans."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mace_cl.graph import ops
from mace_cl.graph.core import Value
from mace_cl.importers.tensorflow.registry import NodeView, handles
from mace_cl.types import DataType

_REDUCTIONS: dict[str, Callable[[tuple[int, ...], bool], ops.Operator]] = {
    "Mean": ops.ReduceMean,
    "Sum": ops.ReduceSum,
    "Max": ops.ReduceMax,
    "Min": ops.ReduceMin,
    "Prod": ops.ReduceProd,
    "All": ops.ReduceMin,
    "Any": ops.ReduceMax,
    "EuclideanNorm": ops.ReduceL2,
}


@handles(*_REDUCTIONS)
def reduce(view: NodeView) -> Value:
    """x, axes."""
    x = view.input(0)
    axes = sorted({view.axis(a, len(x.shape)) for a in view.known_ints(1, "the axes")})
    return view.add(_REDUCTIONS[view.node.op](tuple(axes), view.attr_bool("keep_dims", False)), x)


@handles("ArgMax", "ArgMin")
def arg_max(view: NodeView) -> Value:
    """x, axis."""
    x, kind = view.input(0), ops.ArgMax if view.node.op == "ArgMax" else ops.ArgMin
    axis = view.known_axis(1, len(x.shape)) if len(view.inputs) > 1 else view.axis(0, len(x.shape))
    return view.add(kind(axis, False, False, view.attr_type("output_type", DataType.INT64)), x)


@handles("Cumsum")
def cumsum(view: NodeView) -> Value:
    """x, axis."""
    x = view.input(0)
    axis = view.known_axis(1, len(x.shape))
    return view.add(ops.CumSum(axis, view.attr_bool("exclusive", False), view.attr_bool("reverse", False)), x)


@handles("TopKV2")
def top_k(view: NodeView) -> Sequence[Value]:
    """x, k; along the last dimension."""
    x = view.input(0)
    to = view.attr_type("index_type", DataType.INT32)
    op = ops.TopK(view.known_int(1, "k"), view.axis(-1, len(x.shape)), True, to)
    return view.add_all(op, [x])
