"""Joining, cutting, padding."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mace_cl.errors import ShapeError
from mace_cl.graph.ops.base import Arrays, Operator, Types, need, need_array
from mace_cl.graph.ops.broadcast import INTEGERS, check_axis, check_kind, check_listed, check_same_dtype
from mace_cl.types import Shape, TensorType


def _resized(shape: Shape, axis: int, size: int) -> Shape:
    return (*shape[:axis], size, *shape[axis + 1 :])


@dataclass(frozen=True)
class Concat(Operator):
    """The inputs one after another along axis."""

    axis: int = 0

    n_inputs = (1, None)

    def infer(self, inputs: Types) -> tuple[TensorType, ...]:
        """The inputs' shape with the sum of their sizes along axis."""
        types = [need(inputs, i, self) for i in range(len(inputs))]
        first = need(types, 0, self)
        axis = check_axis(self.axis, first.rank, self)
        check_same_dtype(dict(enumerate(types)), self)
        for i, t in enumerate(types):
            if t.rank != first.rank or _resized(t.shape, axis, 0) != _resized(first.shape, axis, 0):
                raise ShapeError(
                    f"input {i} {list(t.shape)} differs from input 0 {list(first.shape)} outside of axis {axis}",
                    where=self.name,
                )
        return (first.with_shape(_resized(first.shape, axis, sum(t.shape[axis] for t in types))),)

    def reference(self, inputs: Arrays) -> tuple[np.ndarray, ...]:
        """NumPy's concatenate."""
        return (np.concatenate([need_array(inputs, i, self) for i in range(len(inputs))], self.axis),)


@dataclass(frozen=True)
class Split(Operator):
    """Cut along axis into pieces of the sizes."""

    axis: int = 0
    sizes: tuple[int, ...] = ()

    n_outputs = (1, None)

    def infer(self, inputs: Types) -> tuple[TensorType, ...]:
        """The input's shape with each size along axis."""
        x = need(inputs, 0, self)
        axis = check_axis(self.axis, x.rank, self)
        if not self.sizes or any(s < 0 for s in self.sizes) or sum(self.sizes) != x.shape[axis]:
            raise ShapeError(f"sizes {list(self.sizes)} do not add up to {x.shape[axis]}", where=self.name)
        return tuple(x.with_shape(_resized(x.shape, axis, s)) for s in self.sizes)

    def reference(self, inputs: Arrays) -> tuple[np.ndarray, ...]:
        """NumPy's split at the sums of the sizes."""
        ends = np.cumsum(self.sizes[:-1], dtype=np.int64)
        return tuple(np.split(need_array(inputs, 0, self), ends, self.axis))


@dataclass(frozen=True)
class Slice(Operator):
    """Element i of dimension d is element starts[d] + i steps[d] of x.

    Every dimension is listed; steps may be negative.
    """

    starts: tuple[int, ...] = ()
    sizes: tuple[int, ...] = ()
    steps: tuple[int, ...] = ()

    def infer(self, inputs: Types) -> tuple[TensorType, ...]:
        """The sizes, each of which must lie within its dimension."""
        x = need(inputs, 0, self)
        for name in ("starts", "sizes", "steps"):
            check_listed(getattr(self, name), x.rank, self, name)
        for axis, (start, size, step) in enumerate(zip(self.starts, self.sizes, self.steps, strict=True)):
            last = start + (size - 1) * step
            dim = x.shape[axis]
            if step == 0 or size < 0 or (size > 0 and not (0 <= start < dim and 0 <= last < dim)):
                raise ShapeError(
                    f"dimension {axis} of {dim} has no {size} elements from {start} in steps of {step}",
                    where=self.name,
                )
        return (x.with_shape(self.sizes),)

    def reference(self, inputs: Arrays) -> tuple[np.ndarray, ...]:
        """NumPy's slicing."""
        parts = zip(self.starts, self.sizes, self.steps, strict=True)
        return (need_array(inputs, 0, self)[tuple(_slice(*p) for p in parts)].copy(),)


def _slice(start: int, size: int, step: int) -> slice:
    if size == 0:
        return slice(0, 0)
    end = start + size * step
    return slice(start, None if end < 0 else end, step)


def _reflect(i: np.ndarray, n: int) -> np.ndarray:
    period = max(2 * (n - 1), 1)
    i = i % period
    return np.where(i < n, i, period - i)


def _symmetric(i: np.ndarray, n: int) -> np.ndarray:
    i = i % (2 * n)
    return np.where(i < n, i, 2 * n - 1 - i)


def _edge(i: np.ndarray, n: int) -> np.ndarray:
    return np.asarray(np.clip(i, 0, n - 1))


def _wrap(i: np.ndarray, n: int) -> np.ndarray:
    return i % n


_SOURCES: dict[str, Callable[[np.ndarray, int], np.ndarray]] = {
    "reflect": _reflect,
    "symmetric": _symmetric,
    "edge": _edge,
    "wrap": _wrap,
}
"""Which element of a dimension of n stands at place i outside of it."""


