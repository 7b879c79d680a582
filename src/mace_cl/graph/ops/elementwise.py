"""Bases of the elementwise operators: they check and broadcast types; a class adds one NumPy expression.

A subclass says which element types it takes, and names a NumPy function or computes in `_compute`, where it need not
care for NumPy's warnings.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mace_cl.graph.ops.base import Arrays, Cost, Operator, Types, need, need_array
from mace_cl.graph.ops.broadcast import FLOATS, NUMBERS, broadcast_shapes, check_kind, check_same_dtype
from mace_cl.types import DataType, TensorType


@dataclass(frozen=True)
class _Elementwise(Operator):
    takes: ClassVar[str] = NUMBERS
    """Element types of the inputs, as letters of NumPy's dtype kinds."""
    returns_bool: ClassVar[bool] = False
    """Whether the result is bool; otherwise it has the inputs' type."""
    flop_per_element: ClassVar[int] = 1
    ufunc: ClassVar[np.ufunc]
    """NumPy's function, where it is all that there is to compute; other operators define `_compute`."""

    elementwise = True

    def cost(self, inputs: Types, outputs: Types) -> Cost:
        """FLOP by the operator's weight for each output element, and each tensor's bytes once."""
        per_element = super().cost(inputs, outputs)
        return Cost(self.flop_per_element * per_element.flop, per_element.bytes)


@dataclass(frozen=True)
class UnaryElementwise(_Elementwise):
    """An operator of one input; the result has its shape and, unless `returns_bool`, its type."""

    def infer(self, inputs: Types) -> tuple[TensorType, ...]:
        """The input's shape, in its type or bool."""
        x = need(inputs, 0, self)
        check_kind(x, self.takes, self, 0)
        return (TensorType(DataType.BOOL, x.shape) if self.returns_bool else x,)

    def reference(self, inputs: Arrays) -> tuple[np.ndarray, ...]:
        """The operator's expression on the input, in its type."""
        x = np.asarray(need_array(inputs, 0, self))
        with np.errstate(all="ignore"):
            y = np.asarray(self._compute(x))
            return (y if self.returns_bool else y.astype(x.dtype, copy=False),)

    def _compute(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(self.ufunc(x))


@dataclass(frozen=True)
class FloatElementwise(UnaryElementwise):
    """An operator of one floating-point input."""

    takes = FLOATS


@dataclass(frozen=True)
class BinaryElementwise(_Elementwise):
    """An operator of two inputs of one element type, broadcast to each other."""

    n_inputs = (2, 2)

    def infer(self, inputs: Types) -> tuple[TensorType, ...]:
        """The broadcast shape, in the inputs' type or bool."""
        a, b = need(inputs, 0, self), need(inputs, 1, self)
        check_kind(a, self.takes, self, 0)
        check_same_dtype({0: a, 1: b}, self)
        return (TensorType(DataType.BOOL if self.returns_bool else a.dtype, broadcast_shapes(a.shape, b.shape)),)

    def reference(self, inputs: Arrays) -> tuple[np.ndarray, ...]:
        """The operator's expression on the inputs."""
        a, b = np.asarray(need_array(inputs, 0, self)), np.asarray(need_array(inputs, 1, self))
        with np.errstate(all="ignore"):
            return (np.asarray(self._compute(a, b)),)

    def _compute(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.asarray(self.ufunc(a, b))
