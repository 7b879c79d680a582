"""Reductions, searches, scans, and softmax with its relatives."""

from __future__ import annotations

from collections.abc import Sequence

from mace_cl.graph import Value, ops
from mace_cl.graph.ops.reduce import Reduction
from mace_cl.importers.onnx.context import Context, axes_of, axis_of
from mace_cl.importers.onnx.ops.shape import two_dimensions
from mace_cl.importers.onnx.registry import handles

_REDUCTIONS: dict[str, type[Reduction]] = {
    kind.__name__: kind
    for kind in (
        ops.ReduceL1, ops.ReduceL2, ops.ReduceLogSum, ops.ReduceLogSumExp, ops.ReduceMax, ops.ReduceMean,
        ops.ReduceMin, ops.ReduceProd, ops.ReduceSum, ops.ReduceSumSquare,
    )
}  # fmt: skip


@handles(*_REDUCTIONS)
def reduction(ctx: Context) -> Value:
    """Over the axes; where there are none, over all or (noop_with_empty_axes) over none."""
    x, given = ctx.value(0), ctx.listed("axes", 1)
    if given:
        axes = tuple(sorted(axes_of(given, x.type.rank)))
    else:
        axes = () if ctx.attr_bool("noop_with_empty_axes") else tuple(range(x.type.rank))
    return ctx.emit(_REDUCTIONS[ctx.node.op_type](axes, ctx.attr_bool("keepdims", True)), x)


@handles("ArgMax", "ArgMin")
def search(ctx: Context) -> Value:
    """Index of the greatest or least along axis."""
    x = ctx.value(0)
    kind = ops.ArgMax if ctx.node.op_type == "ArgMax" else ops.ArgMin
    axis = axis_of(ctx.attr_int("axis", 0), x.type.rank)
    return ctx.emit(kind(axis, ctx.attr_bool("keepdims", True), ctx.attr_bool("select_last_index")), x)


@handles("CumSum")
def cumulative_sum(ctx: Context) -> Value:
    """Running sum."""
    x = ctx.value(0)
    axis = axis_of(ctx.integer(1, "axis"), x.type.rank)
    return ctx.emit(ops.CumSum(axis, ctx.attr_bool("exclusive"), ctx.attr_bool("reverse")), x)


@handles("TopK")
def top_k_attribute(ctx: Context) -> Sequence[Value]:
    """k is an attribute."""
    return _top_k(ctx, ctx.attr_int("k"))


@handles("TopK", since=10)
def top_k(ctx: Context) -> Sequence[Value]:
    """k is an operand."""
    return _top_k(ctx, ctx.integer(1, "K"))


def _top_k(ctx: Context, k: int) -> Sequence[Value]:
    x = ctx.value(0)
    axis = axis_of(ctx.attr_int("axis", -1), x.type.rank)
    return ctx.emit_all(ops.TopK(k, axis, ctx.attr_bool("largest", True)), [x])


_SOFTMAX = {"Softmax": ops.Softmax, "LogSoftmax": ops.LogSoftmax, "Hardmax": ops.Hardmax}


@handles(*_SOFTMAX)
def softmax_flattened(ctx: Context) -> Value:
    """Over all dimensions from axis on, as one."""
    x, kind = ctx.value(0), _SOFTMAX[ctx.node.op_type]
    given, rank = ctx.attr_int("axis", 1), x.type.rank
    # The end is allowed: each element is a row of its own.
    axis = rank if given == rank else axis_of(given, rank)
    flat = two_dimensions(x.shape, axis)
    if axis < rank and flat[1] == x.shape[axis]:
        return ctx.emit(kind(axis), x)
    result = ctx.emit(kind(1), ctx.emit(ops.Reshape(flat), x))
    return ctx.emit(ops.Reshape(x.shape), result)


@handles(*_SOFTMAX, since=13)
def softmax(ctx: Context) -> Value:
    """Along axis."""
    x = ctx.value(0)
    return ctx.emit(_SOFTMAX[ctx.node.op_type](axis_of(ctx.attr_int("axis", -1), x.type.rank)), x)
