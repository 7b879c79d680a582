"""Operators that rearrange, join and repeat whole tensors."""

from __future__ import annotations

from mace_cl.errors import ImportModelError, ShapeError
from mace_cl.graph import Value
from mace_cl.graph.ops import Concat, Expand, Reshape, Split, Tile, Transpose
from mace_cl.importers.tflite.context import Context, axes_of, axis_of, fill_shape
from mace_cl.importers.tflite.padding import activate
from mace_cl.importers.tflite.registry import handles


@handles("RESHAPE")
def reshape(ctx: Context) -> Value:
    """Operands: x, shape; old files have the shape in the options alone."""
    x = ctx.value(0)
    if ctx.has_input(1):
        wanted = ctx.ints(1, "shape")
    else:
        wanted = ctx.options("ReshapeOptions").ints("NewShape")
        # An old way to say "a scalar".
        wanted = () if wanted == (0,) else wanted
    return ctx.emit(Reshape(fill_shape(wanted, x.type.elements)), x)


@handles("STABLEHLO_RESHAPE")
def reshape_to_result(ctx: Context) -> Value:
    """x in the result's shape."""
    x = ctx.value(0)
    return ctx.emit(Reshape(fill_shape(ctx.output_shape(), x.type.elements)), x)


@handles("SQUEEZE")
def squeeze(ctx: Context) -> Value:
    """x without the dimensions of size 1 that are listed, or without all of them."""
    x = ctx.value(0)
    axes = axes_of(ctx.options("SqueezeOptions").ints("SqueezeDims"), x.type.rank)
    axes = axes or tuple(i for i, d in enumerate(x.shape) if d == 1)
    if any(x.shape[a] != 1 for a in axes):
        raise ShapeError(f"cannot squeeze dimensions {list(axes)} of {list(x.shape)}")
    return ctx.emit(Reshape(tuple(d for i, d in enumerate(x.shape) if i not in axes)), x)


@handles("EXPAND_DIMS")
def expand_dims(ctx: Context) -> Value:
    """x with a new dimension of size 1."""
    x = ctx.value(0)
    axis = axis_of(ctx.integer(1, "axis"), x.type.rank + 1)
    return ctx.emit(Reshape((*x.shape[:axis], 1, *x.shape[axis:])), x)


@handles("TRANSPOSE")
def transpose(ctx: Context) -> Value:
    """Operands: x, order of dimensions."""
    return _transpose(ctx, ctx.ints(1, "permutation"))


@handles("STABLEHLO_TRANSPOSE")
def stablehlo_transpose(ctx: Context) -> Value:
    """x with its dimensions in the order of the options."""
    return _transpose(ctx, ctx.options("StablehloTransposeOptions").ints("Permutation"))


def _transpose(ctx: Context, order: tuple[int, ...]) -> Value:
    x = ctx.value(0)
    perm = tuple(axis_of(p, x.type.rank, "permutation") for p in order)
    if sorted(perm) != list(range(x.type.rank)):
        raise ShapeError(f"permutation {list(order)} does not fit {x.type.rank} dimensions")
    return ctx.emit(Transpose(perm), x)


@handles("CONCATENATION")
def concatenation(ctx: Context) -> Value:
    """All operands one after another along an axis."""
    o = ctx.options("ConcatenationOptions")
    return activate(ctx, _concat(ctx, o.integer("Axis")), o)


@handles("STABLEHLO_CONCATENATE")
def stablehlo_concatenate(ctx: Context) -> Value:
    """All operands one after another along a dimension."""
    return _concat(ctx, ctx.options("StablehloConcatenateOptions").integer("Dimension"))


def _concat(ctx: Context, axis: int) -> Value:
    values = ctx.values()
    if not values:
        raise ImportModelError("has no operands")
    return ctx.emit(Concat(axis_of(axis, values[0].type.rank)), *values)


@handles("PACK")
def pack(ctx: Context) -> Value:
    """All operands stacked along a new axis."""
    values = ctx.values()
    if not values:
        raise ImportModelError("has no operands")
    shape = values[0].shape
    axis = axis_of(ctx.options("PackOptions").integer("Axis"), len(shape) + 1)
    if any(v.shape != shape for v in values):
        raise ShapeError(f"operands of shapes {[list(v.shape) for v in values]} cannot be stacked")
    rows = [ctx.emit(Reshape((*shape[:axis], 1, *shape[axis:])), v) for v in values]
    return ctx.emit(Concat(axis), *rows)


@handles("UNPACK")
def unpack(ctx: Context) -> list[Value]:
    """x cut along an axis into slices without it."""
    o, x = ctx.options("UnpackOptions"), ctx.value(0)
    axis = axis_of(o.integer("Axis"), x.type.rank)
    count = x.shape[axis]
    if count != ctx.n_outputs:
        raise ShapeError(f"dimension {axis} of {list(x.shape)} does not give {ctx.n_outputs} results")
    slices = _split(ctx, x, axis, (1,) * count)
    return [ctx.emit(Reshape((*x.shape[:axis], *x.shape[axis + 1 :])), s) for s in slices]


@handles("SPLIT")
def split(ctx: Context) -> tuple[Value, ...]:
    """Operands: axis, x. Equal pieces, one for each result."""
    x = ctx.value(1)
    axis = axis_of(ctx.integer(0, "axis"), x.type.rank)
    count = ctx.n_outputs
    if count < 1 or x.shape[axis] % count:
        raise ShapeError(f"dimension {axis} of {list(x.shape)} is not cut into {count} equal pieces")
    return _split(ctx, x, axis, (x.shape[axis] // count,) * count)


@handles("SPLIT_V")
def split_v(ctx: Context) -> tuple[Value, ...]:
    """Operands: x, sizes (one of them may be -1), axis."""
    x = ctx.value(0)
    axis = axis_of(ctx.integer(2, "axis"), x.type.rank)
    sizes = ctx.ints(1, "sizes")
    if sizes.count(-1) == 1:
        rest = x.shape[axis] - sum(s for s in sizes if s != -1)
        sizes = tuple(rest if s == -1 else s for s in sizes)
    if not sizes or min(sizes) < 0 or sum(sizes) != x.shape[axis]:
        raise ShapeError(f"sizes {list(sizes)} do not add up to dimension {axis} of {list(x.shape)}")
    return _split(ctx, x, axis, sizes)


def _split(ctx: Context, x: Value, axis: int, sizes: tuple[int, ...]) -> tuple[Value, ...]:
    return (x,) if len(sizes) == 1 else ctx.emit_all(Split(axis, sizes), [x])


@handles("TILE")
def tile(ctx: Context) -> Value:
    """Operands: x, how often it is repeated along each dimension."""
    x, repeats = ctx.value(0), ctx.ints(1, "multiples")
    if len(repeats) != x.type.rank or any(r < 0 for r in repeats):
        raise ShapeError(f"multiples {list(repeats)} do not fit {x.type.rank} dimensions")
    return ctx.emit(Tile(repeats), x)


@handles("BROADCAST_TO")
def broadcast_to(ctx: Context) -> Value:
    """Operands: x, shape."""
    return ctx.emit(Expand(ctx.ints(1, "shape")), ctx.value(0))
