"""Normalisation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mace_cl.errors import ShapeError
from mace_cl.graph.ops.axes import check_axis, reduced_shape
from mace_cl.graph.ops.base import Arrays, Cost, Operator, Types, need, need_array, optional
from mace_cl.graph.ops.broadcast import broadcast_shapes
from mace_cl.types import TensorType


@dataclass(frozen=True)
class BatchNormalization(Operator):
    """(x - mean) / sqrt(var + epsilon) scale + bias for each channel. Inputs: x, scale, bias, mean, var, each [C]."""

    epsilon: float = 1e-5
    channels_last: bool = False

    n_inputs = (5, 5)

    def infer(self, inputs: Types) -> tuple[TensorType, ...]:
        """x's type."""
        x = need(inputs, 0, self)
        _check_channels(self, x, inputs, self.channels_last)
        return (x,)

    def reference(self, inputs: Arrays) -> tuple[np.ndarray, ...]:
        """The formula, channel by channel."""
        x = need_array(inputs, 0, self)
        axis = -1 if self.channels_last else 1
        scale, bias, mean, var = (along(need_array(inputs, i, self), x.ndim, axis) for i in range(1, 5))
        return (((x - mean) / np.sqrt(var + self.epsilon) * scale + bias).astype(x.dtype, copy=False),)

    def cost(self, inputs: Types, outputs: Types) -> Cost:
        """About four operations for each element."""
        return _cost(inputs, outputs)


@dataclass(frozen=True)
class InstanceNormalization(Operator):
    """Normalised over the spatial dimensions of each sample and channel. Inputs: x, scale [C], bias [C]."""

    epsilon: float = 1e-5
    channels_last: bool = False

    n_inputs = (3, 3)

    def infer(self, inputs: Types) -> tuple[TensorType, ...]:
        """x's type."""
        x = need(inputs, 0, self)
        _check_channels(self, x, inputs, self.channels_last)
        return (x,)

    def reference(self, inputs: Arrays) -> tuple[np.ndarray, ...]:
        """Mean and variance over space."""
        x = need_array(inputs, 0, self)
        axes = tuple(range(1, x.ndim - 1) if self.channels_last else range(2, x.ndim))
        axis = -1 if self.channels_last else 1
        scale, bias = (along(need_array(inputs, i, self), x.ndim, axis) for i in (1, 2))
        return ((normalised(x, axes, self.epsilon) * scale + bias).astype(x.dtype, copy=False),)

    def cost(self, inputs: Types, outputs: Types) -> Cost:
        """About four operations for each element."""
        return _cost(inputs, outputs)


@dataclass(frozen=True)
class GroupNormalization(Operator):
    """Normalised over groups of channels and space. Inputs: x, scale [C], bias [C]."""

    groups: int = 1
    epsilon: float = 1e-5
    channels_last: bool = False

    n_inputs = (3, 3)

    def infer(self, inputs: Types) -> tuple[TensorType, ...]:
        """x's type."""
        x = need(inputs, 0, self)
        self._check_groups(x, inputs)
        return (x,)

    def _check_groups(self, x: TensorType, inputs: Types) -> None:
        _check_channels(self, x, inputs, self.channels_last)
        channels = x.shape[-1 if self.channels_last else 1]
        if self.groups < 1 or channels % self.groups:
            raise ShapeError(f"{channels} channels do not divide into {self.groups} groups", where=self.name)

    def reference(self, inputs: Arrays) -> tuple[np.ndarray, ...]:
        """Mean and variance over space and a group's channels."""
        x = need_array(inputs, 0, self)
        data = np.moveaxis(x, -1, 1) if self.channels_last else x
        grouped = data.reshape(data.shape[0], self.groups, -1)
        result = normalised(grouped, (2,), self.epsilon).reshape(data.shape)
        scale, bias = (along(need_array(inputs, i, self), x.ndim, 1) for i in (1, 2))
        result = (result * scale + bias).astype(x.dtype, copy=False)
        return (np.ascontiguousarray(np.moveaxis(result, 1, -1)) if self.channels_last else result,)

    def cost(self, inputs: Types, outputs: Types) -> Cost:
        """About four operations for each element."""
        return _cost(inputs, outputs)


