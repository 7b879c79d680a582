"""Operators between real and quantised numbers. `values` does the conversions, so most of them are the identity."""

from __future__ import annotations

from mace_cl.errors import ImportModelError
from mace_cl.graph import Value
from mace_cl.graph.ops import Add, Cast, Clip, Floor, Identity, Mul
from mace_cl.importers.tflite.context import Context
from mace_cl.importers.tflite.registry import handles
from mace_cl.types import DataType


@handles("DEQUANTIZE", "QUANTIZE")
def quantize(ctx: Context) -> Value:
    """The operand in the result's representation; float16 is widened."""
    x = ctx.value(0)
    wanted = DataType.FLOAT32 if ctx.output_is_quantized() else ctx.output_dtype()
    if x.dtype != wanted:
        if not x.dtype.is_float:
            raise ImportModelError(f"operand {x.name!r} is {x.dtype.value} without a scale")
        return ctx.emit(Cast(wanted), x)
    return x if x.is_constant else ctx.emit(Identity(), x)


@handles("DENSIFY")
def densify(ctx: Context) -> Value:
    """A sparse constant; it became dense when it was read."""
    return ctx.value(0)


@handles("FAKE_QUANT")
def fake_quant(ctx: Context) -> Value:
    """x rounded to one of 2^bits steps between two limits, moved so that zero is one of them."""
    o = ctx.options("FakeQuantOptions")
    low, high, bits = o.number("Min"), o.number("Max"), o.integer("NumBits")
    least, greatest = int(o.flag("NarrowRange")), 2**bits - 1 if 2 <= bits <= 16 else 0
    if not (low < high and least < greatest):
        raise ImportModelError(f"limits {low} and {high} with {bits} bits")
    step = (high - low) / (greatest - least)
    zero = min(max(int(least - low / step + 0.5), least), greatest)
    low, high = (least - zero) * step, (greatest - zero) * step
    x = ctx.emit(Clip(low, high), ctx.value(0))
    scaled = ctx.emit(Mul(), ctx.emit(Add(), x, ctx.scalar(-low, x)), ctx.scalar(1 / step, x))
    rounded = ctx.emit(Floor(), ctx.emit(Add(), scaled, ctx.scalar(0.5, x)))
    return ctx.emit(Add(), ctx.emit(Mul(), rounded, ctx.scalar(step, x)), ctx.scalar(low, x))
