"""Between real numbers and quantised integers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mace_cl.errors import ShapeError
from mace_cl.graph.ops.base import Arrays, Operator, Types, need, need_array, optional
from mace_cl.types import DataType, TensorType


@dataclass(frozen=True)
class QuantizeLinear(Operator):
    """saturate(round_half_even(x / scale) + zero_point). Inputs: x, scale, zero_point or None (its type is `to`)."""

    axis: int = 1
    to: DataType = DataType.UINT8

    n_inputs = (2, 3)

    def infer(self, inputs: Types) -> tuple[TensorType, ...]:
        """x's shape in the type `to`."""
        x = need(inputs, 0, self)
        _check(self, x, inputs)
        if not self.to.is_integer:
            raise ShapeError(f"quantises to {self.to.value}, which is no integer type", where=self.name)
        return (TensorType(self.to, x.shape),)

    def reference(self, inputs: Arrays) -> tuple[np.ndarray, ...]:
        """Rounded halves to even, then limited to the type."""
        x = need_array(inputs, 0, self)
        scale, zero = _aligned(self, x, inputs)
        limits = np.iinfo(self.to.value)
        rounded = np.rint(x / scale.astype(x.dtype)) + zero
        return (np.clip(rounded, limits.min, limits.max).astype(self.to.numpy),)


@dataclass(frozen=True)
class DequantizeLinear(Operator):
    """(x - zero_point) scale. Inputs: x, scale (scalar, or [n] along axis), zero_point or None."""

    axis: int = 1

    n_inputs = (2, 3)

    def infer(self, inputs: Types) -> tuple[TensorType, ...]:
        """x's shape in the scale's type."""
        x = need(inputs, 0, self)
        _check(self, x, inputs)
        return (TensorType(need(inputs, 1, self).dtype, x.shape),)

    def reference(self, inputs: Arrays) -> tuple[np.ndarray, ...]:
        """Computed in the scale's type."""
        x = need_array(inputs, 0, self)
        scale, zero = _aligned(self, x, inputs)
        return ((x.astype(scale.dtype) - zero.astype(scale.dtype)) * scale,)


def _check(op: QuantizeLinear | DequantizeLinear, x: TensorType, inputs: Types) -> None:
    """Scale and zero point are scalars, or vectors over the axis."""
    for parameter in (need(inputs, 1, op), optional(inputs, 2)):
        if parameter is None or parameter.elements == 1:
            continue
        if not -x.rank <= op.axis < x.rank or parameter.shape != (x.shape[op.axis],):
            raise ShapeError(f"{parameter} does not fit axis {op.axis} of {x}", where=op.name)


def _aligned(op: QuantizeLinear | DequantizeLinear, x: np.ndarray, inputs: Arrays) -> tuple[np.ndarray, np.ndarray]:
    """Scale and zero point, broadcast along x's axis."""
    scale = need_array(inputs, 1, op)
    found = inputs[2] if len(inputs) > 2 else None
    zero = np.zeros((), np.int32) if found is None else found
    shape = [1] * x.ndim
    if max(scale.size, zero.size) > 1:
        shape[op.axis] = -1

    def fit(array: np.ndarray) -> np.ndarray:
        return array.reshape(shape) if array.size > 1 else array.reshape(())

    # Differences of unsigned bytes are signed.
    return fit(scale), fit(zero).astype(np.int64 if zero.dtype.kind in "iu" else zero.dtype)
