"""Activation functions, elementwise."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mace_cl.errors import ShapeError
from mace_cl.graph.ops.base import Types, need
from mace_cl.graph.ops.elementwise import BinaryElementwise, FloatElementwise, UnaryElementwise
from mace_cl.graph.ops.erf import erf
from mace_cl.types import TensorType


@dataclass(frozen=True)
class Relu(UnaryElementwise):
    """max(x, 0)."""

    def _compute(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(np.maximum(x, 0))


@dataclass(frozen=True)
class LeakyRelu(FloatElementwise):
    """x where x >= 0, else alpha x."""

    alpha: float = 0.01

    def _compute(self, x: np.ndarray) -> np.ndarray:
        return np.where(x < 0, self.alpha * x, x)


@dataclass(frozen=True)
class PRelu(BinaryElementwise):
    """x where x >= 0, else slope x; slope (input 1) broadcasts to x."""

    def infer(self, inputs: Types) -> tuple[TensorType, ...]:
        """The type of x."""
        x, slope = need(inputs, 0, self), need(inputs, 1, self)
        (result,) = super().infer(inputs)
        if result.shape != x.shape:
            raise ShapeError(f"slope {list(slope.shape)} does not broadcast to x {list(x.shape)}", where=self.name)
        return (result,)

    def _compute(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.where(a < 0, b * a, a)


@dataclass(frozen=True)
class Clip(UnaryElementwise):
    """x limited to [low, high]; infinite where there is no limit. For integers the limits are exact."""

    low: float = -math.inf
    high: float = math.inf

    flop_per_element = 2

    def infer(self, inputs: Types) -> tuple[TensorType, ...]:
        """The input's type."""
        if math.isnan(self.low) or math.isnan(self.high):
            raise ShapeError("a limit is not a number", where=self.name)
        return super().infer(inputs)

    def _compute(self, x: np.ndarray) -> np.ndarray:
        if x.dtype.kind == "f":
            kind = x.dtype.type
            return np.asarray(np.minimum(np.maximum(x, kind(self.low)), kind(self.high)))
        info = np.iinfo(x.dtype)
        low = info.min if self.low == -math.inf else _ceil(self.low, info)
        high = info.max if self.high == math.inf else _floor(self.high, info)
        return np.asarray(np.minimum(np.maximum(x, x.dtype.type(low)), x.dtype.type(high)))


def _ceil(limit: float, info: np.iinfo) -> int:
    return info.max if limit >= info.max else max(math.ceil(limit), info.min)


def _floor(limit: float, info: np.iinfo) -> int:
    return info.min if limit <= info.min else min(math.floor(limit), info.max)


@dataclass(frozen=True)
class Sigmoid(FloatElementwise):
    """1 / (1 + exp(-x))."""

    flop_per_element = 3

    def _compute(self, x: np.ndarray) -> np.ndarray:
        return _sigmoid(x)


def _sigmoid(x: np.ndarray) -> np.ndarray:
    # exp(-x) overflows to infinity for very negative x, which gives the right limit 0.
    return np.asarray(np.reciprocal(1 + np.exp(-x)))


@dataclass(frozen=True)
class Tanh(FloatElementwise):
    """Hyperbolic tangent."""

    flop_per_element = 4

    ufunc = np.tanh


@dataclass(frozen=True)
class HardSigmoid(FloatElementwise):
    """max(0, min(1, alpha x + beta))."""

    alpha: float = 0.2
    beta: float = 0.5

    flop_per_element = 4

    def _compute(self, x: np.ndarray) -> np.ndarray:
        return np.clip(self.alpha * x + self.beta, 0, 1)


@dataclass(frozen=True)
class HardSwish(FloatElementwise):
    """x max(0, min(1, x/6 + 1/2))."""

    flop_per_element = 5

    def _compute(self, x: np.ndarray) -> np.ndarray:
        return x * np.clip(x / 6 + 0.5, 0, 1)


@dataclass(frozen=True)
class Silu(FloatElementwise):
    """x sigmoid(alpha x) (Swish)."""

    alpha: float = 1.0

    flop_per_element = 4

    def _compute(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(x * _sigmoid(self.alpha * x))


@dataclass(frozen=True)
class Mish(FloatElementwise):
    """x tanh(softplus(x))."""

    flop_per_element = 7

    def _compute(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(x * np.tanh(_softplus(x)))


@dataclass(frozen=True)
class Gelu(FloatElementwise):
    """Gaussian error linear unit; approximate is 'none' or 'tanh'."""

    approximate: str = "none"

    flop_per_element = 12

    def infer(self, inputs: Types) -> tuple[TensorType, ...]:
        """The input's type."""
        if self.approximate not in ("none", "tanh"):
            raise ShapeError(f"approximate is {self.approximate!r}, not 'none' or 'tanh'", where=self.name)
        return super().infer(inputs)

    def _compute(self, x: np.ndarray) -> np.ndarray:
        if self.approximate == "tanh":
            return np.asarray(0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x))))
        wide = x.astype(np.float64)
        return np.asarray(0.5 * wide * (1 + erf(wide / math.sqrt(2))))


@dataclass(frozen=True)
class Elu(FloatElementwise):
    """x where x >= 0, else alpha (exp(x) - 1)."""

    alpha: float = 1.0

    flop_per_element = 3

    def _compute(self, x: np.ndarray) -> np.ndarray:
        return np.where(x < 0, self.alpha * np.expm1(x), x)


@dataclass(frozen=True)
class Celu(FloatElementwise):
    """max(0, x) + min(0, alpha (exp(x/alpha) - 1))."""

    alpha: float = 1.0

    flop_per_element = 6

    def _compute(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(np.maximum(x, 0) + np.minimum(self.alpha * np.expm1(x / self.alpha), 0))


@dataclass(frozen=True)
class Selu(FloatElementwise):
    """gamma (x where x > 0, else alpha (exp(x) - 1))."""

    alpha: float = 1.67326319217681884765625
    gamma: float = 1.05070102214813232421875

    flop_per_element = 4

    def _compute(self, x: np.ndarray) -> np.ndarray:
        return self.gamma * np.where(x > 0, x, self.alpha * np.expm1(x))


@dataclass(frozen=True)
class Softplus(FloatElementwise):
    """log(1 + exp(x))."""

    flop_per_element = 3

    def _compute(self, x: np.ndarray) -> np.ndarray:
        return _softplus(x)


def _softplus(x: np.ndarray) -> np.ndarray:
    return np.asarray(np.logaddexp(x, x.dtype.type(0)))


@dataclass(frozen=True)
class Softsign(FloatElementwise):
    """x / (1 + |x|)."""

    flop_per_element = 3

    def _compute(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(x / (1 + np.abs(x)))


@dataclass(frozen=True)
class ThresholdedRelu(FloatElementwise):
    """x where x > alpha, else 0."""

    alpha: float = 1.0

    def _compute(self, x: np.ndarray) -> np.ndarray:
        return np.where(x > self.alpha, x, 0)


@dataclass(frozen=True)
class Shrink(UnaryElementwise):
    """x + bias where x < -lambd, x - bias where x > lambd, else 0."""

    bias: float = 0.0
    lambd: float = 0.5

    flop_per_element = 2

    def _compute(self, x: np.ndarray) -> np.ndarray:
        return np.where(x < -self.lambd, x + self.bias, np.where(x > self.lambd, x - self.bias, 0))
