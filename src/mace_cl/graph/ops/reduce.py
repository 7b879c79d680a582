"""Reductions over axes, searches and scans along an axis.

The axes of a reduction are sorted and at least 0; where none is listed, nothing is reduced, but each element still goes
through the operator (ReduceL1 gives |x|).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mace_cl.errors import ShapeError
from mace_cl.graph.ops.axes import check_axis, reduced_shape
from mace_cl.graph.ops.base import Arrays, Cost, Operator, Types, need, need_array
from mace_cl.types import DataType, TensorType


@dataclass(frozen=True)
class Reduction(Operator):
    """Base of the reductions; a subclass computes `_reduce`."""

    axes: tuple[int, ...] = ()
    keepdims: bool = True

    def infer(self, inputs: Types) -> tuple[TensorType, ...]:
        """x's type without the axes, or with ones in their place."""
        x = need(inputs, 0, self)
        return (x.with_shape(reduced_shape(self, x, self.axes, self.keepdims)),)

    def reference(self, inputs: Arrays) -> tuple[np.ndarray, ...]:
        """The reduction in x's type (float16 is summed in float32)."""
        x = need_array(inputs, 0, self)
        wide = x.astype(np.float32) if x.dtype == np.float16 else x
        with np.errstate(all="ignore"):
            return (np.asarray(self._reduce(wide, self.axes, self.keepdims)).astype(x.dtype, copy=False),)

    def _reduce(self, x: np.ndarray, axis: tuple[int, ...], keep: bool) -> np.ndarray:
        raise NotImplementedError(self.name)

    def cost(self, inputs: Types, outputs: Types) -> Cost:
        """One operation for each input element."""
        x = need(inputs, 0, self)
        return Cost(x.elements, x.nbytes + sum(t.nbytes for t in outputs if t is not None))


@dataclass(frozen=True)
class ReduceSum(Reduction):
    """Sum."""

    def _reduce(self, x: np.ndarray, axis: tuple[int, ...], keep: bool) -> np.ndarray:
        return np.asarray(x.sum(axis, keepdims=keep))


@dataclass(frozen=True)
class ReduceMean(Reduction):
    """Mean."""

    def _reduce(self, x: np.ndarray, axis: tuple[int, ...], keep: bool) -> np.ndarray:
        return np.asarray(x.mean(axis, keepdims=keep) if x.size else x.sum(axis, keepdims=keep) * np.nan)


@dataclass(frozen=True)
class ReduceMax(Reduction):
    """Greatest; bools by or."""

    def _reduce(self, x: np.ndarray, axis: tuple[int, ...], keep: bool) -> np.ndarray:
        return np.asarray(x.max(axis, keepdims=keep, initial=_least(x)))


@dataclass(frozen=True)
class ReduceMin(Reduction):
    """Least; bools by and."""

    def _reduce(self, x: np.ndarray, axis: tuple[int, ...], keep: bool) -> np.ndarray:
        return np.asarray(x.min(axis, keepdims=keep, initial=_greatest(x)))


@dataclass(frozen=True)
class ReduceProd(Reduction):
    """Product."""

    def _reduce(self, x: np.ndarray, axis: tuple[int, ...], keep: bool) -> np.ndarray:
        return np.asarray(x.prod(axis, keepdims=keep))


@dataclass(frozen=True)
class ReduceL1(Reduction):
    """Sum of |x|."""

    def _reduce(self, x: np.ndarray, axis: tuple[int, ...], keep: bool) -> np.ndarray:
        return np.asarray(np.abs(x).sum(axis, keepdims=keep))


@dataclass(frozen=True)
class ReduceL2(Reduction):
    """Square root of the sum of squares."""

    def _reduce(self, x: np.ndarray, axis: tuple[int, ...], keep: bool) -> np.ndarray:
        return np.asarray(np.sqrt((x * x).sum(axis, keepdims=keep)))


@dataclass(frozen=True)
class ReduceLogSum(Reduction):
    """log of the sum."""

    def _reduce(self, x: np.ndarray, axis: tuple[int, ...], keep: bool) -> np.ndarray:
        return np.asarray(np.log(x.sum(axis, keepdims=keep)))


@dataclass(frozen=True)
class ReduceSumSquare(Reduction):
    """Sum of squares."""

    def _reduce(self, x: np.ndarray, axis: tuple[int, ...], keep: bool) -> np.ndarray:
        return np.asarray((x * x).sum(axis, keepdims=keep))


@dataclass(frozen=True)
class ReduceLogSumExp(Reduction):
    """log of the sum of exp, stable."""

    def _reduce(self, x: np.ndarray, axis: tuple[int, ...], keep: bool) -> np.ndarray:
        peak = x.max(axis, keepdims=True, initial=_least(x))
        # An infinite peak would give inf - inf.
        shift = np.where(np.isfinite(peak), peak, 0)
        total = np.log(np.exp(x - shift).sum(axis, keepdims=True)) + shift
        return np.asarray(total if keep else total.squeeze(axis))


