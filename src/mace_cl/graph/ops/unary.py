"""Elementwise operators of one input."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mace_cl.graph.ops.base import Arrays, Types, need, need_array
from mace_cl.graph.ops.broadcast import BOOLS, INTEGERS
from mace_cl.graph.ops.elementwise import FloatElementwise, UnaryElementwise
from mace_cl.graph.ops.erf import erf
from mace_cl.types import DataType, TensorType


@dataclass(frozen=True)
class Abs(UnaryElementwise):
    """|x|."""

    ufunc = np.abs


@dataclass(frozen=True)
class Neg(UnaryElementwise):
    """-x."""

    ufunc = np.negative


@dataclass(frozen=True)
class Exp(FloatElementwise):
    """e to the x."""

    ufunc = np.exp


@dataclass(frozen=True)
class Log(FloatElementwise):
    """Natural logarithm."""

    ufunc = np.log


@dataclass(frozen=True)
class Sqrt(FloatElementwise):
    """Square root."""

    ufunc = np.sqrt


@dataclass(frozen=True)
class Rsqrt(FloatElementwise):
    """1 / sqrt(x)."""

    flop_per_element = 2

    def _compute(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(np.reciprocal(np.sqrt(x)))


@dataclass(frozen=True)
class Reciprocal(FloatElementwise):
    """1 / x."""

    ufunc = np.reciprocal


@dataclass(frozen=True)
class Square(UnaryElementwise):
    """x x."""

    def _compute(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(np.multiply(x, x))


@dataclass(frozen=True)
class Floor(FloatElementwise):
    """Greatest integer at most x."""

    ufunc = np.floor


@dataclass(frozen=True)
class Ceil(FloatElementwise):
    """Least integer at least x."""

    ufunc = np.ceil


@dataclass(frozen=True)
class Round(FloatElementwise):
    """Nearest integer, halves to even."""

    ufunc = np.rint


@dataclass(frozen=True)
class Sign(UnaryElementwise):
    """-1, 0 or 1."""

    ufunc = np.sign


@dataclass(frozen=True)
class Erf(FloatElementwise):
    """Error function."""

    flop_per_element = 10

    def _compute(self, x: np.ndarray) -> np.ndarray:
        return erf(x.astype(np.float64))


@dataclass(frozen=True)
class Sin(FloatElementwise):
    """Sine."""

    ufunc = np.sin


@dataclass(frozen=True)
class Cos(FloatElementwise):
    """Cosine."""

    ufunc = np.cos


@dataclass(frozen=True)
class Tan(FloatElementwise):
    """Tangent."""

    ufunc = np.tan


@dataclass(frozen=True)
class Asin(FloatElementwise):
    """Inverse sine."""

    ufunc = np.arcsin


@dataclass(frozen=True)
class Acos(FloatElementwise):
    """Inverse cosine."""

    ufunc = np.arccos


@dataclass(frozen=True)
class Atan(FloatElementwise):
    """Inverse tangent."""

    ufunc = np.arctan


@dataclass(frozen=True)
class Sinh(FloatElementwise):
    """Hyperbolic sine."""

    ufunc = np.sinh


@dataclass(frozen=True)
class Cosh(FloatElementwise):
    """Hyperbolic cosine."""

    ufunc = np.cosh


@dataclass(frozen=True)
class Asinh(FloatElementwise):
    """Inverse hyperbolic sine."""

    ufunc = np.arcsinh


@dataclass(frozen=True)
class Acosh(FloatElementwise):
    """Inverse hyperbolic cosine."""

    ufunc = np.arccosh


@dataclass(frozen=True)
class Atanh(FloatElementwise):
    """Inverse hyperbolic tangent."""

    ufunc = np.arctanh


@dataclass(frozen=True)
class Not(UnaryElementwise):
    """Logical not of a bool."""

    takes = BOOLS

    ufunc = np.logical_not


@dataclass(frozen=True)
class BitwiseNot(UnaryElementwise):
    """Every bit of an integer flipped."""

    takes = INTEGERS

    ufunc = np.invert


@dataclass(frozen=True)
class IsNaN(FloatElementwise):
    """bool: whether x is not a number."""

    returns_bool = True

    ufunc = np.isnan


@dataclass(frozen=True)
class IsInf(FloatElementwise):
    """bool: whether x is infinite, by sign."""

    detect_negative: bool = True
    detect_positive: bool = True

    returns_bool = True

    def _compute(self, x: np.ndarray) -> np.ndarray:
        wanted = np.where(x < 0, self.detect_negative, self.detect_positive)
        return np.asarray(np.isinf(x) & wanted)


@dataclass(frozen=True)
class Cast(UnaryElementwise):
    """x in another type: to integers by truncation toward zero, to bool by x != 0."""

    to: DataType = DataType.FLOAT32

    def infer(self, inputs: Types) -> tuple[TensorType, ...]:
        """The input's shape in the type `to`."""
        return (TensorType(self.to, need(inputs, 0, self).shape),)

    def reference(self, inputs: Arrays) -> tuple[np.ndarray, ...]:
        """NumPy's conversion; what a type cannot hold is undefined."""
        with np.errstate(all="ignore"):
            return (np.asarray(need_array(inputs, 0, self)).astype(self.to.numpy),)
