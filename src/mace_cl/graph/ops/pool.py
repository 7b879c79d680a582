"""Pooling over windows. Pooling over everything is a reduction (`reduce.py`)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mace_cl.errors import ShapeError
from mace_cl.graph.ops.base import Arrays, Cost, Operator, Types, need, need_array
from mace_cl.graph.ops.windows import (
    check_lengths,
    check_pads,
    check_positive,
    from_channels_last,
    join,
    output_sizes,
    pad_spatial,
    spatial_of,
    taps,
    to_channels_last,
)
from mace_cl.types import DataType, Shape, TensorType


@dataclass(frozen=True)
class MaxPool(Operator):
    """Greatest element of each window; padding never wins.

    Output size: (in + begin + end - dilation (kernel - 1) - 1) // stride + 1; importers express ceil_mode by a larger
    end pad.
    """

    kernel: tuple[int, ...] = (1, 1)
    strides: tuple[int, ...] = (1, 1)
    pads: tuple[tuple[int, int], ...] = ((0, 0), (0, 0))
    dilations: tuple[int, ...] = (1, 1)
    channels_last: bool = False

    def infer(self, inputs: Types) -> tuple[TensorType, ...]:
        """[N, C, *out] or [N, *out, C]."""
        return (_pooled(self, need(inputs, 0, self), self.channels_last),)

    def reference(self, inputs: Arrays) -> tuple[np.ndarray, ...]:
        """The greatest over the window's places."""
        x = need_array(inputs, 0, self)
        low = -np.inf if x.dtype.kind == "f" else False if x.dtype.kind == "b" else np.iinfo(x.dtype).min
        data, out = _padded(self, x, self.channels_last, low)
        best: np.ndarray | None = None
        for _, view in taps(data, self.kernel, self.strides, self.dilations, out):
            best = view if best is None else np.maximum(best, view)
        assert best is not None
        return (from_channels_last(best, self.channels_last).astype(x.dtype, copy=False),)

    def cost(self, inputs: Types, outputs: Types) -> Cost:
        """One comparison for each place of each window."""
        return _pool_cost(self, inputs, outputs)


@dataclass(frozen=True)
class AveragePool(Operator):
    """Mean of each window.

    Attributes:
        count_include_pad: Whether padding counts as zeros; where not, the divisor is the number of real elements.
        uncounted: Elements at each dimension's end that belong to `pads` but never count (from ceil_mode).
    """

    kernel: tuple[int, ...] = (1, 1)
    strides: tuple[int, ...] = (1, 1)
    pads: tuple[tuple[int, int], ...] = ((0, 0), (0, 0))
    dilations: tuple[int, ...] = (1, 1)
    count_include_pad: bool = False
    uncounted: tuple[int, ...] = (0, 0)
    channels_last: bool = False

    def infer(self, inputs: Types) -> tuple[TensorType, ...]:
        """[N, C, *out] or [N, *out, C]."""
        return (_pooled(self, need(inputs, 0, self), self.channels_last),)

    def reference(self, inputs: Arrays) -> tuple[np.ndarray, ...]:
        """The sum over the window's places, divided by the number of those that count."""
        x = need_array(inputs, 0, self)
        data, out = _padded(self, x, self.channels_last, 0)
        total = np.zeros((data.shape[0], *out, data.shape[-1]), np.promote_types(x.dtype, np.float32))
        counts = np.zeros((1, *out, 1), total.dtype)
        counted = self._counted(spatial_of(x.shape, self.channels_last)).astype(total.dtype)
        for _, view in taps(data, self.kernel, self.strides, self.dilations, out):
            total += view
        for _, view in taps(counted, self.kernel, self.strides, self.dilations, out):
            counts += view
        mean = total / np.maximum(counts, 1)
        return (from_channels_last(mean, self.channels_last).astype(x.dtype, copy=False),)

    def _counted(self, spatial: Shape) -> np.ndarray:
        """[1, *padded, 1]: whether each element of the padded input counts."""
        mask = np.ones((1, *spatial, 1), bool)
        if not self.count_include_pad:
            return pad_spatial(mask, self.pads, False)
        counted = tuple((a, b - u) for (a, b), u in zip(self.pads, self.uncounted, strict=True))
        return pad_spatial(pad_spatial(mask, counted, True), tuple((0, u) for u in self.uncounted), False)

    def cost(self, inputs: Types, outputs: Types) -> Cost:
        """One addition for each place of each window."""
        return _pool_cost(self, inputs, outputs)


