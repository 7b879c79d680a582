"""Elementwise operators of one, two and three operands, and activations: rows of tables, then the exceptions."""

from __future__ import annotations

from functools import partial

import tflite

from mace_cl.errors import ShapeError, UnsupportedError
from mace_cl.graph import Value, ops
from mace_cl.graph.ops import Operator
from mace_cl.importers.tflite.context import Context
from mace_cl.importers.tflite.padding import activate
from mace_cl.importers.tflite.registry import handles

_UNARY: dict[str, Operator] = {
    "ABS": ops.Abs(),
    "CEIL": ops.Ceil(),
    "COS": ops.Cos(),
    "EXP": ops.Exp(),
    "FLOOR": ops.Floor(),
    "HARD_SWISH": ops.HardSwish(),
    "LOG": ops.Log(),
    "LOGICAL_NOT": ops.Not(),
    "LOGISTIC": ops.Sigmoid(),
    "NEG": ops.Neg(),
    "RELU": ops.Relu(),
    "RELU6": ops.Clip(0.0, 6.0),
    "RELU_0_TO_1": ops.Clip(0.0, 1.0),
    "RELU_N1_TO_1": ops.Clip(-1.0, 1.0),
    "ROUND": ops.Round(),
    "RSQRT": ops.Rsqrt(),
    "SIGN": ops.Sign(),
    "SIN": ops.Sin(),
    "SQRT": ops.Sqrt(),
    "SQUARE": ops.Square(),
    "TANH": ops.Tanh(),
    "ELU": ops.Elu(),
    "STABLEHLO_ABS": ops.Abs(),
    "STABLEHLO_COSINE": ops.Cos(),
    "STABLEHLO_EXPONENTIAL": ops.Exp(),
    "STABLEHLO_FLOOR": ops.Floor(),
    "STABLEHLO_LOG": ops.Log(),
    "STABLEHLO_LOGISTIC": ops.Sigmoid(),
    "STABLEHLO_NEGATE": ops.Neg(),
    "STABLEHLO_RSQRT": ops.Rsqrt(),
    "STABLEHLO_TANH": ops.Tanh(),
}

_BINARY: dict[str, tuple[Operator, str | None]] = {
    "ADD": (ops.Add(), "AddOptions"),
    "ATAN2": (ops.Atan2(), None),
    "DIV": (ops.Div(), "DivOptions"),
    "EQUAL": (ops.Equal(), None),
    "FLOOR_DIV": (ops.FloorDiv(), None),
    "FLOOR_MOD": (ops.Mod(), None),
    "GREATER": (ops.Greater(), None),
    "GREATER_EQUAL": (ops.GreaterOrEqual(), None),
    "LESS": (ops.Less(), None),
    "LESS_EQUAL": (ops.LessOrEqual(), None),
    "LOGICAL_AND": (ops.And(), None),
    "LOGICAL_OR": (ops.Or(), None),
    "MAXIMUM": (ops.Max(), None),
    "MINIMUM": (ops.Min(), None),
    "MUL": (ops.Mul(), "MulOptions"),
    "NOT_EQUAL": (ops.NotEqual(), None),
    "POW": (ops.Pow(), None),
    "PRELU": (ops.PRelu(), None),
    "SQUARED_DIFFERENCE": (ops.SquaredDifference(), None),
    "SUB": (ops.Sub(), "SubOptions"),
    "STABLEHLO_ADD": (ops.Add(), None),
    "STABLEHLO_DIVIDE": (ops.Div(), None),
    "STABLEHLO_MAXIMUM": (ops.Max(), None),
    "STABLEHLO_MINIMUM": (ops.Min(), None),
    "STABLEHLO_MULTIPLY": (ops.Mul(), None),
    "STABLEHLO_POWER": (ops.Pow(), None),
    "STABLEHLO_REMAINDER": (ops.Mod(fmod=True), None),
    "STABLEHLO_SUBTRACT": (ops.Sub(), None),
}
"""Operator and the option table that holds a fused activation."""


def _unary(op: Operator, ctx: Context) -> Value:
    return ctx.emit(op, ctx.value(0))


def _binary(op: Operator, options: str | None, ctx: Context) -> Value:
    value = ctx.emit(op, ctx.value(0), ctx.value(1))
    return value if options is None else activate(ctx, value, ctx.options(options))


for _name, _op in _UNARY.items():
    handles(_name)(partial(_unary, _op))
for _name, (_op, _options) in _BINARY.items():
    handles(_name)(partial(_binary, _op, _options))


