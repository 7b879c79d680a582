"""Pooling over windows of [N, H, W, C]."""

from __future__ import annotations

from mace_cl.graph import Value
from mace_cl.graph.ops import AveragePool, MaxPool, Sqrt, Square
from mace_cl.importers.tflite.context import Context
from mace_cl.importers.tflite.padding import Pads, activate, is_same, window_pads
from mace_cl.importers.tflite.records import Options
from mace_cl.importers.tflite.registry import handles

_Window = tuple[tuple[int, ...], tuple[int, ...], Pads]


@handles("MAX_POOL_2D")
def max_pool(ctx: Context) -> Value:
    """Greatest of each window."""
    x, (kernel, strides, pads), o = _window(ctx)
    return activate(ctx, ctx.emit(MaxPool(kernel, strides, pads, channels_last=True), x), o)


@handles("AVERAGE_POOL_2D")
def average_pool(ctx: Context) -> Value:
    """Mean of each window; padding does not count."""
    x, (kernel, strides, pads), o = _window(ctx)
    return activate(ctx, ctx.emit(AveragePool(kernel, strides, pads, channels_last=True), x), o)


@handles("L2_POOL_2D")
def l2_pool(ctx: Context) -> Value:
    """Root of the mean of squares of each window; padding does not count."""
    x, (kernel, strides, pads), o = _window(ctx)
    mean = ctx.emit(AveragePool(kernel, strides, pads, channels_last=True), ctx.emit(Square(), x))
    return activate(ctx, ctx.emit(Sqrt(), mean), o)


def _window(ctx: Context) -> tuple[Value, _Window, Options]:
    o = ctx.options("Pool2DOptions")
    x = ctx.spatial(0)
    kernel = (o.integer("FilterHeight"), o.integer("FilterWidth"))
    strides = (o.integer("StrideH"), o.integer("StrideW"))
    pads = window_pads(is_same(o.integer("Padding")), x.shape[1:3], kernel, strides, (1, 1))
    return x, (kernel, strides, pads), o
