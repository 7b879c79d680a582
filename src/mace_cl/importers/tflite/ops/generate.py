"""Tensors made from shapes and constants; all of them are known at compile time."""

from __future__ import annotations

import math

import numpy as np

from mace_cl.errors import ImportModelError, ShapeError
from mace_cl.graph import Value
from mace_cl.graph.fold import MAX_FOLDED_BYTES
from mace_cl.graph.ops import Expand, Reshape
from mace_cl.importers.tflite.context import Context
from mace_cl.importers.tflite.registry import handles


@handles("SHAPE")
def shape(ctx: Context) -> Value:
    """The operand's shape."""
    return ctx.constant(np.asarray(ctx.value(0).shape, ctx.output_dtype().numpy))


@handles("RANK")
def rank(ctx: Context) -> Value:
    """The operand's number of dimensions."""
    return ctx.constant(np.asarray(ctx.value(0).type.rank, np.int32))


@handles("RANGE")
def range_(ctx: Context) -> Value:
    """Operands: start, limit, delta."""
    start, limit, delta = (ctx.array(i, what) for i, what in enumerate(("start", "limit", "delta")))
    if not start.size == limit.size == delta.size == 1 or not delta.any():
        raise ImportModelError("start, limit and delta must be single numbers, and delta not 0")
    first, last, step = (a.reshape(()).item() for a in (start, limit, delta))
    count = max(0, math.ceil((last - first) / step))
    if count * start.itemsize > MAX_FOLDED_BYTES:
        raise ShapeError(f"a range of {count} elements is too large")
    return ctx.constant(np.asarray(first + np.arange(count) * step, start.dtype))


@handles("FILL")
def fill(ctx: Context) -> Value:
    """Operands: shape, value."""
    value = ctx.value(1)
    if value.type.elements != 1:
        raise ImportModelError(f"fills with {value.type.elements} values instead of one")
    return _full(ctx, ctx.ints(0, "shape"), ctx.emit(Reshape(()), value))


@handles("ZEROS_LIKE")
def zeros_like(ctx: Context) -> Value:
    """Zeros in the operand's shape and type."""
    x = ctx.value(0)
    return _full(ctx, x.shape, ctx.scalar(0, x))


def _full(ctx: Context, shape: tuple[int, ...], value: Value) -> Value:
    if any(d < 0 for d in shape):
        raise ShapeError(f"shape {list(shape)} has negative dimensions")
    return ctx.emit(Expand(shape), value)


@handles("BROADCAST_ARGS")
def broadcast_args(ctx: Context) -> Value:
    """The shape that two shapes broadcast to."""
    a, b = ctx.ints(0, "shape"), ctx.ints(1, "shape")
    if min(*a, *b, 0) < 0:
        raise ShapeError(f"shapes {list(a)} and {list(b)} have negative dimensions")
    return ctx.constant(np.asarray(np.broadcast_shapes(a, b), ctx.output_dtype().numpy))


@handles("WHERE")
def where(ctx: Context) -> Value:
    """Places where the operand is not zero, [n, rank]; the operand must be known, as n depends on it."""
    return ctx.constant(np.argwhere(ctx.array(0, "condition")).astype(np.int64))
