"""Convolutions as the kernels see them: channels last, two spatial dimensions, rarely three; one has height 1."""

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
        d, out_d, kd, sd, dd, front: The same along a third dimension, the outermost.
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
    d: int = 1
    out_d: int = 1
    kd: int = 1
    sd: int = 1
    dd: int = 1
    front: int = 0

    @property
    def pixels(self) -> int:
        """Output pixels of all images."""
        return self.n * self.out_d * self.out_h * self.out_w

    @property
    def taps(self) -> int:
        """Places of the kernel."""
        return self.kd * self.kh * self.kw

    @property
    def is_depthwise(self) -> bool:
        """Whether each group has one input channel, and there are several groups."""
        return self.groups == self.ci and self.ci > 1

    def inside(self) -> bool:
        """Whether no tap of any output pixel falls outside the input."""
        last_y = (self.out_h - 1) * self.sh - self.top + (self.kh - 1) * self.dh
        last_x = (self.out_w - 1) * self.sw - self.left + (self.kw - 1) * self.dw
        return self.top == 0 and self.left == 0 and last_y < self.h and last_x < self.w


def window_of(node: Node, most_dimensions: int = 2) -> Window | Refusal:
    """The window of a Conv or ConvTranspose of float32 data, channels last; or why there is none.

    Args:
        node: The node.
        most_dimensions: Spatial dimensions at most: 2 or 3.
    """
    op = node.op
    assert isinstance(op, Conv | ConvTranspose)
    x, weights, y = node.input(0), node.input(1), node.output
    if not op.channels_last:
        return Refusal("data is not channels last")
    if not 1 <= x.type.rank - 2 <= most_dimensions:
        return Refusal(f"{x.type.rank - 2} spatial dimensions, not 1 to {most_dimensions}")
    if reason := not_float32(x, weights, y):
        return reason
    one, zero = (1,) * (5 - x.type.rank), (0,) * (5 - x.type.rank)
    (d, h, w), (out_d, out_h, out_w) = (*one, *x.shape[1:-1]), (*one, *y.shape[1:-1])
    kd, kh, kw = (*one, *weights.shape[2:])
    sd, sh, sw = (*one, *op.strides)
    dd, dh, dw = (*one, *op.dilations)
    front, top, left = (*zero, *(begin for begin, _ in op.pads))
    plane = (h, w, x.shape[-1], out_h, out_w, y.shape[-1], kh, kw, sh, sw, dh, dw, top, left)
    return Window(x.shape[0], *plane, op.groups, d, out_d, kd, sd, dd, front)


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
