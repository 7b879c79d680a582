"""Between real numbers and quantised integers."""

from __future__ import annotations

from mace_cl.errors import UnsupportedError
from mace_cl.graph import Value, ops
from mace_cl.importers.onnx.context import Context
from mace_cl.importers.onnx.registry import handles
from mace_cl.types import DataType


@handles("QuantizeLinear")
def quantize_linear(ctx: Context) -> Value:
    """For the whole tensor, or along one axis."""
    _refuse_blocks(ctx)
    x, scale, zero = ctx.value(0), ctx.value(1), ctx.optional(2)
    to = zero.dtype if zero is not None else DataType.UINT8
    if ctx.attr_int("output_dtype", 0):
        to = ctx.attr_type("output_dtype")
    if not x.dtype.is_float:
        x = ctx.emit(ops.Cast(scale.dtype), x)
    return ctx.emit(ops.QuantizeLinear(ctx.attr_int("axis", 1), to), x, scale, zero)


@handles("DequantizeLinear")
def dequantize_linear(ctx: Context) -> Value:
    """For the whole tensor, or along one axis."""
    _refuse_blocks(ctx)
    y = ctx.emit(ops.DequantizeLinear(ctx.attr_int("axis", 1)), ctx.value(0), ctx.value(1), ctx.optional(2))
    wanted = ctx.attr_type("output_dtype") if ctx.attr_int("output_dtype", 0) else y.dtype
    return y if wanted is y.dtype else ctx.emit(ops.Cast(wanted), y)


def _refuse_blocks(ctx: Context) -> None:
    size = ctx.attr_int("block_size", 0)
    if size:
        raise UnsupportedError(f"scales for blocks of {size} elements are not supported")