@dataclass(frozen=True)
class LpPool(Operator):
    """(sum of |x|^p)^(1/p) of each window; padding counts as zeros."""

    p: int = 2
    kernel: tuple[int, ...] = (1, 1)
    strides: tuple[int, ...] = (1, 1)
    pads: tuple[tuple[int, int], ...] = ((0, 0), (0, 0))
    dilations: tuple[int, ...] = (1, 1)
    channels_last: bool = False

    def infer(self, inputs: Types) -> tuple[TensorType, ...]:
        """[N, C, *out] or [N, *out, C]."""
        return (_pooled(self, need(inputs, 0, self), self.channels_last),)

    def reference(self, inputs: Arrays) -> tuple[np.ndarray, ...]:
        """The p-norm over the window's places."""
        x = need_array(inputs, 0, self)
        data, out = _padded(self, x, self.channels_last, 0)
        total = np.zeros((data.shape[0], *out, data.shape[-1]), x.dtype)
        for _, view in taps(data, self.kernel, self.strides, self.dilations, out):
            total += np.abs(view) ** self.p
        return (from_channels_last(total ** (1.0 / self.p), self.channels_last).astype(x.dtype, copy=False),)

    def cost(self, inputs: Types, outputs: Types) -> Cost:
        """Two operations for each place of each window."""
        return _pool_cost(self, inputs, outputs)


@dataclass(frozen=True)
class MaxPoolWithIndices(Operator):
    """MaxPool with a second output: int64 indices of the winners in x flattened (ONNX MaxPool's Indices)."""

    kernel: tuple[int, ...] = (1, 1)
    strides: tuple[int, ...] = (1, 1)
    pads: tuple[tuple[int, int], ...] = ((0, 0), (0, 0))
    dilations: tuple[int, ...] = (1, 1)
    column_major: bool = False

    n_outputs = (2, 2)

    def infer(self, inputs: Types) -> tuple[TensorType, ...]:
        """Values [N, C, *out] and int64 indices."""
        values = _pooled(self, need(inputs, 0, self), False)
        return values, TensorType(DataType.INT64, values.shape)

    def reference(self, inputs: Arrays) -> tuple[np.ndarray, ...]:
        """The first greatest of each window and its place in x flattened."""
        x = need_array(inputs, 0, self)
        low = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
        data, out = _padded(self, x, False, low)
        numbers, _ = _padded(self, self._numbers(x.shape), False, -1)
        best = np.full((data.shape[0], *out, data.shape[-1]), low, x.dtype)
        where = np.full(best.shape, -1, np.int64)
        pairs = zip(
            taps(data, self.kernel, self.strides, self.dilations, out),
            taps(numbers, self.kernel, self.strides, self.dilations, out),
            strict=True,
        )
        for (_, view), (_, places) in pairs:
            wins = ((view > best) | (where < 0)) & (places >= 0)
            best = np.where(wins, view, best)
            where = np.where(wins, places, where)
        return from_channels_last(best, False), from_channels_last(where, False)

    def _numbers(self, shape: Shape) -> np.ndarray:
        """Each element's index in the flattened tensor; the last two dimensions swapped for column_major."""
        if not self.column_major:
            return np.arange(int(np.prod(shape)), dtype=np.int64).reshape(shape)
        spatial = shape[2:]
        planes = np.arange(int(np.prod(shape[:2])), dtype=np.int64).reshape(*shape[:2], *(1,) * len(spatial))
        inside = np.arange(int(np.prod(spatial)), dtype=np.int64).reshape(spatial[::-1])
        return planes * int(np.prod(spatial)) + inside.transpose(*range(len(spatial) - 1, -1, -1))

    def cost(self, inputs: Types, outputs: Types) -> Cost:
        """One comparison for each place of each window."""
        return _pool_cost(self, inputs, outputs)


_Pool = MaxPool | AveragePool | LpPool | MaxPoolWithIndices


def _pooled(op: _Pool, x: TensorType, channels_last: bool) -> TensorType:
    if x.rank < 3:
        raise ShapeError(f"x {x} has no spatial dimension", where=op.name)
    spatial = spatial_of(x.shape, channels_last)
    check_lengths(op, len(spatial), kernel=op.kernel, strides=op.strides, pads=op.pads, dilations=op.dilations)
    check_positive(op, kernel=op.kernel, strides=op.strides, dilations=op.dilations)
    check_pads(op, op.pads)
    if isinstance(op, AveragePool):
        check_lengths(op, len(spatial), uncounted=op.uncounted)
    out = output_sizes(op, spatial, op.kernel, op.strides, op.pads, op.dilations)
    channels = x.shape[-1] if channels_last else x.shape[1]
    return TensorType(x.dtype, join(x.shape[0], channels, out, channels_last))


def _padded(op: _Pool, x: np.ndarray, channels_last: bool, value: float) -> tuple[np.ndarray, Shape]:
    """[N, *padded, C] and the output's spatial sizes."""
    data = to_channels_last(x, channels_last)
    out = output_sizes(op, data.shape[1:-1], op.kernel, op.strides, op.pads, op.dilations)
    return pad_spatial(data, op.pads, value), out


def _pool_cost(op: _Pool, inputs: Types, outputs: Types) -> Cost:
    y = need(outputs, 0, op)
    moved = sum(t.nbytes for t in (*inputs, *outputs) if t is not None)
    return Cost(y.elements * math.prod(op.kernel), moved)
