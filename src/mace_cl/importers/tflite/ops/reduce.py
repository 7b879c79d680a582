"""Reductions, searches and scans."""

from __future__ import annotations

from functools import partial

from mace_cl.errors import ShapeError
from mace_cl.graph import Value, ops
from mace_cl.importers.tflite.context import Context, axes_of, axis_of
from mace_cl.importers.tflite.registry import handles

_REDUCTIONS: dict[str, type[ops.ReduceSum | ops.ReduceMean | ops.ReduceMax | ops.ReduceMin | ops.ReduceProd]] = {
    "MEAN": ops.ReduceMean,
    "REDUCE_ALL": ops.ReduceMin,
    "REDUCE_ANY": ops.ReduceMax,
    "REDUCE_MAX": ops.ReduceMax,
    "REDUCE_MIN": ops.ReduceMin,
    "REDUCE_PROD": ops.ReduceProd,
    "SUM": ops.ReduceSum,
}


def _reduce(
    cls: type[ops.ReduceSum | ops.ReduceMean | ops.ReduceMax | ops.ReduceMin | ops.ReduceProd], ctx: Context
) -> Value:
    x = ctx.value(0)
    axes = axes_of(ctx.ints(1, "axes"), x.type.rank)
    if not axes:
        return ctx.emit(ops.Identity(), x)
    return ctx.emit(cls(axes, ctx.options("ReducerOptions").flag("KeepDims")), x)


for _name, _class in _REDUCTIONS.items():
    handles(_name)(partial(_reduce, _class))


@handles("ARG_MAX")
def arg_max(ctx: Context) -> Value:
    """Index of the first greatest element along an axis."""
    x = ctx.value(0)
    axis = axis_of(ctx.integer(1, "axis"), x.type.rank)
    return ctx.emit(ops.ArgMax(axis, keepdims=False, to=ctx.output_dtype()), x)


@handles("ARG_MIN")
def arg_min(ctx: Context) -> Value:
    """Index of the first least element along an axis."""
    x = ctx.value(0)
    axis = axis_of(ctx.integer(1, "axis"), x.type.rank)
    return ctx.emit(ops.ArgMin(axis, keepdims=False, to=ctx.output_dtype()), x)


@handles("CUMSUM")
def cumsum(ctx: Context) -> Value:
    """Running sum along an axis."""
    o, x = ctx.options("CumsumOptions"), ctx.value(0)
    axis = axis_of(ctx.integer(1, "axis"), x.type.rank)
    return ctx.emit(ops.CumSum(axis, o.flag("Exclusive"), o.flag("Reverse")), x)


@handles("TOPK_V2")
def top_k(ctx: Context) -> tuple[Value, ...]:
    """The k greatest along the last axis, sorted, and their indices."""
    x, k = ctx.value(0), ctx.integer(1, "k")
    if x.type.rank < 1 or not 0 <= k <= x.shape[-1]:
        raise ShapeError(f"k is {k} for an input of {list(x.shape)}")
    return ctx.emit_all(ops.TopK(k, x.type.rank - 1, largest=True, to=ctx.output_dtype(1)), [x])


@handles("SOFTMAX")
def softmax(ctx: Context) -> Value:
    """Softmax of beta x along the last axis."""
    x = ctx.value(0)
    beta = ctx.options("SoftmaxOptions").number("Beta")
    return ctx.emit(ops.Softmax(axis_of(-1, x.type.rank), beta), x)


@handles("LOG_SOFTMAX")
def log_softmax(ctx: Context) -> Value:
    """Logarithm of softmax along the last axis."""
    x = ctx.value(0)
    return ctx.emit(ops.LogSoftmax(axis_of(-1, x.type.rank)), x)
