"""Indexed reads and writes. Indices are integers; negative ones count from the end."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mace_cl.errors import ShapeError
from mace_cl.graph.ops.base import Arrays, Cost, Operator, Types, need, need_array
from mace_cl.graph.ops.broadcast import INTEGERS, NUMBERS, check_axis, check_kind, check_same_dtype
from mace_cl.types import Shape, TensorType

_REDUCTIONS = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}


def _within(indices: np.ndarray, dim: int, op: Operator) -> np.ndarray:
    """The indices, counted from the start.

    Raises:
        ShapeError: One is outside of the dimension.
    """
    indices = np.asarray(indices).astype(np.int64)
    outside = indices[(indices < -dim) | (indices >= dim)]
    if outside.size:
        raise ShapeError(f"index {outside.flat[0]} is outside of a dimension of {dim}", where=op.name)
    return np.where(indices < 0, indices + dim, indices)


def _check_prefix(data: TensorType, indices: TensorType, batch_dims: int, op: Operator) -> None:
    if not 0 <= batch_dims <= min(data.rank, indices.rank):
        raise ShapeError(f"batch_dims {batch_dims} is more than an input's rank", where=op.name)
    if data.shape[:batch_dims] != indices.shape[:batch_dims]:
        raise ShapeError(
            f"data {list(data.shape)} and indices {list(indices.shape)} differ in their first {batch_dims} dimensions",
            where=op.name,
        )


def _read_cost(inputs: Types, outputs: Types) -> Cost:
    """Of the data only as many bytes are read as are written."""
    out = sum(t.nbytes for t in outputs if t is not None)
    return Cost(0, 2 * out + sum(t.nbytes for t in inputs[1:] if t is not None))


@dataclass(frozen=True)
class Gather(Operator):
    """Slices of data along axis at indices; batch_dims leading dimensions are matched. Inputs: data, indices."""

    axis: int = 0
    batch_dims: int = 0

    n_inputs = (2, 2)

    def infer(self, inputs: Types) -> tuple[TensorType, ...]:
        """The shape of data with the unmatched dimensions of indices in place of axis."""
        data, indices = need(inputs, 0, self), need(inputs, 1, self)
        axis = check_axis(self.axis, data.rank, self)
        check_kind(indices, INTEGERS, self, 1)
        _check_prefix(data, indices, self.batch_dims, self)
        if axis < self.batch_dims:
            raise ShapeError(f"axis {axis} is one of the {self.batch_dims} matched dimensions", where=self.name)
        return (data.with_shape(data.shape[:axis] + indices.shape[self.batch_dims :] + data.shape[axis + 1 :]),)

    def reference(self, inputs: Arrays) -> tuple[np.ndarray, ...]:
        """NumPy's take, for each of the matched samples."""
        data, indices = need_array(inputs, 0, self), need_array(inputs, 1, self)
        indices = _within(indices, data.shape[self.axis], self)
        if self.batch_dims == 0:
            return (np.take(data, indices, self.axis),)
        matched, b = data.shape[: self.batch_dims], self.batch_dims
        rest = data.shape[b : self.axis] + indices.shape[b:] + data.shape[self.axis + 1 :]
        out = np.empty(matched + rest, data.dtype)
        for sample in np.ndindex(*matched):
            out[sample] = np.take(data[sample], indices[sample], self.axis - b)
        return (out,)

    def cost(self, inputs: Types, outputs: Types) -> Cost:
        """The elements gathered, read and written, and the indices."""
        return _read_cost(inputs, outputs)


def _check_elements(data: TensorType, indices: TensorType, axis: int, op: Operator) -> None:
    check_axis(axis, data.rank, op)
    check_kind(indices, INTEGERS, op, 1)
    if indices.rank != data.rank:
        raise ShapeError(f"indices has {indices.rank} dimensions, data {data.rank}", where=op.name)
    for i, (n, dim) in enumerate(zip(indices.shape, data.shape, strict=True)):
        if i != axis and n > dim:
            raise ShapeError(f"dimension {i} of indices is {n}, more than data's {dim}", where=op.name)


