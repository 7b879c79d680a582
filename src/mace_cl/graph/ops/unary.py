"""Elementwise operators of one input."""

from __future__ import annotations

from dataclasses import dataclass

from mace_cl.graph.ops.base import Operator
from mace_cl.types import DataType


@dataclass(frozen=True)
class Abs(Operator):
    """|x|."""

    elementwise = True


@dataclass(frozen=True)
class Neg(Operator):
    """-x."""

    elementwise = True


@dataclass(frozen=True)
class Exp(Operator):
    """e to the x."""

    elementwise = True


@dataclass(frozen=True)
class Log(Operator):
    """Natural logarithm."""

    elementwise = True


@dataclass(frozen=True)
class Sqrt(Operator):
    """Square root."""

    elementwise = True


@dataclass(frozen=True)
class Rsqrt(Operator):
    """1 / sqrt(x)."""

    elementwise = True


@dataclass(frozen=True)
class Reciprocal(Operator):
    """1 / x."""

    elementwise = True


@dataclass(frozen=True)
class Square(Operator):
    """x x."""

    elementwise = True


@dataclass(frozen=True)
class Floor(Operator):
    """Greatest integer at most x."""

    elementwise = True


@dataclass(frozen=True)
class Ceil(Operator):
    """Least integer at least x."""

    elementwise = True


@dataclass(frozen=True)
class Round(Operator):
    """Nearest integer, halves to even."""

    elementwise = True


@dataclass(frozen=True)
class Sign(Operator):
    """-1, 0 or 1."""

    elementwise = True


@dataclass(frozen=True)
class Erf(Operator):
    """Error function."""

    elementwise = True


@dataclass(frozen=True)
class Sin(Operator):
    """Sine."""

    elementwise = True


@dataclass(frozen=True)
class Cos(Operator):
    """Cosine."""

    elementwise = True


@dataclass(frozen=True)
class Tan(Operator):
    """Tangent."""

    elementwise = True


@dataclass(frozen=True)
class Asin(Operator):
    """Inverse sine."""

    elementwise = True


@dataclass(frozen=True)
class Acos(Operator):
    """Inverse cosine."""

    elementwise = True


@dataclass(frozen=True)
class Atan(Operator):
    """Inverse tangent."""

    elementwise = True


@dataclass(frozen=True)
class Sinh(Operator):
    """Hyperbolic sine."""

    elementwise = True


@dataclass(frozen=True)
class Cosh(Operator):
    """Hyperbolic cosine."""

    elementwise = True


@dataclass(frozen=True)
class Asinh(Operator):
    """Inverse hyperbolic sine."""

    elementwise = True


@dataclass(frozen=True)
class Acosh(Operator):
    """Inverse hyperbolic cosine."""

    elementwise = True


@dataclass(frozen=True)
class Atanh(Operator):
    """Inverse hyperbolic tangent."""

    elementwise = True


@dataclass(frozen=True)
class Not(Operator):
    """Logical not of a bool."""

    elementwise = True


@dataclass(frozen=True)
class BitwiseNot(Operator):
    """Every bit of an integer flipped."""

    elementwise = True


@dataclass(frozen=True)
class IsNaN(Operator):
    """bool: whether x is not a number."""

    elementwise = True


@dataclass(frozen=True)
class IsInf(Operator):
    """bool: whether x is infinite, by sign."""

    detect_negative: bool = True
    detect_positive: bool = True

    elementwise = True


@dataclass(frozen=True)
class Cast(Operator):
    """x in another type: to integers by truncation toward zero, to bool by x != 0."""

    to: DataType = DataType.FLOAT32

    elementwise = True
