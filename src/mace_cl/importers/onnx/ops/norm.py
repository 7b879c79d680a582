"""Normalisation."""

from __future__ import annotations

from collections.abc import Sequence

from mace_cl.errors import ShapeError, UnsupportedError
from mace_cl.graph import Value, ops
from mace_cl.importers.onnx.context import Context, axes_of, axis_of
from mace_cl.importers.onnx.registry import handles


@handles("BatchNormalization")
def batch_normalization(ctx: Context) -> Value:
    """With known statistics, as in a trained network."""
    if ctx.attr_bool("training_mode") or any(ctx.wants(i) for i in range(1, ctx.n_outputs)):
        raise UnsupportedError("computes statistics for training; networks are run here, not trained")
    if ctx.opset < 9 and not ctx.attr_bool("spatial", True):
        raise UnsupportedError("statistics for each pixel (spatial=0) are not supported")
    op = ops.BatchNormalization(ctx.attr_float("epsilon", 1e-5))
    return ctx.emit(op, *(ctx.value(i) for i in range(5)))


@handles("InstanceNormalization")
def instance_normalization(ctx: Context) -> Value:
    """Over space."""
    op = ops.InstanceNormalization(ctx.attr_float("epsilon", 1e-5))
    return ctx.emit(op, ctx.value(0), ctx.value(1), ctx.value(2))


@handles("GroupNormalization", since=18)
def group_normalization_by_group(ctx: Context) -> Value:
    """Scale and bias have one element for each group."""
    x, groups = ctx.value(0), ctx.attr_int("num_groups")
    channels = x.shape[1] if x.type.rank > 1 else 0
    if groups < 1 or channels % groups:
        raise ShapeError(f"{channels} channels do not divide into {groups} groups")
    scale, bias = (_spread(ctx, ctx.value(i), groups, channels // groups) for i in (1, 2))
    return ctx.emit(ops.GroupNormalization(groups, ctx.attr_float("epsilon", 1e-5)), x, scale, bias)


def _spread(ctx: Context, vector: Value, groups: int, size: int) -> Value:
    """One element for each group to one for each of its channels."""
    column = ctx.emit(ops.Reshape((groups, 1)), vector)
    return ctx.emit(ops.Reshape((groups * size,)), ctx.emit(ops.Expand((groups, size)), column))


@handles("GroupNormalization", since=21)
def group_normalization(ctx: Context) -> Value:
    """Scale and bias have one element for each channel."""
    op = ops.GroupNormalization(ctx.attr_int("num_groups"), ctx.attr_float("epsilon", 1e-5))
    return ctx.emit(op, ctx.value(0), ctx.value(1), ctx.value(2))


@handles("LayerNormalization")
def layer_normalization(ctx: Context) -> Value | Sequence[Value | None]:
    """Over the dimensions from axis on; mean and deviation only where they are asked for."""
    if ctx.wants(1) or ctx.wants(2):
        return ctx.expand()
    x = ctx.value(0)
    op = ops.LayerNormalization(axis_of(ctx.attr_int("axis", -1), x.type.rank), ctx.attr_float("epsilon", 1e-5))
    return ctx.emit(op, x, ctx.value(1), ctx.optional(2))


@handles("RMSNormalization")
def rms_normalization(ctx: Context) -> Value:
    """Over the dimensions from axis on."""
    x = ctx.value(0)
    op = ops.RMSNormalization(axis_of(ctx.attr_int("axis", -1), x.type.rank), ctx.attr_float("epsilon", 1e-5))
    return ctx.emit(op, x, ctx.value(1))


@handles("LpNormalization")
def lp_normalization(ctx: Context) -> Value:
    """By the norm along axis."""
    x, p = ctx.value(0), ctx.attr_int("p", 2)
    if p not in (1, 2):
        raise UnsupportedError(f"the norm of order {p} is not supported, only 1 and 2")
    return ctx.emit(ops.LpNormalization(axis_of(ctx.attr_int("axis", -1), x.type.rank), p), x)


@handles("LRN")
def local_response_normalization(ctx: Context) -> Value:
    """Across neighbouring channels."""
    op = ops.LRN(
        ctx.attr_int("size"), ctx.attr_float("alpha", 1e-4), ctx.attr_float("beta", 0.75), ctx.attr_float("bias", 1.0)
    )
    return ctx.emit(op, ctx.value(0))


@handles("MeanVarianceNormalization")
def mean_variance_normalization(ctx: Context) -> Value:
    """Over the axes."""
    x = ctx.value(0)
    axes = tuple(sorted(axes_of(ctx.attr_ints("axes", (0, 2, 3)), x.type.rank)))
    return ctx.emit(ops.MeanVarianceNormalization(axes), x)
