"""Blocks of space to channels and back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mace_cl.errors import ShapeError
from mace_cl.graph.ops.base import Arrays, Operator, Types, need, need_array
from mace_cl.graph.ops.windows import from_channels_last, join, to_channels_last
from mace_cl.types import Shape, TensorType


@dataclass(frozen=True)
class DepthToSpace(Operator):
    """Channels to block x block pixels. mode: 'DCR' (ONNX's default and TFLite's) or 'CRD'."""

    block: int = 2
    mode: str = "DCR"
    channels_last: bool = False

    def infer(self, inputs: Types) -> tuple[TensorType, ...]:
        """[N, C / block^2, H block, W block], or the like with channels last."""
        n, h, w, c = _nhwc(self, need(inputs, 0, self), self.channels_last)
        b = self.block
        if b < 1 or c % (b * b):
            raise ShapeError(f"{c} channels are no multiple of the block's {b * b} pixels", where=self.name)
        shape = join(n, c // (b * b), (h * b, w * b), self.channels_last)
        return (need(inputs, 0, self).with_shape(shape),)

    def reference(self, inputs: Arrays) -> tuple[np.ndarray, ...]:
        """A transpose of the split dimensions."""
        x = to_channels_last(need_array(inputs, 0, self), self.channels_last)
        n, h, w, c = x.shape
        b = self.block
        if self.mode == "DCR":
            split = x.reshape(n, h, w, b, b, c // (b * b)).transpose(0, 1, 3, 2, 4, 5)
        else:
            split = x.reshape(n, h, w, c // (b * b), b, b).transpose(0, 1, 4, 2, 5, 3)
        return (from_channels_last(split.reshape(n, h * b, w * b, c // (b * b)), self.channels_last),)


@dataclass(frozen=True)
class SpaceToDepth(Operator):
    """block x block pixels to channels, block-major."""

    block: int = 2
    channels_last: bool = False

    def infer(self, inputs: Types) -> tuple[TensorType, ...]:
        """[N, C block^2, H / block, W / block], or the like with channels last."""
        n, h, w, c = _nhwc(self, need(inputs, 0, self), self.channels_last)
        b = self.block
        if b < 1 or h % b or w % b:
            raise ShapeError(f"{h} x {w} pixels are no multiple of the block {b}", where=self.name)
        return (need(inputs, 0, self).with_shape(join(n, c * b * b, (h // b, w // b), self.channels_last)),)

    def reference(self, inputs: Arrays) -> tuple[np.ndarray, ...]:
        """A transpose of the split dimensions."""
        x = to_channels_last(need_array(inputs, 0, self), self.channels_last)
        n, h, w, c = x.shape
        b = self.block
        split = x.reshape(n, h // b, b, w // b, b, c).transpose(0, 1, 3, 2, 4, 5)
        return (from_channels_last(split.reshape(n, h // b, w // b, b * b * c), self.channels_last),)


def _nhwc(op: DepthToSpace | SpaceToDepth, x: TensorType, channels_last: bool) -> Shape:
    """(N, H, W, C)."""
    if x.rank != 4:
        raise ShapeError(f"x {x} does not have 4 dimensions", where=op.name)
    if isinstance(op, DepthToSpace) and op.mode not in ("DCR", "CRD"):
        raise ShapeError(f"mode {op.mode!r} is neither 'DCR' nor 'CRD'", where=op.name)
    a, b, c, d = x.shape
    return (a, b, c, d) if channels_last else (a, c, d, b)
