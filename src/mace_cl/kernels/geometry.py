"""Convolutions as the kernels see them: two spatial dimensions (one-dimensional ones have height 1), channels last."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mace_cl.graph.core import Node, Value
from mace_cl.graph.ops.base import Cost
from mace_cl.graph.ops.conv import Conv, ConvTranspose
from mace_cl.kernels.base import Refusal
from mace_cl.types import DataType

INT_LIMIT = 1 << 31


@dataclass(frozen=True)
class Window:
    """Sizes of a convolution or a transposed one. Names follow OpenCL arguments: h, w in, out_h, out_w out.

    Attributes:
        n: Images.
        h, w, ci: Input height, width and channels.
        out_h, out_w, co: Output height, width and channels.
        kh, kw, sh, sw, dh, dw: Kernel, strides, dilations.
        top, left: Zeros in front.
        groups: Number of groups.
    """

    n: int
    h: int
    w: int
    ci: int
    out_h: int
    out_w: int
    co: int
    kh: int
    kw: int
    sh: int
    sw: int
    dh: int
    dw: int
    top: int
    left: int
    groups: int

    @property
    def pixels(self) -> int:
        """Output pixels of all images."""
        return self.n * self.out_h * self.out_w

    @property
    def is_depthwise(self) -> bool:
        """Whether each group has one input channel, and there are several groups."""
        return self.groups == self.ci and self.ci > 1

    def inside(self) -> bool:
        """Whether no tap of any output pixel falls outside the input."""
        last_y = (self.out_h - 1) * self.sh - self.top + (self.kh - 1) * self.dh
        last_x = (self.out_w - 1) * self.sw - self.left + (self.kw - 1) * self.dw
        return self.top == 0 and self.left == 0 and last_y < self.h and last_x < self.w


def window_of(node: Node) -> Window | Refusal:
    """The window of a Conv or ConvTranspose with float32 data of rank 3 or 4, channels last; or why there is none."""
    op = node.op
    assert isinstance(op, Conv | ConvTranspose)
    x, weights, y = node.input(0), node.input(1), node.output
    if not op.channels_last:
        return Refusal("data is not channels last")
    if x.type.rank not in (3, 4):
        return Refusal(f"{x.type.rank - 2} spatial dimensions, not 1 or 2")
    if reason := not_float32(x, weights, y):
        return reason
    pad = (1,) * (4 - x.type.rank)
    zero = (0,) * (4 - x.type.rank)
    (h, w), (out_h, out_w) = (*pad, *x.shape[1:-1]), (*pad, *y.shape[1:-1])
    kh, kw = (*pad, *weights.shape[2:])
    sh, sw = (*pad, *op.strides)
    dh, dw = (*pad, *op.dilations)
    top, left = (*zero, *(begin for begin, _ in op.pads))
    ci, co = x.shape[-1], y.shape[-1]
    return Window(x.shape[0], h, w, ci, out_h, out_w, co, kh, kw, sh, sw, dh, dw, top, left, op.groups)


def not_float32(*values: Value | None) -> Refusal | None:
    """Why a kernel for dense float32 tensors, indexed by int, cannot take the values."""
    for value in values:
        if value is not None and value.dtype is not DataType.FLOAT32:
            return Refusal(f"{value.dtype.value} data, not float32")
        if value is not None and value.type.elements >= INT_LIMIT:
            return Refusal("a tensor has 2^31 elements or more")
        if value is not None and value.type.elements == 0:
            return Refusal("a tensor is empty")
    return None


def constant_bias(node: Node, channels: int) -> np.ndarray | Refusal | None:
    """The bias (input 2) as a constant for each channel, None where absent, or why it is neither."""
    bias = node.inputs[2] if len(node.inputs) > 2 else None
    if bias is None:
        return None
    if bias.data is None:
        return Refusal("bias is not constant")
    if bias.data.size not in (1, channels) or (bias.data.size > 1 and bias.shape[-1] != channels):
        return Refusal(f"bias has the shape {list(bias.shape)}, not one value for each channel")
    if bias.dtype is not DataType.FLOAT32:
        return Refusal(f"{bias.dtype.value} bias, not float32")
    return bias.data


def node_cost(node: Node) -> Cost:
    """FLOP and bytes of a node."""
    return node.op.cost([None if v is None else v.type for v in node.inputs], [v.type for v in node.outputs])
