"""Softmax and its relatives along one axis (at least 0)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mace_cl.graph.ops.axes import check_axis
from mace_cl.graph.ops.base import Arrays, Cost, Operator, Types, need, need_array
from mace_cl.types import TensorType


@dataclass(frozen=True)
class Softmax(Operator):
    """exp(scale x) / sum along axis, stable for large x."""

    axis: int = 0
    beta: float = 1.0

    def infer(self, inputs: Types) -> tuple[TensorType, ...]:
        """x's type."""
        return (check_axis(self, need(inputs, 0, self), self.axis),)

    def reference(self, inputs: Arrays) -> tuple[np.ndarray, ...]:
        """exp of the distance to the greatest, normalised."""
        x = need_array(inputs, 0, self)
        scaled = x * x.dtype.type(self.beta)
        powers = np.exp(scaled - scaled.max(axis=self.axis, keepdims=True, initial=-np.inf))
        return (powers / powers.sum(axis=self.axis, keepdims=True),)

    def cost(self, inputs: Types, outputs: Types) -> Cost:
        """About five operations for each element."""
        return _cost(inputs, outputs)


@dataclass(frozen=True)
class LogSoftmax(Operator):
    """log of softmax, stable."""

    axis: int = 0

    def infer(self, inputs: Types) -> tuple[TensorType, ...]:
        """x's type."""
        return (check_axis(self, need(inputs, 0, self), self.axis),)

    def reference(self, inputs: Arrays) -> tuple[np.ndarray, ...]:
        """Distance to the greatest, less the log of the sum of exp."""
        x = need_array(inputs, 0, self)
        below = x - x.max(axis=self.axis, keepdims=True, initial=-np.inf)
        return (below - np.log(np.exp(below).sum(axis=self.axis, keepdims=True)),)

    def cost(self, inputs: Types, outputs: Types) -> Cost:
        """About five operations for each element."""
        return _cost(inputs, outputs)


@dataclass(frozen=True)
class Hardmax(Operator):
    """1 at the first greatest element along axis, else 0."""

    axis: int = 0

    def infer(self, inputs: Types) -> tuple[TensorType, ...]:
        """x's type."""
        return (check_axis(self, need(inputs, 0, self), self.axis),)

    def reference(self, inputs: Arrays) -> tuple[np.ndarray, ...]:
        """1 at the place of the first greatest."""
        x = need_array(inputs, 0, self)
        result = np.zeros_like(x)
        if x.size:
            np.put_along_axis(result, np.expand_dims(x.argmax(axis=self.axis), self.axis), 1, axis=self.axis)
        return (result,)


def _cost(inputs: Types, outputs: Types) -> Cost:
    moved = sum(t.nbytes for t in (*inputs, *outputs) if t is not None)
    return Cost(5 * sum(t.elements for t in outputs if t is not None), moved)
