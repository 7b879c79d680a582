"""Activation functions, elementwise."""

from __future__ import annotations

import math
from dataclasses import dataclass

from mace_cl.graph.ops.base import Operator


@dataclass(frozen=True)
class Relu(Operator):
    """max(x, 0)."""

    elementwise = True


@dataclass(frozen=True)
class LeakyRelu(Operator):
    """x where x >= 0, else alpha x."""

    alpha: float = 0.01

    elementwise = True


@dataclass(frozen=True)
class PRelu(Operator):
    """x where x >= 0, else slope x; slope (input 1) broadcasts to x."""

    n_inputs = (2, 2)
    elementwise = True


@dataclass(frozen=True)
class Clip(Operator):
    """x limited to [low, high]; infinite where there is no limit. For integers the limits are exact."""

    low: float = -math.inf
    high: float = math.inf

    elementwise = True


@dataclass(frozen=True)
class Sigmoid(Operator):
    """1 / (1 + exp(-x))."""

    elementwise = True


@dataclass(frozen=True)
class Tanh(Operator):
    """Hyperbolic tangent."""

    elementwise = True


@dataclass(frozen=True)
class HardSigmoid(Operator):
    """max(0, min(1, alpha x + beta))."""

    alpha: float = 0.2
    beta: float = 0.5

    elementwise = True


@dataclass(frozen=True)
class HardSwish(Operator):
    """x max(0, min(1, x/6 + 1/2))."""

    elementwise = True


@dataclass(frozen=True)
class Silu(Operator):
    """x sigmoid(alpha x) (Swish)."""

    alpha: float = 1.0

    elementwise = True


@dataclass(frozen=True)
class Mish(Operator):
    """x tanh(softplus(x))."""

    elementwise = True


@dataclass(frozen=True)
class Gelu(Operator):
    """Gaussian error linear unit; approximate is 'none' or 'tanh'."""

    approximate: str = 'none'

    elementwise = True


@dataclass(frozen=True)
class Elu(Operator):
    """x where x >= 0, else alpha (exp(x) - 1)."""

    alpha: float = 1.0

    elementwise = True


@dataclass(frozen=True)
class Celu(Operator):
    """max(0, x) + min(0, alpha (exp(x/alpha) - 1))."""

    alpha: float = 1.0

    elementwise = True


@dataclass(frozen=True)
class Selu(Operator):
    """gamma (x where x > 0, else alpha (exp(x) - 1))."""

    alpha: float = 1.67326319217681884765625
    gamma: float = 1.05070102214813232421875

    elementwise = True


@dataclass(frozen=True)
class Softplus(Operator):
    """log(1 + exp(x))."""

    elementwise = True


@dataclass(frozen=True)
class Softsign(Operator):
    """x / (1 + |x|)."""

    elementwise = True


@dataclass(frozen=True)
class ThresholdedRelu(Operator):
    """x where x > alpha, else 0."""

    alpha: float = 1.0

    elementwise = True


@dataclass(frozen=True)
class Shrink(Operator):
    """x + bias where x < -lambd, x - bias where x > lambd, else 0."""

    bias: float = 0.0
    lambd: float = 0.5

    elementwise = True
