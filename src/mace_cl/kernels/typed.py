"""Elementwise operators on every stored element type, one element at a time: integers, bools, halves, mixed types."""

from __future__ import annotations

import math
from dataclasses import dataclass

from mace_cl.graph.ops import (
    Abs,
    Add,
    And,
    BitShift,
    BitwiseAnd,
    BitwiseNot,
    BitwiseOr,
    BitwiseXor,
    Cast,
    Clip,
    Div,
    Equal,
    FloorDiv,
    Greater,
    GreaterOrEqual,
    IsInf,
    IsNaN,
    Less,
    LessOrEqual,
    Max,
    Min,
    Mod,
    Mul,
    Neg,
    Not,
    NotEqual,
    Or,
    PRelu,
    Relu,
    Sign,
    Square,
    SquaredDifference,
    Sub,
    Where,
    Xor,
)
from mace_cl.graph.ops.base import Operator
from mace_cl.kernels.expression import SNIPPETS, supports
from mace_cl.types import DataType

INTEGER_LIMITS = {
    t: (-(1 << (8 * t.itemsize - 1)), (1 << (8 * t.itemsize - 1)) - 1)
    if t.value.startswith("int")
    else (0, (1 << (8 * t.itemsize)) - 1)
    for t in DataType
    if t.is_integer
}


@dataclass(frozen=True)
class Typed:
    """An operator on element types: the OpenCL types that it computes in, and the expression.

    Attributes:
        operands: Type that each operand is computed in.
        result: Type of the result, before it is stored.
        text: The expression of x0, x1 ...
    """

    operands: tuple[str, ...]
    result: str
    text: str


def compute_type(dtype: DataType) -> str:
    """The type that elements are computed in: halves as float, bools as uchar."""
    return "float" if dtype is DataType.FLOAT16 else dtype.opencl


def typed(op: Operator, inputs: tuple[DataType, ...], output: DataType) -> Typed | None:
    """The operator on these types, or None where it has no expression."""
    types = tuple(compute_type(t) for t in inputs)
    if isinstance(op, Cast):
        return Typed(types, compute_type(output), _cast(inputs[0], output))
    x = inputs[0]
    common = _COMPARISONS.get(type(op))
    if common is not None:
        return Typed(types, "uchar", common)
    if isinstance(op, Where):
        return Typed(types, compute_type(output), "x0 ? x1 : x2")
    if isinstance(op, IsInf):
        signs = [f"x0 == {s}INFINITY" for s, on in (("", op.detect_positive), ("-", op.detect_negative)) if on]
        return Typed(types, "uchar", " || ".join(signs) or "0")
    if x.is_float:
        if not supports(op):
            return None
        text = SNIPPETS[type(op)](op, [f"x{i}" for i in range(len(inputs))]).replace("(T)", f"({types[0]})")
        if x is DataType.FLOAT64 and "f)" in text:
            return None
        return Typed(types, compute_type(output), text)
    made = _integer(op, x)
    return None if made is None else Typed(types, compute_type(output), made)


_COMPARISONS: dict[type[Operator], str] = {
    Equal: "x0 == x1",
    NotEqual: "x0 != x1",
    Greater: "x0 > x1",
    GreaterOrEqual: "x0 >= x1",
    Less: "x0 < x1",
    LessOrEqual: "x0 <= x1",
    And: "x0 && x1",
    Or: "x0 || x1",
    Xor: "!x0 != !x1",
    Not: "!x0",
    IsNaN: "x0 != x0",
}


def _cast(source: DataType, target: DataType) -> str:
    """From floats to integers through a wide integer, so that nothing is undefined within its range."""
    to = compute_type(target)
    if target is DataType.BOOL:
        return "x0 != 0"
    if source.is_float and target.is_integer:
        wide = "ulong" if target is DataType.UINT64 else "long"
        return f"({to})convert_{wide}_sat_rtz(x0)"
    return f"({to})x0"


def _bounds(op: Operator, dtype: DataType) -> tuple[str, str]:
    assert isinstance(op, Clip)
    low, high = INTEGER_LIMITS[dtype]
    below = low if op.low == -math.inf else max(low, math.ceil(op.low))
    above = high if op.high == math.inf else min(high, math.floor(op.high))
    return integer_literal(below, dtype), integer_literal(above, dtype)


def integer_literal(value: int, dtype: DataType) -> str:
    """An integer constant of a type; the least long has no literal of its own."""
    if value == INTEGER_LIMITS[DataType.INT64][0]:
        return "LONG_MIN"
    suffix = "UL" if not dtype.value.startswith("int") else "L"
    return f"(({dtype.opencl}){value}{suffix})"


_INTEGERS: dict[type[Operator], str] = {
    Abs: "{abs}",
    Add: "x0 + x1",
    Sub: "x0 - x1",
    Mul: "x0 * x1",
    Div: "x1 == 0 ? 0 : {safe_div}",
    FloorDiv: "x1 == 0 ? 0 : {floor_div}",
    Max: "x0 > x1 ? x0 : x1",
    Min: "x0 < x1 ? x0 : x1",
    Neg: "-x0",
    Relu: "x0 < 0 ? 0 : x0",
    PRelu: "x0 < 0 ? x0 * x1 : x0",
    Sign: "(x0 > 0) - (x0 < 0)",
    Square: "x0 * x0",
    SquaredDifference: "(x0 - x1) * (x0 - x1)",
    BitwiseAnd: "x0 & x1",
    BitwiseOr: "x0 | x1",
    BitwiseXor: "x0 ^ x1",
    BitwiseNot: "~x0",
}


def _integer(op: Operator, dtype: DataType) -> str | None:
    """The expression on integers. Division by zero gives 0 instead of a trap."""
    signed = dtype.value.startswith("int")
    if dtype is DataType.BOOL:
        return None
    if isinstance(op, Clip):
        low, high = _bounds(op, dtype)
        return f"x0 < {low} ? {low} : (x0 > {high} ? {high} : x0)"
    if isinstance(op, BitShift):
        bits = 8 * dtype.itemsize
        outside = f"x1 >= {bits}" + (" || x1 < 0" if signed else "")
        gone = "x0 < 0 ? -1 : 0" if signed and not op.left else "0"
        return f"({outside}) ? ({gone}) : (x0 {'<<' if op.left else '>>'} x1)"
    if isinstance(op, Mod):
        rest = "(x1 == -1 ? 0 : x0 % x1)" if signed else "x0 % x1"
        if op.fmod or not signed:
            return f"x1 == 0 ? 0 : {rest}"
        return f"x1 == 0 ? 0 : ({rest} != 0 && (x0 < 0) != (x1 < 0) ? {rest} + x1 : {rest})"
    text = _INTEGERS.get(type(op))
    if text is None:
        return None
    # The least number divided by -1 overflows, which traps on x86.
    divided = "(x1 == -1 ? -x0 : x0 / x1)" if signed else "x0 / x1"
    floor = f"({divided} - (x1 != -1 && x0 % x1 != 0 && (x0 < 0) != (x1 < 0)))" if signed else divided
    return text.format(abs="x0 < 0 ? -x0 : x0" if signed else "x0", safe_div=divided, floor_div=floor)
