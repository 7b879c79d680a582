"""Convolutions. Weights go from the file's layouts (output channels first, or last for depthwise) to ONNX's."""

from __future__ import annotations

from collections.abc import Sequence

from mace_cl.errors import ImportModelError, ShapeError
from mace_cl.graph import Value
from mace_cl.graph.ops import Conv, ConvTranspose, Transpose
from mace_cl.importers.tflite.context import Context
from mace_cl.importers.tflite.padding import activate, is_same, window_pads
from mace_cl.importers.tflite.records import Options
from mace_cl.importers.tflite.registry import handles, handles_custom


@handles("CONV_2D")
def conv_2d(ctx: Context) -> Value:
    """Operands: x [N,H,W,I], weights [O,h,w,I/groups], bias [O]."""
    o = ctx.options("Conv2DOptions")
    x, weights = ctx.spatial(0), ctx.spatial(1)
    strides, dilations = _steps(o, "HW")
    return activate(ctx, _conv(ctx, x, weights, (0, 3, 1, 2), is_same(o.integer("Padding")), strides, dilations), o)


@handles("DEPTHWISE_CONV_2D")
def depthwise_conv_2d(ctx: Context) -> Value:
    """Operands: x [N,H,W,C], weights [1,h,w,C multiplier], bias; the multiplier follows from the shapes."""
    o = ctx.options("DepthwiseConv2DOptions")
    x, weights = ctx.spatial(0), ctx.spatial(1)
    if weights.shape[0] != 1 or x.shape[3] < 1 or weights.shape[3] % x.shape[3]:
        raise ShapeError(f"depthwise weights {list(weights.shape)} do not fit {x.shape[3]} channels")
    strides, dilations = _steps(o, "HW")
    return activate(ctx, _conv(ctx, x, weights, (3, 0, 1, 2), is_same(o.integer("Padding")), strides, dilations), o)


@handles("CONV_3D")
def conv_3d(ctx: Context) -> Value:
    """Operands: x [N,D,H,W,I], weights [d,h,w,I/groups,O], bias [O]."""
    o = ctx.options("Conv3DOptions")
    x, weights = ctx.spatial(0, 5), ctx.spatial(1, 5)
    strides, dilations = _steps(o, "DHW")
    return activate(ctx, _conv(ctx, x, weights, (4, 3, 0, 1, 2), is_same(o.integer("Padding")), strides, dilations), o)


@handles("TRANSPOSE_CONV")
def transpose_conv(ctx: Context) -> Value:
    """Operands: output shape, weights [O,h,w,I], x [N,H,W,I], bias [O]."""
    o = ctx.options("TransposeConvOptions")
    strides = (o.integer("StrideH"), o.integer("StrideW"))
    shape = ctx.ints(0, "output shape")
    x, weights = ctx.spatial(2), ctx.spatial(1)
    _check_output_shape(shape, x)
    same = is_same(o.integer("Padding"))
    value = _conv_transpose(ctx, x, weights, (3, 0, 1, 2), ctx.optional(3), same, strides, shape[1:-1])
    return activate(ctx, value, o)


@handles("CONV_3D_TRANSPOSE")
def conv_3d_transpose(ctx: Context) -> Value:
    """Operands: output shape, weights [d,h,w,O,I], x [N,D,H,W,I], bias [O]."""
    o = ctx.options("Conv3DOptions")
    strides, dilations = _steps(o, "DHW")
    shape = ctx.ints(0, "output shape")
    x, weights = ctx.spatial(2, 5), ctx.spatial(1, 5)
    _check_output_shape(shape, x)
    same = is_same(o.integer("Padding"))
    value = _conv_transpose(ctx, x, weights, (4, 3, 0, 1, 2), ctx.optional(3), same, strides, shape[1:-1], dilations)
    return activate(ctx, value, o)


@handles_custom("Convolution2DTransposeBias")
def convolution_2d_transpose_bias(ctx: Context) -> Value:
    """MediaPipe's transposed convolution. Operands: x [N,H,W,I], weights [O,h,w,I], bias [O].

    Its options are three little-endian int32: padding (1 SAME, 2 VALID), stride in width, stride in height.
    """
    raw = ctx.operator.custom_options
    if len(raw) < 12:
        raise ImportModelError(f"custom options of {len(raw)} bytes instead of 12")
    padding, stride_w, stride_h = (int.from_bytes(raw[i : i + 4], "little", signed=True) for i in (0, 4, 8))
    if padding not in (1, 2) or min(stride_w, stride_h) < 1:
        raise ImportModelError(f"custom options say padding {padding}, strides {stride_h} and {stride_w}")
    x, weights = ctx.spatial(0), ctx.spatial(1)
    strides, same = (stride_h, stride_w), padding == 1
    size = tuple(
        n * s if same else (n - 1) * s + k for n, s, k in zip(x.shape[1:3], strides, weights.shape[1:3], strict=True)
    )
    return _conv_transpose(ctx, x, weights, (3, 0, 1, 2), ctx.optional(2), same, strides, size)


def _steps(o: Options, axes: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Strides and dilations by the letters of the dimensions."""
    return tuple(o.integer(f"Stride{a}") for a in axes), tuple(o.integer(f"Dilation{a}Factor") for a in axes)


def _conv(
    ctx: Context,
    x: Value,
    weights: Value,
    perm: tuple[int, ...],
    same: bool,
    strides: tuple[int, ...],
    dilations: tuple[int, ...],
) -> Value:
    """A convolution whose weights become [O, I/groups, *kernel] by `perm`."""
    moved = ctx.emit(Transpose(perm), weights)
    channels, per_group = x.shape[-1], moved.shape[1]
    if per_group < 1 or channels % per_group:
        raise ShapeError(f"weights for {per_group} channels do not fit {channels}")
    pads = window_pads(same, x.shape[1:-1], moved.shape[2:], strides, dilations)
    op = Conv(strides, pads, dilations, channels // per_group, channels_last=True)
    return ctx.emit(op, x, moved, ctx.optional(2))


def _check_output_shape(shape: Sequence[int], x: Value) -> None:
    if len(shape) != x.type.rank or shape[0] != x.shape[0]:
        raise ShapeError(
            f"output shape {list(shape)} does not fit an input of {list(x.shape)}",
            hint="the model fixes this shape; other input shapes than its own may not fit it",
        )


def _conv_transpose(
    ctx: Context,
    x: Value,
    weights: Value,
    perm: tuple[int, ...],
    bias: Value | None,
    same: bool,
    strides: tuple[int, ...],
    size: Sequence[int],
    dilations: tuple[int, ...] | None = None,
) -> Value:
    """A transposed convolution with outputs of `size`, whose weights become [I, O, *kernel] by `perm`."""
    moved = ctx.emit(Transpose(perm), weights)
    dilations = dilations or (1,) * len(strides)
    # The convolution that it transposes goes from the output to the input, and its padding is the one meant.
    pads = window_pads(same, size, moved.shape[2:], strides, dilations)
    begins, extra = [], []
    for n, out, k, s, d, (before, _) in zip(
        x.shape[1:-1], size, moved.shape[2:], strides, dilations, pads, strict=True
    ):
        reach = d * (k - 1) + 1
        if n != (-(-out // s) if same else (out - reach) // s + 1):
            raise ShapeError(f"output size {list(size)} does not fit an input of {list(x.shape[1:-1])}")
        after = (n - 1) * s + reach - before - out
        begins.append((before, max(after, 0)))
        extra.append(max(-after, 0))
    op = ConvTranspose(strides, tuple(begins), dilations, tuple(extra), 1, channels_last=True)
    return ctx.emit(op, x, moved, bias)
