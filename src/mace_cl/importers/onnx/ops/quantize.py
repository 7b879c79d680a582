"""Between real numbers and quantised integers."""

from __future__ import annotations

import numpy as np

from mace_cl.errors import ShapeError
from mace_cl.graph import Value, ops
from mace_cl.importers.onnx.context import Context, axis_of
from mace_cl.importers.onnx.registry import handles
from mace_cl.types import DataType


@handles("QuantizeLinear")
def quantize_linear(ctx: Context) -> Value:
    """For the whole tensor, along one axis, or in blocks along it."""
    x, scale, zero = ctx.value(0), ctx.value(1), ctx.optional(2)
    to = zero.dtype if zero is not None else DataType.UINT8
    if ctx.attr_int("output_dtype", 0):
        to = ctx.attr_type("output_dtype")
    if not x.dtype.is_float:
        x = ctx.emit(ops.Cast(scale.dtype), x)
    if not ctx.attr_int("block_size", 0):
        return ctx.emit(ops.QuantizeLinear(ctx.attr_int("axis", 1), to), x, scale, zero)
    y = ctx.emit(ops.Round(), ctx.emit(ops.Div(), x, _spread(ctx, x, scale)))
    if zero is not None:
        y = ctx.emit(ops.Add(), y, _spread(ctx, x, ctx.emit(ops.Cast(x.dtype), zero)))
    limits = np.iinfo(to.value)
    return ctx.emit(ops.Cast(to), ctx.emit(ops.Clip(float(limits.min), float(limits.max)), y))


@handles("DequantizeLinear")
def dequantize_linear(ctx: Context) -> Value:
    """For the whole tensor, along one axis, or in blocks along it."""
    x, scale, zero = ctx.value(0), ctx.value(1), ctx.optional(2)
    if ctx.attr_int("block_size", 0):
        y = ctx.emit(ops.Cast(scale.dtype), x)
        if zero is not None:
            y = ctx.emit(ops.Sub(), y, _spread(ctx, x, ctx.emit(ops.Cast(scale.dtype), zero)))
        y = ctx.emit(ops.Mul(), y, _spread(ctx, x, scale))
    else:
        y = ctx.emit(ops.DequantizeLinear(ctx.attr_int("axis", 1)), x, scale, zero)
    wanted = ctx.attr_type("output_dtype") if ctx.attr_int("output_dtype", 0) else y.dtype
    return y if wanted is y.dtype else ctx.emit(ops.Cast(wanted), y)


def _spread(ctx: Context, x: Value, blocks: Value) -> Value:
    """One element for each block along the axis to one for each element of x; the last block may be cut."""
    size = ctx.attr_int("block_size")
    axis = axis_of(ctx.attr_int("axis", 1), x.type.rank)
    shape = blocks.shape
    wanted = (*x.shape[:axis], -(-x.shape[axis] // max(size, 1)), *x.shape[axis + 1 :])
    if size < 1 or shape != wanted:
        raise ShapeError(f"scales {blocks.type} do not fit x {x.type} in blocks of {size} along axis {axis}")
    before, count, after = shape[:axis], shape[axis], shape[axis + 1 :]
    spread = ctx.emit(ops.Reshape((*before, count, 1, *after)), blocks)
    spread = ctx.emit(ops.Expand((*before, count, size, *after)), spread)
    spread = ctx.emit(ops.Reshape((*before, count * size, *after)), spread)
    if count * size == x.shape[axis]:
        return spread
    return ctx.emit(ops.Slice((0,) * len(shape), x.shape, (1,) * len(shape)), spread)
