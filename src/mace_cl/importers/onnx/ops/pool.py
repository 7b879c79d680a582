"""Pooling over windows, and over everything."""

from __future__ import annotations

from collections.abc import Sequence

from mace_cl.errors import ImportModelError, ShapeError
from mace_cl.graph import Value, ops
from mace_cl.importers.onnx.context import Context
from mace_cl.importers.onnx.registry import handles
from mace_cl.importers.onnx.windows import Pads, ceil_extra, per_dimension, window_pads
from mace_cl.types import Shape

_Window = tuple[Value, Shape, Shape, Pads, Shape, tuple[int, ...]]


@handles("MaxPool")
def max_pool(ctx: Context) -> Value | Sequence[Value]:
    """Greatest of each window, and where it stands if that is asked for."""
    x, kernel, strides, pads, dilations, _ = _window(ctx)
    if not ctx.wants(1):
        return ctx.emit(ops.MaxPool(kernel, strides, pads, dilations), x)
    order = ctx.attr_int("storage_order", 0)
    if order not in (0, 1):
        raise ImportModelError(f"storage_order {order} is neither 0 nor 1")
    return ctx.emit_all(ops.MaxPoolWithIndices(kernel, strides, pads, dilations, bool(order)), [x])


@handles("AveragePool")
def average_pool(ctx: Context) -> Value:
    """Mean of each window; elements that ceil_mode adds never count."""
    x, kernel, strides, pads, dilations, extra = _window(ctx)
    op = ops.AveragePool(kernel, strides, pads, dilations, ctx.attr_bool("count_include_pad"), extra)
    return ctx.emit(op, x)


@handles("LpPool")
def lp_pool(ctx: Context) -> Value:
    """p-norm of each window."""
    x, kernel, strides, pads, dilations, _ = _window(ctx)
    return ctx.emit(ops.LpPool(ctx.attr_int("p", 2), kernel, strides, pads, dilations), x)


def _window(ctx: Context) -> _Window:
    """x, kernel, strides, pads, dilations, and how much of the end pads comes from ceil_mode."""
    x = ctx.value(0)
    rank = _spatial_rank(x)
    kernel = ctx.attr_ints("kernel_shape")
    if len(kernel) != rank or min(kernel) < 1:
        raise ShapeError(f"kernel_shape {list(kernel)} does not fit {rank} spatial dimensions")
    strides, dilations = per_dimension(ctx, "strides", rank), per_dimension(ctx, "dilations", rank)
    pads = window_pads(ctx, x.shape[2:], kernel, strides, dilations)
    extra: tuple[int, ...] = (0,) * rank
    if ctx.attr_bool("ceil_mode"):
        extra = ceil_extra(x.shape[2:], kernel, strides, dilations, pads)
    pads = tuple((begin, end + more) for (begin, end), more in zip(pads, extra, strict=True))
    return x, kernel, strides, pads, dilations, extra


def _spatial_rank(x: Value) -> int:
    if x.type.rank < 3:
        raise ShapeError(f"x {x.type} has no spatial dimension")
    return x.type.rank - 2


@handles("GlobalAveragePool")
def global_average_pool(ctx: Context) -> Value:
    """Mean over space."""
    x = ctx.value(0)
    return ctx.emit(ops.ReduceMean(_space(x)), x)


@handles("GlobalMaxPool")
def global_max_pool(ctx: Context) -> Value:
    """Greatest over space."""
    x = ctx.value(0)
    return ctx.emit(ops.ReduceMax(_space(x)), x)


@handles("GlobalLpPool")
def global_lp_pool(ctx: Context) -> Value:
    """p-norm over space."""
    x, p = ctx.value(0), ctx.attr_int("p", 2)
    if p in (1, 2):
        return ctx.emit(ops.ReduceL1(_space(x)) if p == 1 else ops.ReduceL2(_space(x)), x)
    rank = _spatial_rank(x)
    return ctx.emit(ops.LpPool(p, x.shape[2:], (1,) * rank, ((0, 0),) * rank, (1,) * rank), x)


def _space(x: Value) -> tuple[int, ...]:
    return tuple(range(2, 2 + _spatial_rank(x)))
