"""Interpolation, and blocks of space."""

from __future__ import annotations

import math

from mace_cl.errors import ImportModelError, ShapeError
from mace_cl.graph import Value
from mace_cl.graph.ops import DepthToSpace, Pad, Reshape, Resize, Slice, SpaceToDepth, Transpose
from mace_cl.importers.tflite.context import Context
from mace_cl.importers.tflite.registry import handles


@handles("RESIZE_BILINEAR")
def resize_bilinear(ctx: Context) -> Value:
    """Operands: x [N, H, W, C], size [2]."""
    o = ctx.options("ResizeBilinearOptions")
    return _resize(ctx, "linear", _coordinates(o.flag("AlignCorners"), o.flag("HalfPixelCenters")), "floor")


@handles("RESIZE_NEAREST_NEIGHBOR")
def resize_nearest(ctx: Context) -> Value:
    """Operands: x [N, H, W, C], size [2]. Rounds down, with aligned corners halves away from zero."""
    o = ctx.options("ResizeNearestNeighborOptions")
    mode = _coordinates(o.flag("AlignCorners"), o.flag("HalfPixelCenters"))
    rounding = "round_away" if mode == "align_corners" else "floor"
    return _resize(ctx, "nearest", "tf_half_pixel_for_nn" if mode == "half_pixel" else mode, rounding)


def _coordinates(align_corners: bool, half_pixel: bool) -> str:
    if align_corners and half_pixel:
        raise ImportModelError("corners cannot be aligned with half-pixel centers")
    return "align_corners" if align_corners else "half_pixel" if half_pixel else "asymmetric"


def _resize(ctx: Context, mode: str, coordinates: str, rounding: str) -> Value:
    x, size = ctx.spatial(0), ctx.ints(1, "size")
    if len(size) != 2 or min(size) < 1 or min(x.shape) < 1:
        raise ShapeError(f"size {list(size)} of an input of {list(x.shape)}")
    shape = (x.shape[0], *size, x.shape[3])
    scales = tuple(out / n for out, n in zip(shape, x.shape, strict=True))
    op = Resize(shape, scales, mode=mode, coordinate_mode=coordinates, nearest_mode=rounding)
    return ctx.emit(op, x)


@handles("DEPTH_TO_SPACE")
def depth_to_space(ctx: Context) -> Value:
    """Channels to blocks of pixels."""
    block = ctx.options("DepthToSpaceOptions").integer("BlockSize")
    return ctx.emit(DepthToSpace(_positive(block), channels_last=True), ctx.spatial(0))


@handles("SPACE_TO_DEPTH")
def space_to_depth(ctx: Context) -> Value:
    """Blocks of pixels to channels."""
    block = ctx.options("SpaceToDepthOptions").integer("BlockSize")
    return ctx.emit(SpaceToDepth(_positive(block), channels_last=True), ctx.spatial(0))


def _positive(block: int) -> int:
    if block < 1:
        raise ImportModelError(f"block size {block}")
    return block


@handles("SPACE_TO_BATCH_ND")
def space_to_batch(ctx: Context) -> Value:
    """Operands: x [N, *S, ...], blocks [M], paddings [M, 2]. Each place within a block becomes a batch of its own."""
    x = ctx.value(0)
    blocks, pads = _blocks(ctx, x, "paddings")
    m = len(blocks)
    if any(p for pair in pads for p in pair):
        rest = ((0, 0),) * (x.type.rank - 1 - m)
        x = ctx.emit(Pad(((0, 0), *pads, *rest)), x)
    cut: list[int] = [x.shape[0]]
    for size, block in zip(x.shape[1:], blocks, strict=False):
        if size % block:
            raise ShapeError(f"a padded size of {size} is not cut into whole blocks of {block}")
        cut += [size // block, block]
    tail = x.shape[1 + m :]
    split = ctx.emit(Reshape((*cut, *tail)), x)
    inner, outer = range(2, 2 * m + 1, 2), range(1, 2 * m, 2)
    moved = ctx.emit(Transpose((*inner, 0, *outer, *range(2 * m + 1, split.type.rank))), split)
    return ctx.emit(Reshape((x.shape[0] * math.prod(blocks), *cut[1::2], *tail)), moved)


@handles("BATCH_TO_SPACE_ND")
def batch_to_space(ctx: Context) -> Value:
    """Operands: x [N, *S, ...], blocks [M], crops [M, 2]. The inverse of SPACE_TO_BATCH_ND."""
    x = ctx.value(0)
    blocks, crops = _blocks(ctx, x, "crops")
    m, count = len(blocks), math.prod(blocks)
    if x.shape[0] % count:
        raise ShapeError(f"a batch of {x.shape[0]} is not made of {count} places in a block")
    batch = x.shape[0] // count
    split = ctx.emit(Reshape((*blocks, batch, *x.shape[1:])), x)
    order = [m]
    for i in range(m):
        order += [m + 1 + i, i]
    moved = ctx.emit(Transpose((*order, *range(2 * m + 1, split.type.rank))), split)
    sizes = [n * b for n, b in zip(x.shape[1:], blocks, strict=False)]
    whole = (batch, *sizes, *x.shape[1 + m :])
    value = ctx.emit(Reshape(whole), moved)
    if not any(c for pair in crops for c in pair):
        return value
    kept = tuple(n - a - b for n, (a, b) in zip(sizes, crops, strict=True))
    if min(kept) < 0:
        raise ShapeError(f"crops {list(crops)} are larger than {sizes}")
    starts = (0, *(a for a, _ in crops), *(0 for _ in x.shape[1 + m :]))
    return ctx.emit(Slice(starts, (batch, *kept, *x.shape[1 + m :]), (1,) * len(starts)), value)


def _blocks(ctx: Context, x: Value, what: str) -> tuple[tuple[int, ...], tuple[tuple[int, int], ...]]:
    blocks, flat = ctx.ints(1, "block shape"), ctx.ints(2, what)
    if not blocks or len(flat) != 2 * len(blocks) or x.type.rank < 1 + len(blocks):
        raise ShapeError(f"blocks {list(blocks)} and {what} {list(flat)} do not fit {x.type.rank} dimensions")
    if min(blocks) < 1 or min(flat) < 0:
        raise ShapeError(f"blocks {list(blocks)} and {what} {list(flat)} must not be negative")
    return blocks, tuple(zip(flat[::2], flat[1::2], strict=True))