@dataclass(frozen=True)
class Pad(Operator):
    """(before, after) elements added to every dimension; negative amounts cut, before anything is added.

    Attributes:
        mode: 'constant', 'reflect' (edge not repeated), 'symmetric' (edge repeated), 'edge' or 'wrap'; those that
            take elements of x take them again and again where the pad is larger than x.
        value: The constant.
    """

    pads: tuple[tuple[int, int], ...] = ()
    mode: str = "constant"
    value: float = 0.0

    def infer(self, inputs: Types) -> tuple[TensorType, ...]:
        """Each dimension with its pads added."""
        x = need(inputs, 0, self)
        check_listed(self.pads, x.rank, self, "pads")
        if self.mode != "constant" and self.mode not in _SOURCES:
            raise ShapeError(f"mode is {self.mode!r}, not one of constant, {', '.join(_SOURCES)}", where=self.name)
        for axis, (dim, (before, after)) in enumerate(zip(x.shape, self.pads, strict=True)):
            kept = dim + min(before, 0) + min(after, 0)
            if dim + before + after < 0 or (self.mode != "constant" and kept < 0):
                raise ShapeError(f"pads {before} and {after} cut more than dimension {axis} of {dim}", where=self.name)
            if self.mode != "constant" and kept == 0 and (before > 0 or after > 0):
                raise ShapeError(f"dimension {axis} has no element to pad with by {self.mode}", where=self.name)
        return (x.with_shape(tuple(d + b + a for d, (b, a) in zip(x.shape, self.pads, strict=True))),)

    def reference(self, inputs: Arrays) -> tuple[np.ndarray, ...]:
        """Element by index, one dimension after another."""
        x = need_array(inputs, 0, self)
        if self.mode == "constant":
            return (self._constant(x),)
        for axis, (before, after) in enumerate(self.pads):
            kept = x.shape[axis] + min(before, 0) + min(after, 0)
            places = np.arange(-max(before, 0), kept + max(after, 0))
            source = _SOURCES[self.mode](places, kept) if places.size else places
            x = np.take(x, source - min(before, 0), axis)
        return (x,)

    def _constant(self, x: np.ndarray) -> np.ndarray:
        out = np.full([d + b + a for d, (b, a) in zip(x.shape, self.pads, strict=True)], self.value, x.dtype)
        into, of = [], []
        for dim, size, (before, _) in zip(x.shape, out.shape, self.pads, strict=True):
            start, end = max(0, -before), min(dim, size - before)
            end = max(start, end)
            of.append(slice(start, end))
            into.append(slice(start + before, end + before) if end > start else slice(0, 0))
        out[tuple(into)] = x[tuple(of)]
        return out


@dataclass(frozen=True)
class Trilu(Operator):
    """Upper (lower) triangle of the last two dimensions, the rest 0; k moves the diagonal up."""

    upper: bool = True
    k: int = 0

    def infer(self, inputs: Types) -> tuple[TensorType, ...]:
        """The input's type."""
        x = need(inputs, 0, self)
        if x.rank < 2:
            raise ShapeError(f"needs two dimensions at least, not {list(x.shape)}", where=self.name)
        return (x,)

    def reference(self, inputs: Arrays) -> tuple[np.ndarray, ...]:
        """NumPy's triu or tril."""
        x = need_array(inputs, 0, self)
        rows, columns = x.shape[-2:]
        distance = np.arange(columns) - np.arange(rows)[:, None]
        kept = distance >= self.k if self.upper else distance <= self.k
        return (np.where(kept, x, x.dtype.type(0)),)


@dataclass(frozen=True)
class ReverseSequence(Operator):
    """Along time_axis the first lengths[b] elements reversed, b along batch_axis. Inputs: x, lengths (integers)."""

    batch_axis: int = 1
    time_axis: int = 0

    n_inputs = (2, 2)

    def infer(self, inputs: Types) -> tuple[TensorType, ...]:
        """The type of x."""
        x, lengths = need(inputs, 0, self), need(inputs, 1, self)
        batch = check_axis(self.batch_axis, x.rank, self, "batch_axis")
        if check_axis(self.time_axis, x.rank, self, "time_axis") == batch:
            raise ShapeError(f"batch_axis and time_axis are both {batch}", where=self.name)
        check_kind(lengths, INTEGERS, self, 1)
        if lengths.shape != (x.shape[batch],):
            raise ShapeError(f"lengths is {list(lengths.shape)}, not [{x.shape[batch]}]", where=self.name)
        return (x,)

    def reference(self, inputs: Arrays) -> tuple[np.ndarray, ...]:
        """One sequence after another."""
        x, lengths = need_array(inputs, 0, self), need_array(inputs, 1, self)
        out = x.copy()
        rows = np.moveaxis(out, (self.batch_axis, self.time_axis), (0, 1))
        for row, length in enumerate(lengths.tolist()):
            if not 0 <= length <= rows.shape[1]:
                raise ShapeError(f"length {length} is outside of [0, {rows.shape[1]}]", where=self.name)
            rows[row, :length] = rows[row, :length][::-1].copy()
        return (out,)