@dataclass(frozen=True)
class LayerNormalization(Operator):
    """Normalised over dimensions axis to the last. Inputs: x, scale or None, bias or None (broadcast)."""

    axis: int = -1
    epsilon: float = 1e-5

    n_inputs = (1, 3)

    def infer(self, inputs: Types) -> tuple[TensorType, ...]:
        """x's type."""
        x = need(inputs, 0, self)
        _check_trailing(self, x, inputs, self.axis)
        return (x,)

    def reference(self, inputs: Arrays) -> tuple[np.ndarray, ...]:
        """Mean and variance over the trailing dimensions."""
        x = need_array(inputs, 0, self)
        result = normalised(x, tuple(range(self.axis % x.ndim, x.ndim)), self.epsilon)
        if len(inputs) > 1 and inputs[1] is not None:
            result = result * inputs[1]
        if len(inputs) > 2 and inputs[2] is not None:
            result = result + inputs[2]
        return (result.astype(x.dtype, copy=False),)

    def cost(self, inputs: Types, outputs: Types) -> Cost:
        """About four operations for each element."""
        return _cost(inputs, outputs)


@dataclass(frozen=True)
class RMSNormalization(Operator):
    """x / sqrt(mean(x^2) + epsilon) over dimensions axis to the last. Inputs: x, scale or None."""

    axis: int = -1
    epsilon: float = 1e-5

    n_inputs = (1, 2)

    def infer(self, inputs: Types) -> tuple[TensorType, ...]:
        """x's type."""
        x = need(inputs, 0, self)
        _check_trailing(self, x, inputs, self.axis)
        return (x,)

    def reference(self, inputs: Arrays) -> tuple[np.ndarray, ...]:
        """Mean of squares over the trailing dimensions."""
        x = need_array(inputs, 0, self)
        axes = tuple(range(self.axis % x.ndim, x.ndim))
        result = x / np.sqrt((x * x).mean(axes, keepdims=True) + self.epsilon)
        if len(inputs) > 1 and inputs[1] is not None:
            result = result * inputs[1]
        return (result.astype(x.dtype, copy=False),)

    def cost(self, inputs: Types, outputs: Types) -> Cost:
        """About four operations for each element."""
        return _cost(inputs, outputs)


@dataclass(frozen=True)
class LpNormalization(Operator):
    """x divided by its p-norm along an axis."""

    axis: int = -1
    p: int = 2
    epsilon: float = 0.0

    def infer(self, inputs: Types) -> tuple[TensorType, ...]:
        """x's type."""
        x = need(inputs, 0, self)
        check_axis(self, x, self.axis)
        return (x,)

    def reference(self, inputs: Arrays) -> tuple[np.ndarray, ...]:
        """x over its norm; 0 where the norm is 0."""
        x = need_array(inputs, 0, self)
        powers = np.abs(x).sum(self.axis, keepdims=True) if self.p == 1 else (x * x).sum(self.axis, keepdims=True)
        # TFLite keeps the square of the norm away from 0 by epsilon.
        total = np.maximum(powers, self.epsilon)
        size = total if self.p == 1 else np.sqrt(total)
        with np.errstate(all="ignore"):
            return (np.where(size == 0, 0, x / size).astype(x.dtype, copy=False),)

    def cost(self, inputs: Types, outputs: Types) -> Cost:
        """About four operations for each element."""
        return _cost(inputs, outputs)


