"""Shapes: changing them, and asking for them. What is asked is known at once, so arithmetic on it folds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mace_cl.errors import ShapeError, UnsupportedError
from mace_cl.graph import Value, ops
from mace_cl.graph.ops.broadcast import broadcast_shapes
from mace_cl.importers.onnx.context import Context, axes_of, axis_of
from mace_cl.importers.onnx.registry import handles
from mace_cl.types import Shape


@handles("Identity")
def identity(ctx: Context) -> Value:
    """x."""
    return ctx.emit(ops.Identity(), ctx.value(0))


@handles("Dropout")
def dropout(ctx: Context) -> Value | Sequence[Value]:
    """x, as networks are run and not trained here; the mask keeps everything."""
    training, ratio = ctx.optional_array(2, "training_mode"), ctx.optional_array(1, "ratio")
    if training is not None and training.any() and (ratio is None or ratio.any()):
        raise UnsupportedError("training_mode is set; networks are run here, not trained")
    x = ctx.value(0)
    if not ctx.wants(1):
        return x
    kind = np.dtype(bool) if ctx.opset >= 10 else x.dtype.numpy
    return x, ctx.emit(ops.Expand(x.shape), ctx.constant(np.ones((), kind)))


@handles("Reshape")
def reshape(ctx: Context) -> Value:
    """0 keeps a dimension (unless allowzero), -1 takes what is left."""
    x, wanted = ctx.value(0), ctx.ints(1, "shape")
    if not ctx.attr_bool("allowzero"):
        if any(d == 0 and i >= x.type.rank for i, d in enumerate(wanted)):
            raise ShapeError(f"shape {list(wanted)} keeps a dimension that {x.type} does not have")
        wanted = tuple(x.shape[i] if d == 0 else d for i, d in enumerate(wanted))
    return ctx.emit(ops.Reshape(_filled(wanted, x.type.elements)), x)


def _filled(wanted: Sequence[int], elements: int) -> Shape:
    """`wanted` with its -1 replaced by what `elements` leave."""
    known = 1
    for d in wanted:
        known *= 1 if d == -1 else d
    if any(d < -1 for d in wanted) or list(wanted).count(-1) > 1:
        raise ShapeError(f"shape {list(wanted)} has negative dimensions")
    if -1 not in wanted:
        if known != elements:
            raise ShapeError(
                f"shape {list(wanted)} has {known} elements, the data has {elements}",
                hint="the model fixes this shape; other input shapes than its own may not fit it",
            )
        return tuple(wanted)
    if known == 0 or elements % known:
        raise ShapeError(f"shape {list(wanted)} does not divide {elements} elements")
    return tuple(elements // known if d == -1 else d for d in wanted)


@handles("Flatten")
def flatten(ctx: Context) -> Value:
    """Two dimensions: those before axis, and the others."""
    x = ctx.value(0)
    rank = x.type.rank
    axis = ctx.attr_int("axis", 1)
    if not -rank <= axis <= rank:
        raise ShapeError(f"axis {axis} does not fit {rank} dimensions")
    return ctx.emit(ops.Reshape(two_dimensions(x.shape, axis + rank if axis < 0 else axis)), x)


def two_dimensions(shape: Shape, axis: int) -> tuple[int, int]:
    """The sizes of what stands before axis, and of the rest."""
    before = after = 1
    for i, d in enumerate(shape):
        if i < axis:
            before *= d
        else:
            after *= d
    return before, after


@handles("Squeeze")
def squeeze(ctx: Context) -> Value:
    """Without the axes, each of size 1; without all of size 1 where none is given."""
    x, given = ctx.value(0), ctx.listed("axes", 1)
    if given is None:
        axes = tuple(i for i, d in enumerate(x.shape) if d == 1)
    else:
        axes = axes_of(given, x.type.rank)
    for axis in axes:
        if x.shape[axis] != 1:
            raise ShapeError(f"dimension {axis} of {x.type} is not 1")
    return ctx.emit(ops.Reshape(tuple(d for i, d in enumerate(x.shape) if i not in axes)), x)


@handles("Unsqueeze")
def unsqueeze(ctx: Context) -> Value:
    """With dimensions of 1 at the axes of the result."""
    x = ctx.value(0)
    given = ctx.listed("axes", 1) or ()
    rank = x.type.rank + len(given)
    axes = axes_of(given, rank)
    rest = iter(x.shape)
    return ctx.emit(ops.Reshape(tuple(1 if i in axes else next(rest) for i in range(rank))), x)


@handles("Transpose")
def transpose(ctx: Context) -> Value:
    """Dimensions in the order perm, or reversed."""
    x = ctx.value(0)
    perm = ctx.attr_ints("perm", tuple(reversed(range(x.type.rank))))
    return ctx.emit(ops.Transpose(perm), x)


@handles("Expand")
def expand(ctx: Context) -> Value:
    """Broadcast with the shape."""
    x = ctx.value(0)
    return ctx.emit(ops.Expand(broadcast_shapes(x.shape, ctx.ints(1, "shape"))), x)


@handles("Tile")
def tile(ctx: Context) -> Value:
    """Repeated along each dimension."""
    return ctx.emit(ops.Tile(ctx.ints(1, "repeats")), ctx.value(0))


@handles("Shape")
def shape(ctx: Context) -> Value:
    """The dimensions from start to end."""
    whole = ctx.value(0).shape
    end = ctx.attr_int("end", len(whole))
    return ctx.constant(
        np.array(whole[_bound(ctx.attr_int("start", 0), len(whole)) : _bound(end, len(whole))], np.int64)
    )


def _bound(place: int, rank: int) -> int:
    return min(max(place + rank if place < 0 else place, 0), rank)


@handles("Size")
def size(ctx: Context) -> Value:
    """The number of elements."""
    return ctx.constant(np.array(ctx.value(0).type.elements, np.int64))


@handles("DepthToSpace")
def depth_to_space(ctx: Context) -> Value:
    """Channels to blocks of pixels."""
    return ctx.emit(ops.DepthToSpace(ctx.attr_int("blocksize"), ctx.attr_text("mode", "DCR")), ctx.value(0))


@handles("SpaceToDepth")
def space_to_depth(ctx: Context) -> Value | Sequence[Value | None]:
    """Blocks of pixels to channels."""
    if ctx.attr_text("mode", "DCR") != "DCR":
        return ctx.expand()
    return ctx.emit(ops.SpaceToDepth(ctx.attr_int("blocksize")), ctx.value(0))


@handles("Concat")
def concat(ctx: Context) -> Value:
    """One after another along axis."""
    values = ctx.values()
    return ctx.emit(ops.Concat(axis_of(ctx.attr_int("axis"), values[0].type.rank)), *values)
