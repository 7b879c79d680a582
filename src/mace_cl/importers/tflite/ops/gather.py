"""Indexed reads and writes."""

from __future__ import annotations

import numpy as np

from mace_cl.errors import ShapeError
from mace_cl.graph import Value
from mace_cl.graph.ops import Equal, Expand, Gather, GatherND, Reshape, ScatterND, Where
from mace_cl.importers.tflite.context import Context, axis_of
from mace_cl.importers.tflite.registry import handles


@handles("GATHER")
def gather(ctx: Context) -> Value:
    """Operands: data, indices."""
    o, x = ctx.options("GatherOptions"), ctx.value(0)
    indices = ctx.value(1)
    batch_dims = o.integer("BatchDims")
    if batch_dims:
        batch_dims = axis_of(batch_dims, indices.type.rank + 1, "batch dimensions")
    return ctx.emit(Gather(axis_of(o.integer("Axis"), x.type.rank), batch_dims), x, indices)


@handles("EMBEDDING_LOOKUP")
def embedding_lookup(ctx: Context) -> Value:
    """Operands: row numbers, table."""
    return ctx.emit(Gather(0), ctx.value(1), ctx.value(0))


@handles("GATHER_ND")
def gather_nd(ctx: Context) -> Value:
    """Operands: data, index tuples."""
    return ctx.emit(GatherND(), ctx.value(0), ctx.value(1))


@handles("SCATTER_ND")
def scatter_nd(ctx: Context) -> Value:
    """Operands: index tuples, updates, shape. Updates of the same place are added."""
    indices, updates, shape = ctx.value(0), ctx.value(1), ctx.ints(2, "shape")
    if any(d < 0 for d in shape):
        raise ShapeError(f"shape {list(shape)} has negative dimensions")
    zeros = ctx.emit(Expand(shape), ctx.scalar(0, updates))
    return ctx.emit(ScatterND("add"), zeros, indices, updates)


@handles("ONE_HOT")
def one_hot(ctx: Context) -> Value:
    """Operands: indices, depth, on, off. An index outside of the depth, negative ones too, is off everywhere."""
    indices, depth = ctx.value(0), ctx.integer(1, "depth")
    on, off = ctx.value(2), ctx.value(3)
    rank = indices.type.rank
    if depth < 0:
        raise ShapeError(f"depth {depth} is negative")
    axis = axis_of(ctx.options("OneHotOptions").integer("Axis"), rank + 1)
    # Written as a comparison: the graph's OneHot counts negative indices from the end.
    places = np.arange(depth, dtype=indices.dtype.numpy).reshape(-1, *[1] * (rank - axis))
    column = ctx.emit(Reshape((*indices.shape[:axis], 1, *indices.shape[axis:])), indices)
    return ctx.emit(Where(), ctx.emit(Equal(), column, ctx.constant(places)), _scalar(ctx, on), _scalar(ctx, off))


def _scalar(ctx: Context, value: Value) -> Value:
    return value if value.type.rank == 0 else ctx.emit(Reshape(()), value)
