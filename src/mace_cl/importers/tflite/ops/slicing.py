"""Operators that cut and pad."""

from __future__ import annotations

from dataclasses import dataclass

import tflite

from mace_cl.errors import ImportModelError, ShapeError
from mace_cl.graph import Value
from mace_cl.graph.ops import Pad, Reshape, ReverseSequence, Slice
from mace_cl.importers.tflite.context import Context, axes_of, axis_of
from mace_cl.importers.tflite.registry import handles


@handles("SLICE")
def slice_(ctx: Context) -> Value:
    """Operands: x, begin, size (-1 for the rest)."""
    x, begin, size = ctx.value(0), ctx.ints(1, "begin"), ctx.ints(2, "size")
    if not len(begin) == len(size) == x.type.rank:
        raise ShapeError(f"begin {list(begin)} and size {list(size)} do not fit {x.type.rank} dimensions")
    sizes = tuple(n - b if s == -1 else s for n, b, s in zip(x.shape, begin, size, strict=True))
    for n, b, s in zip(x.shape, begin, sizes, strict=True):
        if b < 0 or s < 0 or b + s > n:
            raise ShapeError(f"begin {list(begin)} and size {list(size)} leave the input of {list(x.shape)}")
    return ctx.emit(Slice(begin, sizes, (1,) * x.type.rank), x)


@dataclass(frozen=True)
class _Strided:
    """A strided slice's operands and masks; bit i of a mask speaks of entry i."""

    begin: tuple[int, ...]
    end: tuple[int, ...]
    strides: tuple[int, ...]
    begin_mask: int
    end_mask: int
    ellipsis_mask: int
    new_axis_mask: int
    shrink_mask: int
    end_is_offset: bool


@handles("STRIDED_SLICE")
def strided_slice(ctx: Context) -> Value:
    """Operands: x, begin, end, strides; TensorFlow's masks in the options."""
    o, x = ctx.options("StridedSliceOptions"), ctx.value(0)
    s = _Strided(
        ctx.ints(1, "begin"),
        ctx.ints(2, "end"),
        ctx.ints(3, "strides"),
        o.integer("BeginMask"),
        o.integer("EndMask"),
        o.integer("EllipsisMask"),
        o.integer("NewAxisMask"),
        o.integer("ShrinkAxisMask"),
        o.flag("Offset"),
    )
    if not len(s.begin) == len(s.end) == len(s.strides) or 0 in s.strides:
        raise ShapeError(f"begin {list(s.begin)}, end {list(s.end)}, strides {list(s.strides)} do not fit together")
    starts, sizes, steps, shape = _plan(s, x.shape)
    return ctx.emit(Reshape(shape), ctx.emit(Slice(starts, sizes, steps), x))


_Plan = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], tuple[int, ...]]


def _plan(s: _Strided, shape: tuple[int, ...]) -> _Plan:
    """Starts, sizes and steps for every dimension of the input, and the result's shape."""
    cuts: list[tuple[int, int, int]] = []
    result: list[int] = []
    entries = range(len(s.begin))
    # Entries that take a dimension: neither a new axis nor the ellipsis.
    taking = sum(1 for i in entries if not _bit(s.ellipsis_mask, i) and not _bit(s.new_axis_mask, i))
    if taking > len(shape):
        raise ShapeError(f"slices {taking} dimensions of an input of {list(shape)}")
    ellipsis_seen = False
    for i in entries:
        if _bit(s.ellipsis_mask, i):
            if ellipsis_seen:
                raise ImportModelError("has two ellipses")
            ellipsis_seen = True
            rest = shape[len(cuts) : len(cuts) + len(shape) - taking]
            cuts += [(0, n, 1) for n in rest]
            result += rest
        elif _bit(s.new_axis_mask, i):
            result.append(1)
        else:
            start, size, step = _entry(s, i, shape[len(cuts)])
            cuts.append((start, size, step))
            if not _bit(s.shrink_mask, i):
                result.append(size)
    rest = shape[len(cuts) :]
    cuts += [(0, n, 1) for n in rest]
    result += rest
    starts, sizes, steps = (tuple(c[k] for c in cuts) for k in range(3))
    return starts, sizes, steps, tuple(result)


