"""Indexed reads and writes."""

from __future__ import annotations

from mace_cl.graph import Value, ops
from mace_cl.importers.onnx.context import Context, axis_of
from mace_cl.importers.onnx.registry import handles
from mace_cl.types import DataType


@handles("Gather")
def gather(ctx: Context) -> Value:
    """Slices along axis."""
    x = ctx.value(0)
    return ctx.emit(ops.Gather(axis_of(ctx.attr_int("axis", 0), x.type.rank)), x, ctx.value(1))


@handles("GatherElements")
def gather_elements(ctx: Context) -> Value:
    """Elements along axis."""
    x = ctx.value(0)
    return ctx.emit(ops.GatherElements(axis_of(ctx.attr_int("axis", 0), x.type.rank)), x, ctx.value(1))


@handles("GatherND")
def gather_nd(ctx: Context) -> Value:
    """Slices at index tuples."""
    return ctx.emit(ops.GatherND(ctx.attr_int("batch_dims", 0)), ctx.value(0), ctx.value(1))


@handles("Scatter", "ScatterElements")
def scatter_elements(ctx: Context) -> Value:
    """Elements written along axis."""
    x = ctx.value(0)
    axis = axis_of(ctx.attr_int("axis", 0), x.type.rank)
    op = ops.ScatterElements(axis, ctx.attr_text("reduction", "none"))
    return ctx.emit(op, x, ctx.value(1), ctx.value(2))


@handles("ScatterND")
def scatter_nd(ctx: Context) -> Value:
    """Slices written at index tuples."""
    op = ops.ScatterND(ctx.attr_text("reduction", "none"))
    return ctx.emit(op, ctx.value(0), ctx.value(1), ctx.value(2))


@handles("OneHot")
def one_hot(ctx: Context) -> Value:
    """A new axis with one place marked."""
    indices = ctx.value(0)
    if indices.dtype.is_float:
        indices = ctx.emit(ops.Cast(DataType.INT64), indices)
    rank = indices.type.rank + 1
    axis = axis_of(ctx.attr_int("axis", -1), rank)
    return ctx.emit(ops.OneHot(int(ctx.number(1, "depth")), axis), indices, ctx.value(2))
