"""Blocks of space to the batch and back, which TensorFlow's older graphs write around dilated convolutions."""

from __future__ import annotations

import math
from dataclasses import replace

from mace_cl.errors import ImportModelError
from mace_cl.graph import ops
from mace_cl.graph.core import Value
from mace_cl.importers.tensorflow.convolution import convolve
from mace_cl.importers.tensorflow.geometry import window
from mace_cl.importers.tensorflow.registry import NodeView, handles
from mace_cl.importers.tensorflow.shapes import reshaped
from mace_cl.importers.tensorflow.slicing import pairs

_CONVOLUTIONS = ("Conv2D", "DepthwiseConv2dNative")


def _block(view: NodeView) -> tuple[list[int], tuple[tuple[int, int], ...]]:
    """Block sizes, and the paddings or crops of as many dimensions after the batch."""
    if view.node.op.endswith("ND"):
        block, edges = view.known_ints(1, "the block"), pairs(view, 2, "the edges")
    else:
        block, edges = [view.attr_int("block_size")] * 2, pairs(view, 1, "the edges")
    if len(block) != len(edges) or len(block) >= len(view.input(0).shape) or min(block, default=1) < 1:
        raise ImportModelError(f"blocks {block} and edges {list(edges)} do not fit together", where=view.where)
    return block, edges


@handles("SpaceToBatchND", "SpaceToBatch")
def space_to_batch(view: NodeView) -> Value:
    """x, block, paddings: pad, cut each dimension into blocks, and move the places within a block to the batch."""
    x = view.input(0)
    block, edges = _block(view)
    m = len(block)
    rest = len(x.shape) - 1 - m
    padded = view.add(ops.Pad(((0, 0), *edges, *((0, 0),) * rest)), x)
    batch, sizes, tail = padded.shape[0], padded.shape[1 : m + 1], padded.shape[m + 1 :]
    if any(s % b for s, b in zip(sizes, block, strict=True)):
        raise ImportModelError(f"{list(sizes)} is no multiple of blocks {block}", where=view.where)
    cut = tuple(v for s, b in zip(sizes, block, strict=True) for v in (s // b, b))
    split = view.add(ops.Reshape((batch, *cut, *tail)), padded)
    within, across = range(2, 2 * m + 1, 2), range(1, 2 * m, 2)
    moved = view.add(ops.Transpose((*within, 0, *across, *range(2 * m + 1, 2 * m + 1 + rest))), split)
    total = batch * math.prod(block)
    return reshaped(view, moved, (total, *moved.shape[m + 1 :]))


@handles("BatchToSpaceND", "BatchToSpace")
def batch_to_space(view: NodeView) -> Value:
    """x, block, crops: the inverse of SpaceToBatchND."""
    x = view.input(0)
    block, crops = _block(view)
    dilated = _dilated_convolution(view, block, crops)
    if dilated is not None:
        return dilated
    m, count = len(block), math.prod(block)
    batch, sizes, tail = x.shape[0], x.shape[1 : m + 1], x.shape[m + 1 :]
    if batch % count:
        raise ImportModelError(f"a batch of {batch} is no multiple of blocks {block}", where=view.where)
    split = view.add(ops.Reshape((*block, batch // count, *sizes, *tail)), x)
    order = (m, *(v for i in range(m) for v in (m + 1 + i, i)), *range(2 * m + 1, 2 * m + 1 + len(tail)))
    moved = view.add(ops.Transpose(order), split)
    whole = tuple(s * b for s, b in zip(sizes, block, strict=True))
    joined = view.add(ops.Reshape((batch // count, *whole, *tail)), moved)
    negative = ((0, 0), *((-begin, -end) for begin, end in crops), *((0, 0),) * len(tail))
    return joined if not any(map(any, crops)) else view.add(ops.Pad(negative), joined)


def _dilated_convolution(view: NodeView, block: list[int], crops: tuple[tuple[int, int], ...]) -> Value | None:
    """The convolution with holes that blocks around a plain one compute, or None where it is not that.

    SpaceToBatchND, a VALID convolution of stride 1 and BatchToSpaceND are a convolution dilated by the block, whose
    output is that on the padded input, cropped: so it pads by padding less crop. The replaced nodes are pruned.
    """
    inner = view.sources[0] if view.sources else None
    if inner is None or inner.node.op not in _CONVOLUTIONS or len(block) != 2:
        return None
    outer = inner.sources[0] if inner.sources else None
    if outer is None or not outer.node.op.startswith("SpaceToBatch"):
        return None
    given = window(inner)
    plain = inner.attr_text("padding") == "VALID" and {*given.strides, *given.dilations} == {1} and given.channels_last
    outer_block, edges = _block(outer)
    pads = tuple((b - cb, e - ce) for (b, e), (cb, ce) in zip(edges, crops, strict=True))
    if not plain or outer_block != block or min(min(p) for p in pads) < 0:
        return None
    depthwise = inner.node.op == "DepthwiseConv2dNative"
    return convolve(view, outer.input(0), inner.input(1), replace(given, dilations=tuple(block)), pads, depthwise)
