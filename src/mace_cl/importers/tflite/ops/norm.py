"""Normalisation."""

from __future__ import annotations

from mace_cl.errors import ShapeError
from mace_cl.graph import Value
from mace_cl.graph.ops import LRN, Div, Max, ReduceL2
from mace_cl.importers.tflite.context import Context, axis_of
from mace_cl.importers.tflite.padding import activate
from mace_cl.importers.tflite.registry import handles

L2_EPSILON = 1e-6


@handles("L2_NORMALIZATION")
def l2_normalization(ctx: Context) -> Value:
    """x divided by its 2-norm along the last axis, which counts as 1e-6 at least."""
    x = ctx.value(0)
    norm = ctx.emit(ReduceL2((axis_of(-1, x.type.rank),), keepdims=True), x)
    bounded = ctx.emit(Max(), norm, ctx.scalar(L2_EPSILON, x))
    return activate(ctx, ctx.emit(Div(), x, bounded), ctx.options("L2NormOptions"))


@handles("LOCAL_RESPONSE_NORMALIZATION")
def local_response_normalization(ctx: Context) -> Value:
    """x / (bias + alpha sum of squares over 2 radius + 1 channels)^beta."""
    o = ctx.options("LocalResponseNormalizationOptions")
    radius = o.integer("Radius")
    if radius < 0:
        raise ShapeError(f"radius {radius} is negative")
    size = 2 * radius + 1
    # The graph's operator divides alpha by the size of the window, as ONNX does.
    op = LRN(size, o.number("Alpha") * size, o.number("Beta"), o.number("Bias"), channels_last=True)
    return ctx.emit(op, ctx.spatial(0))
