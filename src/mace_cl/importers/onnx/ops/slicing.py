"""Cutting and padding."""

from __future__ import annotations

from collections.abc import Sequence

from mace_cl.errors import ImportModelError, ShapeError
from mace_cl.graph import Value, ops
from mace_cl.importers.onnx.context import Context, axes_of, axis_of
from mace_cl.importers.onnx.registry import handles
from mace_cl.importers.onnx.windows import pairs


@handles("Split")
def split(ctx: Context) -> Sequence[Value]:
    """Pieces of the sizes given, or as many equal ones as there are outputs, the last one smaller."""
    x = ctx.value(0)
    axis = axis_of(ctx.attr_int("axis", 0), x.type.rank)
    sizes = ctx.listed("split", 1)
    if sizes is None:
        count = ctx.attr_int("num_outputs", ctx.n_outputs)
        if count < 1 or count != ctx.n_outputs:
            raise ImportModelError(f"num_outputs is {count}, the node has {ctx.n_outputs} outputs")
        piece = -(-x.shape[axis] // count)
        sizes = (*(piece,) * (count - 1), x.shape[axis] - piece * (count - 1))
        if ctx.opset < 18 and sizes[-1] != piece:
            raise ShapeError(f"{x.shape[axis]} elements do not divide into {count} equal pieces")
    return ctx.emit_all(ops.Split(axis, sizes), [x])


@handles("Slice")
def slice_attributes(ctx: Context) -> Value:
    """Bounds are attributes."""
    starts, ends = ctx.attr_ints("starts"), ctx.attr_ints("ends")
    axes = ctx.attr_ints("axes", range(len(starts)))
    return _sliced(ctx, starts, ends, axes, (1,) * len(starts))


@handles("Slice", since=10)
def slice_(ctx: Context) -> Value:
    """Bounds are operands."""
    starts, ends = ctx.ints(1, "starts"), ctx.ints(2, "ends")
    axes = tuple(range(len(starts))) if ctx.optional(3) is None else ctx.ints(3, "axes")
    steps = (1,) * len(starts) if ctx.optional(4) is None else ctx.ints(4, "steps")
    return _sliced(ctx, starts, ends, axes, steps)


def _sliced(
    ctx: Context, starts: Sequence[int], ends: Sequence[int], axes: Sequence[int], steps: Sequence[int]
) -> Value:
    """Bounds beyond a dimension are moved to it, as NumPy does."""
    x = ctx.value(0)
    if not len(starts) == len(ends) == len(axes) == len(steps):
        raise ShapeError(f"{len(starts)} starts, {len(ends)} ends, {len(axes)} axes and {len(steps)} steps are given")
    if 0 in steps:
        raise ShapeError("a step is 0")
    begin, size, step = [0] * x.type.rank, list(x.shape), [1] * x.type.rank
    for axis, first, last, by in zip(axes_of(axes, x.type.rank), starts, ends, steps, strict=True):
        places = range(*slice(first, last, by).indices(x.shape[axis]))
        begin[axis], size[axis], step[axis] = (places.start, len(places), by) if len(places) else (0, 0, 1)
    return ctx.emit(ops.Slice(tuple(begin), tuple(size), tuple(step)), x)


@handles("Pad")
def pad_attributes(ctx: Context) -> Value:
    """Amounts are attributes."""
    x = ctx.value(0)
    pads = pairs(ctx.attr_ints("pads"), x.type.rank)
    return ctx.emit(ops.Pad(pads, ctx.attr_text("mode", "constant"), ctx.attr_float("value", 0.0)), x)


@handles("Pad", since=11)
def pad(ctx: Context) -> Value:
    """Amounts are operands, for some of the dimensions or all."""
    x = ctx.value(0)
    axes = range(x.type.rank) if ctx.optional(3) is None else axes_of(ctx.ints(3, "axes"), x.type.rank)
    amounts = dict(zip(axes, pairs(ctx.ints(1, "pads"), len(axes)), strict=True))
    mode = ctx.attr_text("mode", "constant")
    value = 0 if mode != "constant" or ctx.optional(2) is None else ctx.number(2, "constant_value")
    return ctx.emit(ops.Pad(tuple(amounts.get(i, (0, 0)) for i in range(x.type.rank)), mode, value), x)


@handles("Trilu")
def trilu(ctx: Context) -> Value:
    """Upper or lower triangle."""
    k = 0 if ctx.optional(1) is None else ctx.integer(1, "k")
    return ctx.emit(ops.Trilu(ctx.attr_bool("upper", True), k), ctx.value(0))


@handles("ReverseSequence")
def reverse_sequence(ctx: Context) -> Value:
    """The first elements of each sequence reversed."""
    x = ctx.value(0)
    batch = axis_of(ctx.attr_int("batch_axis", 1), x.type.rank, "batch_axis")
    time = axis_of(ctx.attr_int("time_axis", 0), x.type.rank, "time_axis")
    return ctx.emit(ops.ReverseSequence(batch, time), x, ctx.value(1))
