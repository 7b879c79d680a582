"""Operators that move nothing or rearrange whole tensors."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mace_cl.errors import ShapeError
from mace_cl.graph.ops.base import Arrays, Cost, Operator, Types, need, need_array
from mace_cl.graph.ops.broadcast import broadcast_shapes, check_listed
from mace_cl.types import TensorType


@dataclass(frozen=True)
class Identity(Operator):
    """x."""

    def infer(self, inputs: Types) -> tuple[TensorType, ...]:
        """The input's type."""
        return (need(inputs, 0, self),)

    def reference(self, inputs: Arrays) -> tuple[np.ndarray, ...]:
        """The input."""
        return (need_array(inputs, 0, self),)

    def cost(self, inputs: Types, outputs: Types) -> Cost:
        """Nothing: the output is another name of the input."""
        return Cost(0, 0)


@dataclass(frozen=True)
class Reshape(Operator):
    """The same elements in another shape (all dimensions given). Flatten, Squeeze and Unsqueeze are this."""

    shape: tuple[int, ...] = ()

    def infer(self, inputs: Types) -> tuple[TensorType, ...]:
        """The input's element type in the given shape, of as many elements."""
        x = need(inputs, 0, self)
        _check_sizes(self.shape, self)
        if math.prod(self.shape) != x.elements:
            raise ShapeError(
                f"{list(x.shape)} has {x.elements} elements, {list(self.shape)} has {math.prod(self.shape)}",
                where=self.name,
            )
        return (x.with_shape(self.shape),)

    def reference(self, inputs: Arrays) -> tuple[np.ndarray, ...]:
        """The input in the given shape."""
        return (np.reshape(need_array(inputs, 0, self), self.shape),)

    def cost(self, inputs: Types, outputs: Types) -> Cost:
        """Nothing: the output is another view of the input."""
        return Cost(0, 0)


@dataclass(frozen=True)
class Transpose(Operator):
    """Dimension i of the output is dimension perm[i] of x."""

    perm: tuple[int, ...] = ()

    def infer(self, inputs: Types) -> tuple[TensorType, ...]:
        """The input's dimensions in the order of perm."""
        x = need(inputs, 0, self)
        if sorted(self.perm) != list(range(x.rank)):
            raise ShapeError(f"perm {list(self.perm)} is no order of {x.rank} dimensions", where=self.name)
        return (x.with_shape(tuple(x.shape[i] for i in self.perm)),)

    def reference(self, inputs: Arrays) -> tuple[np.ndarray, ...]:
        """NumPy's transpose."""
        return (np.asarray(np.transpose(need_array(inputs, 0, self), self.perm), order="C"),)


@dataclass(frozen=True)
class Expand(Operator):
    """x broadcast to shape (the final output shape)."""

    shape: tuple[int, ...] = ()

    def infer(self, inputs: Types) -> tuple[TensorType, ...]:
        """The input's element type in the given shape."""
        x = need(inputs, 0, self)
        _check_sizes(self.shape, self)
        if broadcast_shapes(x.shape, self.shape) != self.shape:
            raise ShapeError(f"{list(x.shape)} does not broadcast to {list(self.shape)}", where=self.name)
        return (x.with_shape(self.shape),)

    def reference(self, inputs: Arrays) -> tuple[np.ndarray, ...]:
        """NumPy's broadcasting."""
        return (np.broadcast_to(need_array(inputs, 0, self), self.shape).copy(),)


@dataclass(frozen=True)
class Tile(Operator):
    """x repeated repeats[i] times along dimension i."""

    repeats: tuple[int, ...] = ()

    def infer(self, inputs: Types) -> tuple[TensorType, ...]:
        """Each dimension multiplied by its repeats."""
        x = need(inputs, 0, self)
        check_listed(self.repeats, x.rank, self, "repeats")
        _check_sizes(self.repeats, self)
        return (x.with_shape(tuple(d * r for d, r in zip(x.shape, self.repeats, strict=True))),)

    def reference(self, inputs: Arrays) -> tuple[np.ndarray, ...]:
        """NumPy's tile."""
        return (np.tile(need_array(inputs, 0, self), self.repeats),)


def _check_sizes(sizes: tuple[int, ...], op: Operator) -> None:
    if any(s < 0 for s in sizes):
        raise ShapeError(f"{list(sizes)} holds a negative number", where=op.name)
