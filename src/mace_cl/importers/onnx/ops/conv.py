"""Convolution and its transpose. Weights may be computed."""

from __future__ import annotations

from mace_cl.errors import ShapeError
from mace_cl.graph import Value, ops
from mace_cl.importers.onnx.context import Context
from mace_cl.importers.onnx.registry import handles
from mace_cl.importers.onnx.windows import Pads, auto_pad, pairs, per_dimension, split_total, window_pads
from mace_cl.types import Shape


@handles("Conv")
def conv(ctx: Context) -> Value:
    """x, weights [O, I/groups, *kernel], bias."""
    x, weights, kernel = _operands(ctx)
    rank = len(kernel)
    strides, dilations = per_dimension(ctx, "strides", rank), per_dimension(ctx, "dilations", rank)
    pads = window_pads(ctx, x.shape[2:], kernel, strides, dilations)
    op = ops.Conv(strides, pads, dilations, ctx.attr_int("group", 1))
    return ctx.emit(op, x, weights, ctx.optional(2))


@handles("ConvTranspose")
def conv_transpose(ctx: Context) -> Value:
    """x, weights [I, O/groups, *kernel], bias."""
    x, weights, kernel = _operands(ctx)
    rank = len(kernel)
    strides, dilations = per_dimension(ctx, "strides", rank), per_dimension(ctx, "dilations", rank)
    extra = per_dimension(ctx, "output_padding", rank, 0)
    full = tuple(
        s * (n - 1) + e + d * (k - 1) + 1
        for n, k, s, d, e in zip(x.shape[2:], kernel, strides, dilations, extra, strict=True)
    )
    pads, extra = _transpose_pads(ctx, x.shape[2:], strides, full, extra)
    op = ops.ConvTranspose(strides, pads, dilations, extra, ctx.attr_int("group", 1))
    return ctx.emit(op, x, weights, ctx.optional(2))


def _operands(ctx: Context) -> tuple[Value, Value, Shape]:
    """x, weights, and the kernel's size."""
    x, weights = ctx.value(0), ctx.value(1)
    if x.type.rank < 3 or weights.type.rank != x.type.rank:
        raise ShapeError(f"x {x.type} and weights {weights.type} must have the same number of dimensions, 3 or more")
    kernel = weights.shape[2:]
    if ctx.has("kernel_shape") and ctx.attr_ints("kernel_shape") != kernel:
        raise ShapeError(f"kernel_shape {list(ctx.attr_ints('kernel_shape'))} differs from the weights' {list(kernel)}")
    return x, weights, kernel


def _transpose_pads(
    ctx: Context, size: Shape, strides: Shape, full: Shape, extra: Shape
) -> tuple[Pads, tuple[int, ...]]:
    """Pads and output padding of a transposed convolution that gives `full` elements without pads."""
    mode, rank = auto_pad(ctx), len(size)
    wanted: Shape | None = None
    if ctx.has("output_shape"):
        # Some exporters list batch and channels too.
        wanted = ctx.attr_ints("output_shape")[-rank:]
        if len(wanted) != rank:
            raise ShapeError(f"output_shape {list(wanted)} does not fit {rank} spatial dimensions")
    elif mode.startswith("SAME"):
        wanted = tuple(n * s for n, s in zip(size, strides, strict=True))
    if wanted is None:
        given = ctx.attr_ints("pads", (0,) * 2 * rank) if mode == "NOTSET" else (0,) * 2 * rank
        return pairs(given, rank), extra
    totals = [f - w for f, w in zip(full, wanted, strict=True)]
    pads = tuple(split_total(max(t, 0), mode) for t in totals)
    # Where more is wanted than the windows reach, the rest at the end is zeros.
    return pads, tuple(e + max(-t, 0) for e, t in zip(extra, totals, strict=True))