def _element_places(indices: np.ndarray, axis: int) -> tuple[np.ndarray, ...]:
    """For each element of indices its own place, with the index itself along axis."""
    places: list[np.ndarray] = list(np.indices(indices.shape, sparse=True))
    places[axis] = indices
    return tuple(places)


@dataclass(frozen=True)
class GatherElements(Operator):
    """data's element at indices along axis, elsewhere at its own place. Inputs: data, indices."""

    axis: int = 0

    n_inputs = (2, 2)

    def infer(self, inputs: Types) -> tuple[TensorType, ...]:
        """The shape of indices in data's element type."""
        data, indices = need(inputs, 0, self), need(inputs, 1, self)
        _check_elements(data, indices, self.axis, self)
        return (data.with_shape(indices.shape),)

    def reference(self, inputs: Arrays) -> tuple[np.ndarray, ...]:
        """NumPy's indexing with one array for each dimension."""
        data, indices = need_array(inputs, 0, self), need_array(inputs, 1, self)
        indices = _within(indices, data.shape[self.axis], self)
        return (data[_element_places(indices, self.axis)],)

    def cost(self, inputs: Types, outputs: Types) -> Cost:
        """The elements gathered, read and written, and the indices."""
        return _read_cost(inputs, outputs)


def _tuple_length(data: TensorType, indices: TensorType, batch_dims: int, op: Operator) -> int:
    """Length of an index tuple: the last dimension of indices."""
    check_kind(indices, INTEGERS, op, 1)
    if indices.rank < 1 or batch_dims >= indices.rank:
        raise ShapeError(f"indices {list(indices.shape)} has no dimension of index tuples", where=op.name)
    length = indices.shape[-1]
    if not 1 <= length <= data.rank - batch_dims:
        raise ShapeError(
            f"index tuples have {length} numbers, data {list(data.shape)} has {data.rank - batch_dims} dimensions",
            where=op.name,
        )
    return length


def _tuple_places(indices: np.ndarray, shape: Shape, batch_dims: int, op: Operator) -> tuple[np.ndarray, ...]:
    """One index array for each leading dimension of data, shaped as indices without its last dimension."""
    own = np.indices(indices.shape[:-1], sparse=True)[:batch_dims]
    parts = [_within(indices[..., i], shape[batch_dims + i], op) for i in range(indices.shape[-1])]
    return (*own, *parts)


@dataclass(frozen=True)
class GatherND(Operator):
    """Slices of data at index tuples (last dimension of indices). Inputs: data, indices."""

    batch_dims: int = 0

    n_inputs = (2, 2)

    def infer(self, inputs: Types) -> tuple[TensorType, ...]:
        """The shape of indices with data's unindexed dimensions in place of the tuples."""
        data, indices = need(inputs, 0, self), need(inputs, 1, self)
        _check_prefix(data, indices, self.batch_dims, self)
        length = _tuple_length(data, indices, self.batch_dims, self)
        return (data.with_shape(indices.shape[:-1] + data.shape[self.batch_dims + length :]),)

    def reference(self, inputs: Arrays) -> tuple[np.ndarray, ...]:
        """NumPy's indexing with one array for each leading dimension."""
        data, indices = need_array(inputs, 0, self), need_array(inputs, 1, self)
        return (data[_tuple_places(indices, data.shape, self.batch_dims, self)],)

    def cost(self, inputs: Types, outputs: Types) -> Cost:
        """The elements gathered, read and written, and the indices."""
        return _read_cost(inputs, outputs)


@dataclass(frozen=True)
class _Scatter(Operator):
    n_inputs = (3, 3)

    def _check(self, data: TensorType, updates: TensorType, wanted: Shape, reduction: str) -> None:
        if reduction != "none" and reduction not in _REDUCTIONS:
            raise ShapeError(
                f"reduction is {reduction!r}, not one of none, {', '.join(_REDUCTIONS)}",
                where=self.name,
            )
        if reduction != "none":
            check_kind(data, NUMBERS, self, 0)
        check_same_dtype({0: data, 2: updates}, self)
        if updates.shape != wanted:
            raise ShapeError(f"updates is {list(updates.shape)}, not {list(wanted)}", where=self.name)

    def _write(
        self, data: np.ndarray, places: tuple[np.ndarray, ...], updates: np.ndarray, reduction: str
    ) -> tuple[np.ndarray, ...]:
        out = data.copy()
        with np.errstate(all="ignore"):
            if reduction == "none":
                out[places] = updates
            else:
                _REDUCTIONS[reduction].at(out, places, updates)
        return (out,)

    def cost(self, inputs: Types, outputs: Types) -> Cost:
        """Everything read and written once, and one operation for each update."""
        updates = need(inputs, 2, self)
        combining = getattr(self, "reduction", "none") != "none"
        return Cost(updates.elements if combining else 0, super().cost(inputs, outputs).bytes)


