"""Elementwise operators of two or three inputs, with NumPy's broadcasting."""

from __future__ import annotations

from dataclasses import dataclass

from mace_cl.graph.ops.base import Operator


@dataclass(frozen=True)
class Add(Operator):
    """a + b."""

    n_inputs = (2, 2)
    elementwise = True


@dataclass(frozen=True)
class Sub(Operator):
    """a - b."""

    n_inputs = (2, 2)
    elementwise = True


@dataclass(frozen=True)
class Mul(Operator):
    """a b."""

    n_inputs = (2, 2)
    elementwise = True


@dataclass(frozen=True)
class Div(Operator):
    """a / b; for integers truncated toward zero, as in C."""

    n_inputs = (2, 2)
    elementwise = True


@dataclass(frozen=True)
class FloorDiv(Operator):
    """floor(a / b) (TFLite)."""

    n_inputs = (2, 2)
    elementwise = True


@dataclass(frozen=True)
class Pow(Operator):
    """a to the b, in a's type."""

    n_inputs = (2, 2)
    elementwise = True


@dataclass(frozen=True)
class Max(Operator):
    """The greater one; NaN wins."""

    n_inputs = (2, 2)
    elementwise = True


@dataclass(frozen=True)
class Min(Operator):
    """The lesser one; NaN wins."""

    n_inputs = (2, 2)
    elementwise = True


@dataclass(frozen=True)
class SquaredDifference(Operator):
    """(a - b) squared."""

    n_inputs = (2, 2)
    elementwise = True


@dataclass(frozen=True)
class Atan2(Operator):
    """Angle of the point (b, a)."""

    n_inputs = (2, 2)
    elementwise = True


@dataclass(frozen=True)
class And(Operator):
    """Logical and of bools."""

    n_inputs = (2, 2)
    elementwise = True


@dataclass(frozen=True)
class Or(Operator):
    """Logical or of bools."""

    n_inputs = (2, 2)
    elementwise = True


@dataclass(frozen=True)
class Xor(Operator):
    """Logical exclusive or of bools."""

    n_inputs = (2, 2)
    elementwise = True


@dataclass(frozen=True)
class BitwiseAnd(Operator):
    """Bitwise and of integers."""

    n_inputs = (2, 2)
    elementwise = True


@dataclass(frozen=True)
class BitwiseOr(Operator):
    """Bitwise or of integers."""

    n_inputs = (2, 2)
    elementwise = True


@dataclass(frozen=True)
class BitwiseXor(Operator):
    """Bitwise exclusive or of integers."""

    n_inputs = (2, 2)
    elementwise = True


@dataclass(frozen=True)
class Equal(Operator):
    """bool: a == b."""

    n_inputs = (2, 2)
    elementwise = True


@dataclass(frozen=True)
class NotEqual(Operator):
    """bool: a != b."""

    n_inputs = (2, 2)
    elementwise = True


@dataclass(frozen=True)
class Greater(Operator):
    """bool: a > b."""

    n_inputs = (2, 2)
    elementwise = True


@dataclass(frozen=True)
class GreaterOrEqual(Operator):
    """bool: a >= b."""

    n_inputs = (2, 2)
    elementwise = True


@dataclass(frozen=True)
class Less(Operator):
    """bool: a < b."""

    n_inputs = (2, 2)
    elementwise = True


@dataclass(frozen=True)
class LessOrEqual(Operator):
    """bool: a <= b."""

    n_inputs = (2, 2)
    elementwise = True


@dataclass(frozen=True)
class Mod(Operator):
    """Remainder: with the sign of b (fmod False) or of a (fmod True)."""

    fmod: bool = False

    n_inputs = (2, 2)
    elementwise = True


@dataclass(frozen=True)
class BitShift(Operator):
    """a shifted by b bits, logically."""

    left: bool = True

    n_inputs = (2, 2)
    elementwise = True


@dataclass(frozen=True)
class Where(Operator):
    """b where the bool a is true, else c."""

    n_inputs = (3, 3)
    elementwise = True
