"""Convolution and its transpose, any number of spatial dimensions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mace_cl.errors import ShapeError
from mace_cl.graph.ops.base import Arrays, Cost, Operator, Types, need, need_array, optional
from mace_cl.graph.ops.expression import Expression
from mace_cl.graph.ops.windows import (
    check_lengths,
    check_pads,
    check_positive,
    from_channels_last,
    join,
    output_sizes,
    pad_spatial,
    spatial_of,
    tap_of,
    taps,
    to_channels_last,
)
from mace_cl.types import Shape, TensorType


@dataclass(frozen=True)
class Conv(Operator):
    """Convolution. Inputs: x, weights [O, I/groups, *kernel], bias [O] or None, operands 1.. of the epilogue.

    x is [N, I, *S], or [N, *S, I] with channels_last; the output likewise with O. The kernel's size is that of
    the weights. The epilogue is applied to sum + bias as operand 0; its other operands broadcast to the output.

    Attributes:
        strides, dilations: One for each spatial dimension.
        pads: (begin, end) for each spatial dimension, at least 0.
        groups: Number of groups; depthwise where it equals I.
        channels_last: Layout of data.
        epilogue: Elementwise steps on the sum.
    """

    strides: tuple[int, ...] = (1, 1)
    pads: tuple[tuple[int, int], ...] = ((0, 0), (0, 0))
    dilations: tuple[int, ...] = (1, 1)
    groups: int = 1
    channels_last: bool = False
    epilogue: Expression = Expression()

    n_inputs = (2, None)

    def infer(self, inputs: Types) -> tuple[TensorType, ...]:
        """[N, O, *out] or [N, *out, O], in x's type, then the epilogue's."""
        x, w = need(inputs, 0, self), need(inputs, 1, self)
        spatial = _check_common(self, x, w)
        channels = x.shape[-1] if self.channels_last else x.shape[1]
        if self.groups < 1 or channels != w.shape[1] * self.groups or w.shape[0] % self.groups:
            raise ShapeError(
                f"{channels} input channels and weights {w.shape} do not fit {self.groups} groups", where=self.name
            )
        _check_bias(self, inputs, w.shape[0])
        out = output_sizes(self, spatial, w.shape[2:], self.strides, self.pads, self.dilations)
        result = TensorType(x.dtype, join(x.shape[0], w.shape[0], out, self.channels_last))
        return (_with_epilogue(self, self.epilogue, result, inputs),)

    def reference(self, inputs: Arrays) -> tuple[np.ndarray, ...]:
        """A matrix product for each place of the window."""
        x, w = need_array(inputs, 0, self), need_array(inputs, 1, self)
        wide = np.promote_types(x.dtype, np.float32) if x.dtype.kind == "f" else x.dtype
        data = to_channels_last(x, self.channels_last).astype(wide, copy=False)
        out = output_sizes(self, data.shape[1:-1], w.shape[2:], self.strides, self.pads, self.dilations)
        padded = pad_spatial(data, self.pads, 0)
        total = np.zeros((x.shape[0], *out, w.shape[0]), wide)
        for place, view in taps(padded, w.shape[2:], self.strides, self.dilations, out):
            _add_product(total, view, tap_of(w, place).astype(wide, copy=False), self.groups)
        return (_finish(self, self.epilogue, total, x, inputs),)

    def cost(self, inputs: Types, outputs: Types) -> Cost:
        """Two operations for each weight and output pixel."""
        w, y = need(inputs, 1, self), need(outputs, 0, self)
        moved = sum(t.nbytes for t in (*inputs, *outputs) if t is not None)
        return Cost(2 * w.elements * (y.elements // max(w.shape[0], 1)), moved)


@dataclass(frozen=True)
class ConvTranspose(Operator):
    """Transposed convolution. Inputs: x, weights [I, O/groups, *kernel], bias [O] or None, epilogue's operands.

    Output size in each dimension: stride (in - 1) + output_padding + dilation (kernel - 1) + 1 - begin - end.

    Attributes:
        strides, pads, dilations, groups, channels_last, epilogue: As for Conv.
        output_padding: Added at the end of each spatial dimension.
    """

    strides: tuple[int, ...] = (1, 1)
    pads: tuple[tuple[int, int], ...] = ((0, 0), (0, 0))
    dilations: tuple[int, ...] = (1, 1)
    output_padding: tuple[int, ...] = (0, 0)
    groups: int = 1
    channels_last: bool = False
    epilogue: Expression = Expression()

    n_inputs = (2, None)

    def infer(self, inputs: Types) -> tuple[TensorType, ...]:
        """[N, O, *out] or [N, *out, O], in x's type, then the epilogue's."""
        x, w = need(inputs, 0, self), need(inputs, 1, self)
        spatial = _check_common(self, x, w)
        check_lengths(self, len(spatial), output_padding=self.output_padding)
        channels = x.shape[-1] if self.channels_last else x.shape[1]
        if self.groups < 1 or channels != w.shape[0] or channels % self.groups:
            raise ShapeError(
                f"{channels} input channels and weights {w.shape} do not fit {self.groups} groups", where=self.name
            )
        _check_bias(self, inputs, w.shape[1] * self.groups)
        out = self.output_sizes(spatial, w.shape[2:])
        result = TensorType(x.dtype, join(x.shape[0], w.shape[1] * self.groups, out, self.channels_last))
        return (_with_epilogue(self, self.epilogue, result, inputs),)

    def output_sizes(self, spatial: Shape, kernel: Shape) -> Shape:
        """Output size in each spatial dimension.

        Raises:
            ShapeError: One is below 1 though the input is not empty.
        """
        sizes = tuple(
            s * (n - 1) + extra + d * (k - 1) + 1 - begin - end
            for n, k, s, d, extra, (begin, end) in zip(
                spatial, kernel, self.strides, self.dilations, self.output_padding, self.pads, strict=True
            )
        )
        if any(size < 1 for size in sizes):
            raise ShapeError(f"the output would have spatial size {sizes}", where=self.name)
        return sizes

    def reference(self, inputs: Arrays) -> tuple[np.ndarray, ...]:
        """Each place of the window spreads a matrix product over the output."""
        x, w = need_array(inputs, 0, self), need_array(inputs, 1, self)
        wide = np.promote_types(x.dtype, np.float32) if x.dtype.kind == "f" else x.dtype
        data = to_channels_last(x, self.channels_last).astype(wide, copy=False)
        spatial, kernel = data.shape[1:-1], w.shape[2:]
        out = self.output_sizes(spatial, kernel)
        # The sum is gathered on a canvas that holds every tap, then cut to the output.
        canvas = [
            max(s * (n - 1) + d * (k - 1) + 1, begin + o)
            for n, k, s, d, (begin, _), o in zip(
                spatial, kernel, self.strides, self.dilations, self.pads, out, strict=True
            )
        ]
        total = np.zeros((x.shape[0], *canvas, w.shape[1] * self.groups), wide)
        grouped = w.reshape(self.groups, w.shape[0] // self.groups, *w.shape[1:])
        for place, view in taps(total, kernel, self.strides, self.dilations, spatial):
            tap = np.moveaxis(tap_of(grouped, place), 1, 2)
            _add_product(view, data, tap.reshape(-1, tap.shape[2]).astype(wide, copy=False), self.groups)
        cut = tuple(slice(begin, begin + o) for (begin, _), o in zip(self.pads, out, strict=True))
        return (_finish(self, self.epilogue, total[(slice(None), *cut, slice(None))], x, inputs),)

    def cost(self, inputs: Types, outputs: Types) -> Cost:
        """Two operations for each weight and input pixel."""
        x, w = need(inputs, 0, self), need(inputs, 1, self)
        moved = sum(t.nbytes for t in (*inputs, *outputs) if t is not None)
        return Cost(2 * w.elements * (x.elements // max(w.shape[0], 1)), moved)


def _check_common(op: Conv | ConvTranspose, x: TensorType, w: TensorType) -> Shape:
    """The spatial dimensions, after ranks, types and attributes were checked."""
    if x.rank < 3 or w.rank != x.rank:
        raise ShapeError(f"x {x} and weights {w} must have the same rank of at least 3", where=op.name)
    if x.dtype is not w.dtype:
        raise ShapeError(f"x is {x.dtype.value}, the weights are {w.dtype.value}", where=op.name)
    spatial = spatial_of(x.shape, op.channels_last)
    check_lengths(op, len(spatial), strides=op.strides, pads=op.pads, dilations=op.dilations)
    check_positive(op, strides=op.strides, dilations=op.dilations, kernel=w.shape[2:])
    check_pads(op, op.pads)
    return spatial


def _check_bias(op: Operator, inputs: Types, channels: int) -> None:
    bias = optional(inputs, 2)
    if bias is not None and bias.shape != (channels,):
        raise ShapeError(f"bias {bias} does not have {channels} elements", where=op.name)


def _with_epilogue(op: Operator, epilogue: Expression, result: TensorType, inputs: Types) -> TensorType:
    """The type after the epilogue, which may change neither shape nor rank."""
    if not epilogue:
        return result
    final = epilogue.infer([result, *inputs[3:]])
    if final.shape != result.shape:
        raise ShapeError(f"the epilogue turns {result.shape} into {final.shape}", where=op.name)
    return final


def _add_product(total: np.ndarray, view: np.ndarray, tap: np.ndarray, groups: int) -> None:
    """total[..., O] += view[..., I] @ tap[O, I/groups] for each group."""
    if groups == 1:
        total += view @ tap.T
        return
    inner, outer = tap.shape[1], tap.shape[0] // groups
    if inner == 1:
        total += np.repeat(view, outer, axis=-1) * tap[:, 0]
        return
    split = view.reshape(*view.shape[:-1], groups, 1, inner)
    weights = tap.reshape(groups, outer, inner).swapaxes(1, 2)
    total += (split @ weights).reshape(total.shape)


def _finish(
    op: Conv | ConvTranspose, epilogue: Expression, total: np.ndarray, x: np.ndarray, inputs: Arrays
) -> np.ndarray:
    """Bias, layout, type and epilogue."""
    if len(inputs) > 2 and inputs[2] is not None:
        total = total + inputs[2]
    result = from_channels_last(total, op.channels_last).astype(x.dtype, copy=False)
    return epilogue.reference([result, *inputs[3:]]) if epilogue else result