@dataclass(frozen=True)
class LRN(Operator):
    """Local response normalisation across channels: x / (bias + alpha/size sum of squares)^beta."""

    size: int = 5
    alpha: float = 1e-4
    beta: float = 0.75
    bias: float = 1.0
    channels_last: bool = False

    def infer(self, inputs: Types) -> tuple[TensorType, ...]:
        """x's type."""
        x = need(inputs, 0, self)
        _check_lrn(self, x)
        return (x,)

    def reference(self, inputs: Arrays) -> tuple[np.ndarray, ...]:
        """Squares summed over neighbouring channels."""
        x = need_array(inputs, 0, self)
        data = x if self.channels_last else np.moveaxis(x, 1, -1)
        before, after = (self.size - 1) // 2, self.size // 2
        padded = np.pad(data * data, [(0, 0)] * (data.ndim - 1) + [(before, after)])
        channels = data.shape[-1]
        squares = sum(padded[..., i : i + channels] for i in range(self.size))
        result = (data / (self.bias + self.alpha / self.size * squares) ** self.beta).astype(x.dtype, copy=False)
        return (result if self.channels_last else np.ascontiguousarray(np.moveaxis(result, -1, 1)),)

    def cost(self, inputs: Types, outputs: Types) -> Cost:
        """About four operations for each element."""
        return _cost(inputs, outputs)


@dataclass(frozen=True)
class MeanVarianceNormalization(Operator):
    """(x - mean) / (sqrt(var) + 1e-9) over the axes."""

    axes: tuple[int, ...] = (0, 2, 3)

    def infer(self, inputs: Types) -> tuple[TensorType, ...]:
        """x's type."""
        x = need(inputs, 0, self)
        reduced_shape(self, x, self.axes, True)
        return (x,)

    def reference(self, inputs: Arrays) -> tuple[np.ndarray, ...]:
        """Mean and standard deviation over the axes."""
        x = need_array(inputs, 0, self)
        deviation = np.sqrt(((x - x.mean(self.axes, keepdims=True)) ** 2).mean(self.axes, keepdims=True))
        return (((x - x.mean(self.axes, keepdims=True)) / (deviation + 1e-9)).astype(x.dtype, copy=False),)

    def cost(self, inputs: Types, outputs: Types) -> Cost:
        """About four operations for each element."""
        return _cost(inputs, outputs)


def along(vector: np.ndarray, rank: int, axis: int) -> np.ndarray:
    """A vector shaped to broadcast along one dimension of a tensor of that rank."""
    shape = [1] * rank
    shape[axis] = -1
    return vector.reshape(shape)


def normalised(x: np.ndarray, axes: tuple[int, ...], epsilon: float) -> np.ndarray:
    """(x - mean) / sqrt(variance + epsilon) over the axes; float16 in float32."""
    wide = x.astype(np.float32) if x.dtype == np.float16 else x
    centred = wide - wide.mean(axes, keepdims=True)
    return np.asarray(centred / np.sqrt((centred * centred).mean(axes, keepdims=True) + epsilon))


def _check_channels(op: Operator, x: TensorType, inputs: Types, channels_last: bool) -> None:
    """Each parameter has one element for each channel."""
    if x.rank < 2:
        raise ShapeError(f"x {x} has no channels", where=op.name)
    channels = x.shape[-1 if channels_last else 1]
    for i in range(1, len(inputs)):
        if need(inputs, i, op).shape != (channels,):
            raise ShapeError(f"input {i} {inputs[i]} does not have {channels} elements", where=op.name)


def _check_trailing(op: Operator, x: TensorType, inputs: Types, axis: int) -> None:
    """Scale and bias broadcast to x."""
    check_axis(op, x, axis)
    for i in (1, 2):
        found = optional(inputs, i)
        if found is not None and broadcast_shapes(x.shape, found.shape) != x.shape:
            raise ShapeError(f"input {i} {found} does not broadcast to {x}", where=op.name)


def _check_lrn(op: LRN, x: TensorType) -> None:
    if x.rank < 2 or op.size < 1:
        raise ShapeError(f"x {x} with a window of {op.size} channels", where=op.name)


def _cost(inputs: Types, outputs: Types) -> Cost:
    moved = sum(t.nbytes for t in (*inputs, *outputs) if t is not None)
    return Cost(4 * sum(t.elements for t in outputs if t is not None), moved)