def _entry(s: _Strided, i: int, n: int) -> tuple[int, int, int]:
    """Start, size and step of entry i on a dimension of n elements."""
    if _bit(s.shrink_mask, i):
        start = 0 if _bit(s.begin_mask, i) else s.begin[i]
        if not -n <= start < n:
            raise ShapeError(f"index {start} lies outside a dimension of {n}")
        return start % n, 1, 1
    begin = None if _bit(s.begin_mask, i) else s.begin[i]
    end = None if _bit(s.end_mask, i) else s.end[i]
    if end is not None and s.end_is_offset:
        end += s.begin[i]
    found = range(*slice(begin, end, s.strides[i]).indices(n))
    return (found.start if found else 0), len(found), s.strides[i] if found else 1


def _bit(mask: int, i: int) -> bool:
    return bool(mask >> i & 1)


@handles("PAD")
def pad(ctx: Context) -> Value:
    """Operands: x, paddings [rank, 2]."""
    x = ctx.value(0)
    return ctx.emit(Pad(_pads(ctx, x)), x)


@handles("PADV2")
def pad_v2(ctx: Context) -> Value:
    """Operands: x, paddings [rank, 2], the value to pad with."""
    x, value = ctx.value(0), ctx.value(2)
    ctx.array(2, "padding value")
    assert value.data is not None
    if value.data.size != 1:
        raise ImportModelError(f"pads with {value.data.size} values instead of one")
    return ctx.emit(Pad(_pads(ctx, x), value=value.data.reshape(()).item()), x)


@handles("MIRROR_PAD")
def mirror_pad(ctx: Context) -> Value:
    """Operands: x, paddings [rank, 2]. The edge is repeated (symmetric) or not (reflect)."""
    mode = ctx.options("MirrorPadOptions").integer("Mode")
    names = {tflite.MirrorPadMode.REFLECT: "reflect", tflite.MirrorPadMode.SYMMETRIC: "symmetric"}
    if mode not in names:
        raise ImportModelError(f"unknown mode {mode}")
    x = ctx.value(0)
    pads = _pads(ctx, x)
    for n, pair in zip(x.shape, pads, strict=True):
        if max(pair) > n - (names[mode] == "reflect"):
            raise ShapeError(f"mirror padding {pair} is more than {n} elements give")
    return ctx.emit(Pad(pads, mode=names[mode]), x)


def _pads(ctx: Context, x: Value) -> tuple[tuple[int, int], ...]:
    flat = ctx.ints(1, "paddings")
    if len(flat) != 2 * x.type.rank or any(p < 0 for p in flat):
        raise ShapeError(f"paddings {list(flat)} do not fit an input of {list(x.shape)}")
    return tuple(zip(flat[::2], flat[1::2], strict=True))


@handles("REVERSE_V2")
def reverse(ctx: Context) -> Value:
    """Operands: x, axes to turn around."""
    x = ctx.value(0)
    axes = axes_of(ctx.ints(1, "axes"), x.type.rank)
    starts = tuple(max(n - 1, 0) if i in axes else 0 for i, n in enumerate(x.shape))
    steps = tuple(-1 if i in axes else 1 for i in range(x.type.rank))
    return ctx.emit(Slice(starts, x.shape, steps), x)


@handles("REVERSE_SEQUENCE")
def reverse_sequence(ctx: Context) -> Value:
    """Operands: x, lengths [batch]."""
    o, x = ctx.options("ReverseSequenceOptions"), ctx.value(0)
    batch, time = (axis_of(o.integer(k), x.type.rank) for k in ("BatchDim", "SeqDim"))
    return ctx.emit(ReverseSequence(batch, time), x, ctx.value(1))
