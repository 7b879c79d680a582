"""Between real numbers and quantised integers."""

from __future__ import annotations

from dataclasses import dataclass

from mace_cl.graph.ops.base import Operator
from mace_cl.types import DataType


@dataclass(frozen=True)
class QuantizeLinear(Operator):
    """saturate(round_half_even(x / scale) + zero_point). Inputs: x, scale, zero_point or None (its type is `to`)."""

    axis: int = 1
    to: DataType = DataType.UINT8

    n_inputs = (2, 3)


@dataclass(frozen=True)
class DequantizeLinear(Operator):
    """(x - zero_point) scale. Inputs: x, scale (scalar, or [n] along axis), zero_point or None."""

    axis: int = 1

    n_inputs = (2, 3)