@dataclass(frozen=True)
class ScatterElements(_Scatter):
    """data with updates written at indices along axis. Inputs: data, indices, updates.

    reduction: 'none' (of equal indices any may win; here the last), 'add', 'mul', 'max' or 'min'.
    """

    axis: int = 0
    reduction: str = "none"

    def infer(self, inputs: Types) -> tuple[TensorType, ...]:
        """The type of data."""
        data, indices, updates = (need(inputs, i, self) for i in range(3))
        _check_elements(data, indices, self.axis, self)
        self._check(data, updates, indices.shape, self.reduction)
        return (data,)

    def reference(self, inputs: Arrays) -> tuple[np.ndarray, ...]:
        """NumPy's writes, one update after another."""
        data, indices, updates = (need_array(inputs, i, self) for i in range(3))
        indices = _within(indices, data.shape[self.axis], self)
        return self._write(data, _element_places(indices, self.axis), updates, self.reduction)


@dataclass(frozen=True)
class ScatterND(_Scatter):
    """data with updates written at index tuples. Inputs: data, indices, updates. reduction as ScatterElements."""

    reduction: str = "none"

    def infer(self, inputs: Types) -> tuple[TensorType, ...]:
        """The type of data."""
        data, indices, updates = (need(inputs, i, self) for i in range(3))
        length = _tuple_length(data, indices, 0, self)
        self._check(data, updates, indices.shape[:-1] + data.shape[length:], self.reduction)
        return (data,)

    def reference(self, inputs: Arrays) -> tuple[np.ndarray, ...]:
        """NumPy's writes, one update after another."""
        data, indices, updates = (need_array(inputs, i, self) for i in range(3))
        return self._write(data, _tuple_places(indices, data.shape, 0, self), updates, self.reduction)


@dataclass(frozen=True)
class OneHot(Operator):
    """on at the index along a new axis, else off. Inputs: indices, values [off, on].

    Indices from -depth to -1 count from the end; a line whose index is outside is off everywhere. A negative axis
    counts from the end of the output.
    """

    depth: int = 1
    axis: int = -1

    n_inputs = (2, 2)

    def infer(self, inputs: Types) -> tuple[TensorType, ...]:
        """The shape of indices with depth inserted at axis, in the type of values."""
        indices, values = need(inputs, 0, self), need(inputs, 1, self)
        check_kind(indices, INTEGERS, self, 0)
        if values.shape != (2,):
            raise ShapeError(f"values is {list(values.shape)}, not [2]", where=self.name)
        if self.depth < 0:
            raise ShapeError(f"depth {self.depth} is negative", where=self.name)
        axis = check_axis(self._axis(indices.rank), indices.rank + 1, self)
        return (values.with_shape((*indices.shape[:axis], self.depth, *indices.shape[axis:])),)

    def reference(self, inputs: Arrays) -> tuple[np.ndarray, ...]:
        """Each index compared with every place."""
        indices, values = np.asarray(need_array(inputs, 0, self)), need_array(inputs, 1, self)
        axis = self._axis(indices.ndim)
        index = np.expand_dims(indices.astype(np.int64), axis)
        places = np.arange(self.depth).reshape([-1 if i == axis else 1 for i in range(index.ndim)])
        return (np.where((index == places) | (index == places - self.depth), values[1], values[0]),)

    def cost(self, inputs: Types, outputs: Types) -> Cost:
        """A comparison for each output element."""
        out = math.prod(need(outputs, 0, self).shape)
        return Cost(out, super().cost(inputs, outputs).bytes)

    def _axis(self, rank: int) -> int:
        return self.axis + rank + 1 if self.axis < 0 else self.axis