def _least(x: np.ndarray) -> float | int | bool:
    return -np.inf if x.dtype.kind == "f" else False if x.dtype.kind == "b" else int(np.iinfo(x.dtype).min)


def _greatest(x: np.ndarray) -> float | int | bool:
    return np.inf if x.dtype.kind == "f" else True if x.dtype.kind == "b" else int(np.iinfo(x.dtype).max)


@dataclass(frozen=True)
class Search(Operator):
    """Base of ArgMax and ArgMin: of equals the first counts, or the last."""

    axis: int = 0
    keepdims: bool = True
    select_last_index: bool = False
    to: DataType = DataType.INT64

    def infer(self, inputs: Types) -> tuple[TensorType, ...]:
        """Indices along the axis."""
        x = need(inputs, 0, self)
        shape = reduced_shape(self, x, (self.axis,), self.keepdims)
        if x.shape[self.axis] == 0:
            raise ShapeError(f"axis {self.axis} of {x} is empty", where=self.name)
        return (TensorType(self.to, shape),)

    def reference(self, inputs: Arrays) -> tuple[np.ndarray, ...]:
        """NumPy's search, on the reversed axis for the last of equals."""
        x = need_array(inputs, 0, self)
        if self.select_last_index:
            index = x.shape[self.axis] - 1 - self._search(np.flip(x, self.axis))
        else:
            index = self._search(x)
        return ((np.expand_dims(index, self.axis) if self.keepdims else index).astype(self.to.numpy),)

    def _search(self, x: np.ndarray) -> np.ndarray:
        raise NotImplementedError(self.name)

    def cost(self, inputs: Types, outputs: Types) -> Cost:
        """One comparison for each input element."""
        x = need(inputs, 0, self)
        return Cost(x.elements, x.nbytes + sum(t.nbytes for t in outputs if t is not None))


@dataclass(frozen=True)
class ArgMax(Search):
    """Index of the greatest element along axis; of equals the first, or the last."""

    def _search(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(x.argmax(self.axis))


@dataclass(frozen=True)
class ArgMin(Search):
    """Index of the least element along axis; of equals the first, or the last."""

    def _search(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(x.argmin(self.axis))


@dataclass(frozen=True)
class CumSum(Operator):
    """Running sum along axis; `exclusive` leaves out the element itself, `reverse` starts at the end."""

    axis: int = 0
    exclusive: bool = False
    reverse: bool = False

    def infer(self, inputs: Types) -> tuple[TensorType, ...]:
        """x's type."""
        return (check_axis(self, need(inputs, 0, self), self.axis),)

    def reference(self, inputs: Arrays) -> tuple[np.ndarray, ...]:
        """NumPy's running sum."""
        x = need_array(inputs, 0, self)
        run = np.flip(x, self.axis) if self.reverse else x
        total = run.cumsum(self.axis, dtype=x.dtype)
        if self.exclusive and x.shape[self.axis]:
            total = np.roll(total, 1, self.axis)
            first: list[slice | int] = [slice(None)] * x.ndim
            first[self.axis] = 0
            total[tuple(first)] = 0
        return (np.ascontiguousarray(np.flip(total, self.axis) if self.reverse else total),)

    def cost(self, inputs: Types, outputs: Types) -> Cost:
        """One addition for each element."""
        x = need(inputs, 0, self)
        return Cost(x.elements, 2 * x.nbytes)


@dataclass(frozen=True)
class TopK(Operator):
    """The k greatest (or least) along axis, sorted, equals by lower index first; outputs values and int64 indices."""

    k: int = 1
    axis: int = -1
    largest: bool = True
    to: DataType = DataType.INT64

    n_outputs = (2, 2)

    def infer(self, inputs: Types) -> tuple[TensorType, ...]:
        """Values and indices, k long along the axis."""
        x = check_axis(self, need(inputs, 0, self), self.axis)
        axis = self.axis % x.rank
        if not 0 <= self.k <= x.shape[axis]:
            raise ShapeError(f"k {self.k} is not within the {x.shape[axis]} elements of axis {axis}", where=self.name)
        shape = (*x.shape[:axis], self.k, *x.shape[axis + 1 :])
        return x.with_shape(shape), TensorType(self.to, shape)

    def reference(self, inputs: Arrays) -> tuple[np.ndarray, ...]:
        """A stable sort."""
        x = need_array(inputs, 0, self)
        if self.largest:
            # Stable and descending: sort the reversed array upwards, and read it backwards.
            size = x.shape[self.axis]
            order = size - 1 - np.flip(np.argsort(np.flip(x, self.axis), self.axis, kind="stable"), self.axis)
        else:
            order = np.argsort(x, self.axis, kind="stable")
        index = np.take(order, np.arange(self.k), self.axis)
        return np.take_along_axis(x, index, self.axis), index.astype(self.to.numpy)

    def cost(self, inputs: Types, outputs: Types) -> Cost:
        """k comparisons for each element."""
        x = need(inputs, 0, self)
        return Cost(x.elements * max(self.k, 1), x.nbytes + sum(t.nbytes for t in outputs if t is not None))
