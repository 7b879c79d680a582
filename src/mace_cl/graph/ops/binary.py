"""Elementwise operators of two or three inputs, with NumPy's broadcasting."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mace_cl.graph.ops.base import Arrays, Operator, Types, need, need_array
from mace_cl.graph.ops.broadcast import (
    ANY,
    BOOLS,
    FLOATS,
    INTEGERS,
    NUMBERS,
    broadcast_shapes,
    check_kind,
    check_same_dtype,
)
from mace_cl.graph.ops.elementwise import BinaryElementwise
from mace_cl.types import TensorType


@dataclass(frozen=True)
class Add(BinaryElementwise):
    """a + b."""

    ufunc = np.add


@dataclass(frozen=True)
class Sub(BinaryElementwise):
    """a - b."""

    ufunc = np.subtract


@dataclass(frozen=True)
class Mul(BinaryElementwise):
    """a b."""

    ufunc = np.multiply


@dataclass(frozen=True)
class Div(BinaryElementwise):
    """a / b; for integers truncated toward zero, as in C (0 where b is 0)."""

    def _compute(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        if a.dtype.kind == "f":
            return np.asarray(np.divide(a, b))
        floored = np.floor_divide(a, b)
        inexact_negative = (np.remainder(a, b) != 0) & ((a < 0) != (b < 0))
        return np.asarray(floored + inexact_negative.astype(floored.dtype))


@dataclass(frozen=True)
class FloorDiv(BinaryElementwise):
    """floor(a / b) (TFLite)."""

    flop_per_element = 2

    def _compute(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        # NumPy's own floor_divide of floats goes through the remainder: 1 // 0.1 is 9, floor(1 / 0.1) is 10.
        return np.asarray(np.floor(np.divide(a, b)) if a.dtype.kind == "f" else np.floor_divide(a, b))


@dataclass(frozen=True)
class Pow(BinaryElementwise):
    """a to the b, in a's type; b may be of another type."""

    flop_per_element = 2

    def infer(self, inputs: Types) -> tuple[TensorType, ...]:
        """The broadcast shape in a's type."""
        a, b = need(inputs, 0, self), need(inputs, 1, self)
        check_kind(a, NUMBERS, self, 0)
        check_kind(b, NUMBERS, self, 1)
        return (TensorType(a.dtype, broadcast_shapes(a.shape, b.shape)),)

    def _compute(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        if a.dtype.kind == "f":
            return np.asarray(np.power(a, b.astype(a.dtype)))
        if b.dtype.kind == "f":
            return np.power(a.astype(np.float64), b.astype(np.float64)).astype(a.dtype)
        # 1 / a^-b truncates to 0 but for a = 1 and a = -1, whose odd and even powers are those of |b|.
        exponent = np.abs(b.astype(np.int64))
        result = _integer_power(a, exponent)
        return np.where((b < 0) & (np.abs(a) != 1), a.dtype.type(0), result)


def _integer_power(a: np.ndarray, exponent: np.ndarray) -> np.ndarray:
    """Power with an exponent of at least 0, wrapping as a's type does."""
    result = np.ones(np.broadcast_shapes(a.shape, exponent.shape), a.dtype)
    square = a.copy()
    while exponent.any():
        result = np.where(exponent & 1, result * square, result)
        square, exponent = square * square, exponent >> 1
    return result


@dataclass(frozen=True)
class Max(BinaryElementwise):
    """The greater one; NaN wins."""

    ufunc = np.maximum


@dataclass(frozen=True)
class Min(BinaryElementwise):
    """The lesser one; NaN wins."""

    ufunc = np.minimum


@dataclass(frozen=True)
class SquaredDifference(BinaryElementwise):
    """(a - b) squared."""

    flop_per_element = 2

    def _compute(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        difference = np.subtract(a, b)
        return np.asarray(np.multiply(difference, difference))


@dataclass(frozen=True)
class Atan2(BinaryElementwise):
    """Angle of the point (b, a)."""

    takes = FLOATS

    ufunc = np.arctan2


@dataclass(frozen=True)
class And(BinaryElementwise):
    """Logical and of bools."""

    takes = BOOLS

    ufunc = np.logical_and


@dataclass(frozen=True)
class Or(BinaryElementwise):
    """Logical or of bools."""

    takes = BOOLS

    ufunc = np.logical_or


@dataclass(frozen=True)
class Xor(BinaryElementwise):
    """Logical exclusive or of bools."""

    takes = BOOLS

    ufunc = np.logical_xor


@dataclass(frozen=True)
class BitwiseAnd(BinaryElementwise):
    """Bitwise and of integers."""

    takes = INTEGERS

    ufunc = np.bitwise_and


@dataclass(frozen=True)
class BitwiseOr(BinaryElementwise):
    """Bitwise or of integers."""

    takes = INTEGERS

    ufunc = np.bitwise_or


@dataclass(frozen=True)
class BitwiseXor(BinaryElementwise):
    """Bitwise exclusive or of integers."""

    takes = INTEGERS

    ufunc = np.bitwise_xor


@dataclass(frozen=True)
class Equal(BinaryElementwise):
    """bool: a == b."""

    takes = ANY
    returns_bool = True

    ufunc = np.equal


@dataclass(frozen=True)
class NotEqual(BinaryElementwise):
    """bool: a != b."""

    takes = ANY
    returns_bool = True

    ufunc = np.not_equal


@dataclass(frozen=True)
class Greater(BinaryElementwise):
    """bool: a > b."""

    returns_bool = True

    ufunc = np.greater


@dataclass(frozen=True)
class GreaterOrEqual(BinaryElementwise):
    """bool: a >= b."""

    returns_bool = True

    ufunc = np.greater_equal


@dataclass(frozen=True)
class Less(BinaryElementwise):
    """bool: a < b."""

    returns_bool = True

    ufunc = np.less


@dataclass(frozen=True)
class LessOrEqual(BinaryElementwise):
    """bool: a <= b."""

    returns_bool = True

    ufunc = np.less_equal


@dataclass(frozen=True)
class Mod(BinaryElementwise):
    """Remainder: with the sign of b (fmod False) or of a (fmod True). Of integers by 0 it is 0."""

    fmod: bool = False

    def _compute(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.asarray(np.fmod(a, b) if self.fmod else np.remainder(a, b))


@dataclass(frozen=True)
class BitShift(BinaryElementwise):
    """a shifted by b bits; signed numbers keep their sign to the right. A negative b shifts by more than all bits."""

    left: bool = True

    takes = INTEGERS

    def _compute(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        if self.left:
            return np.asarray(np.left_shift(a, b))
        return np.asarray(np.right_shift(a, b))


@dataclass(frozen=True)
class Where(Operator):
    """b where the bool a is true, else c."""

    n_inputs = (3, 3)
    elementwise = True

    def infer(self, inputs: Types) -> tuple[TensorType, ...]:
        """The three inputs' broadcast shape in the type of b and c."""
        a, b, c = (need(inputs, i, self) for i in range(3))
        check_kind(a, BOOLS, self, 0)
        check_same_dtype({1: b, 2: c}, self)
        return (b.with_shape(broadcast_shapes(a.shape, b.shape, c.shape)),)

    def reference(self, inputs: Arrays) -> tuple[np.ndarray, ...]:
        """NumPy's where."""
        a, b, c = (need_array(inputs, i, self) for i in range(3))
        return (np.where(a, b, c),)