@handles("LEAKY_RELU")
def leaky_relu(ctx: Context) -> Value:
    """x, or alpha x where it is negative."""
    return ctx.emit(ops.LeakyRelu(ctx.options("LeakyReluOptions").number("Alpha")), ctx.value(0))


@handles("GELU")
def gelu(ctx: Context) -> Value:
    """Gaussian error linear unit, exact or by tanh."""
    approximate = ctx.options("GeluOptions").flag("Approximate")
    return ctx.emit(ops.Gelu("tanh" if approximate else "none"), ctx.value(0))


@handles("ADD_N")
def add_n(ctx: Context) -> Value:
    """Sum of all operands."""
    total = ctx.value(0)
    for value in ctx.values(1):
        total = ctx.emit(ops.Add(), total, value)
    return total


@handles("BITWISE_XOR")
def bitwise_xor(ctx: Context) -> Value:
    """Exclusive or of integers' bits, or of bools."""
    a, b = ctx.value(0), ctx.value(1)
    return ctx.emit(ops.BitwiseXor() if a.dtype.is_integer else ops.Xor(), a, b)


@handles("RIGHT_SHIFT")
def right_shift(ctx: Context) -> Value:
    """a shifted right by b bits; signed integers keep their sign."""
    return ctx.emit(ops.BitShift(left=False), ctx.value(0), ctx.value(1))


@handles("CAST", "STABLEHLO_CONVERT")
def cast(ctx: Context) -> Value:
    """x in the result's element type; of quantised tensors the stored integers."""
    dtype, x = ctx.output_dtype(), ctx.stored(0)
    return x if x.dtype == dtype else ctx.emit(ops.Cast(dtype), x)


@handles("SELECT")
def select(ctx: Context) -> Value:
    """x where the condition holds, else y; a condition of rank 1 chooses whole rows."""
    condition, x, y = ctx.value(0), ctx.value(1), ctx.value(2)
    if condition.type.rank == 1 and x.type.rank > 1:
        if condition.shape[0] != x.shape[0]:
            raise ShapeError(f"a condition of {condition.shape[0]} does not choose among {x.shape[0]} rows")
        condition = ctx.emit(ops.Reshape((condition.shape[0], *[1] * (x.type.rank - 1))), condition)
    return ctx.emit(ops.Where(), condition, x, y)


@handles("SELECT_V2", "STABLEHLO_SELECT")
def select_v2(ctx: Context) -> Value:
    """x where the condition holds, else y, broadcast."""
    return ctx.emit(ops.Where(), ctx.value(0), ctx.value(1), ctx.value(2))


@handles("STABLEHLO_CLAMP")
def clamp(ctx: Context) -> Value:
    """Operands: least, x, greatest."""
    low = ctx.emit(ops.Max(), ctx.value(1), ctx.value(0))
    return ctx.emit(ops.Min(), low, ctx.value(2))


@handles("STABLEHLO_AND", "STABLEHLO_OR")
def logical_or_bitwise(ctx: Context) -> Value:
    """And, or: of bools logical, of integers bitwise."""
    a, b = ctx.value(0), ctx.value(1)
    is_and = ctx.operator.name.endswith("AND")
    if a.dtype.is_integer:
        return ctx.emit(ops.BitwiseAnd() if is_and else ops.BitwiseOr(), a, b)
    return ctx.emit(ops.And() if is_and else ops.Or(), a, b)


_COMPARISONS: dict[int, Operator] = {
    tflite.StablehloComparisonDirection.STABLEHLO_COMPARISON_DIRECTION_EQ: ops.Equal(),
    tflite.StablehloComparisonDirection.STABLEHLO_COMPARISON_DIRECTION_NE: ops.NotEqual(),
    tflite.StablehloComparisonDirection.STABLEHLO_COMPARISON_DIRECTION_GE: ops.GreaterOrEqual(),
    tflite.StablehloComparisonDirection.STABLEHLO_COMPARISON_DIRECTION_GT: ops.Greater(),
    tflite.StablehloComparisonDirection.STABLEHLO_COMPARISON_DIRECTION_LE: ops.LessOrEqual(),
    tflite.StablehloComparisonDirection.STABLEHLO_COMPARISON_DIRECTION_LT: ops.Less(),
}


@handles("STABLEHLO_COMPARE")
def compare(ctx: Context) -> Value:
    """One of six comparisons."""
    direction = ctx.options("StablehloCompareOptions").integer("ComparisonDirection")
    if direction not in _COMPARISONS:
        raise UnsupportedError(f"comparison direction {direction} is not known")
    return ctx.emit(_COMPARISONS[direction], ctx.value(0), ctx.value(1))
