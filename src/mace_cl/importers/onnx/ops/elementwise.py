"""Elementwise arithmetic, comparison and logic, and changes of type."""

from __future__ import annotations

from functools import reduce

from mace_cl.errors import ImportModelError
from mace_cl.graph import Value, ops
from mace_cl.graph.ops import Operator
from mace_cl.importers.onnx.context import Context
from mace_cl.importers.onnx.registry import handles

_UNARY: dict[str, Operator] = {
    op.name: op
    for op in (
        ops.Abs(), ops.Acos(), ops.Acosh(), ops.Asin(), ops.Asinh(), ops.Atan(), ops.Atanh(), ops.BitwiseNot(),
        ops.Ceil(), ops.Cos(), ops.Cosh(), ops.Erf(), ops.Exp(), ops.Floor(), ops.IsNaN(), ops.Log(), ops.Neg(),
        ops.Not(), ops.Reciprocal(), ops.Round(), ops.Sign(), ops.Sin(), ops.Sinh(), ops.Sqrt(), ops.Tan(),
    )
}  # fmt: skip
_BINARY: dict[str, Operator] = {
    op.name: op
    for op in (
        ops.Add(), ops.And(), ops.BitwiseAnd(), ops.BitwiseOr(), ops.BitwiseXor(), ops.Div(), ops.Equal(),
        ops.Greater(), ops.GreaterOrEqual(), ops.Less(), ops.LessOrEqual(), ops.Mul(), ops.Or(), ops.Pow(), ops.Sub(),
        ops.Xor(),
    )
}  # fmt: skip


@handles(*_UNARY)
def unary(ctx: Context) -> Value:
    """One operand, no attribute."""
    return ctx.emit(_UNARY[ctx.node.op_type], ctx.value(0))


@handles(*_BINARY)
def binary(ctx: Context) -> Value:
    """Two operands that broadcast, no attribute."""
    return ctx.emit(_BINARY[ctx.node.op_type], ctx.value(0), ctx.value(1))


@handles("Where")
def where(ctx: Context) -> Value:
    """Condition, x, y."""
    return ctx.emit(ops.Where(), ctx.value(0), ctx.value(1), ctx.value(2))


@handles("Mod")
def modulo(ctx: Context) -> Value:
    """Remainder with the sign of the divisor, or of the dividend (fmod)."""
    return ctx.emit(ops.Mod(ctx.attr_bool("fmod")), ctx.value(0), ctx.value(1))


@handles("BitShift")
def bit_shift(ctx: Context) -> Value:
    """Shift to the left or right."""
    direction = ctx.attr_text("direction")
    if direction not in ("LEFT", "RIGHT"):
        raise ImportModelError(f"direction {direction!r} is neither LEFT nor RIGHT")
    return ctx.emit(ops.BitShift(direction == "LEFT"), ctx.value(0), ctx.value(1))


@handles("IsInf")
def is_inf(ctx: Context) -> Value:
    """Whether x is infinite, by sign."""
    op = ops.IsInf(ctx.attr_bool("detect_negative", True), ctx.attr_bool("detect_positive", True))
    return ctx.emit(op, ctx.value(0))


_CHAINED: dict[str, Operator] = {"Sum": ops.Add(), "Mean": ops.Add(), "Max": ops.Max(), "Min": ops.Min()}


@handles(*_CHAINED)
def chained(ctx: Context) -> Value:
    """Any number of operands, two at a time."""
    op, values = _CHAINED[ctx.node.op_type], ctx.values()
    total = reduce(lambda a, b: ctx.emit(op, a, b), values)
    if ctx.node.op_type == "Mean" and len(values) > 1:
        return ctx.emit(ops.Div(), total, ctx.scalar(len(values), total))
    return total


@handles("Cast")
def cast(ctx: Context) -> Value:
    """To the type `to`."""
    return ctx.emit(ops.Cast(ctx.attr_type("to")), ctx.value(0))


@handles("CastLike")
def cast_like(ctx: Context) -> Value:
    """To the second operand's type."""
    return ctx.emit(ops.Cast(ctx.value(1).dtype), ctx.value(0))
