"""Operators that rearrange whole tensors."""

from __future__ import annotations

import math
from collections.abc import Sequence

from mace_cl.errors import ImportModelError
from mace_cl.graph import ops
from mace_cl.graph.core import Value
from mace_cl.importers.tensorflow.registry import NodeView, handles
from mace_cl.types import Shape


def reshaped(view: NodeView, x: Value, shape: Shape) -> Value:
    """The value in another shape; itself where that is its own."""
    return x if x.shape == shape else view.add(ops.Reshape(shape), x)


@handles("Reshape")
def reshape(view: NodeView) -> Value:
    """x, shape; one size may be -1."""
    x, sizes = view.input(0), view.known_ints(1, "the shape")
    if -1 in sizes:
        others = math.prod(s for s in sizes if s != -1)
        if sizes.count(-1) > 1 or others < 1 or x.type.elements % others:
            raise ImportModelError(f"{list(x.shape)} does not fit into {sizes}", where=view.where)
        sizes[sizes.index(-1)] = x.type.elements // others
    return reshaped(view, x, tuple(sizes))


@handles("Squeeze")
def squeeze(view: NodeView) -> Value:
    """Without the listed dimensions of 1; without all of them where none is listed."""
    x = view.input(0)
    listed = {view.axis(a, len(x.shape)) for a in view.attr_ints("squeeze_dims", ())}
    if any(x.shape[a] != 1 for a in listed):
        raise ImportModelError(f"cannot drop dimensions {sorted(listed)} of {list(x.shape)}", where=view.where)
    dropped = listed or {i for i, d in enumerate(x.shape) if d == 1}
    return reshaped(view, x, tuple(d for i, d in enumerate(x.shape) if i not in dropped))


@handles("ExpandDims")
def expand_dims(view: NodeView) -> Value:
    """x, axis."""
    x = view.input(0)
    axis = view.known_axis(1, len(x.shape) + 1)
    return reshaped(view, x, (*x.shape[:axis], 1, *x.shape[axis:]))


@handles("Transpose")
def transpose(view: NodeView) -> Value:
    """x, permutation."""
    x = view.input(0)
    perm = tuple(view.axis(a, len(x.shape)) for a in view.known_ints(1, "the permutation"))
    return view.add(ops.Transpose(perm), x)


@handles("Tile")
def tile(view: NodeView) -> Value:
    """x, repeats."""
    return view.add(ops.Tile(tuple(view.known_ints(1, "the repeats"))), view.input(0))


@handles("BroadcastTo")
def broadcast_to(view: NodeView) -> Value:
    """x, shape."""
    return view.add(ops.Expand(tuple(view.known_ints(1, "the shape"))), view.input(0))


@handles("Pack")
def pack(view: NodeView) -> Value:
    """The inputs along a new axis."""
    first = view.input(0).shape
    axis = view.axis(view.attr_int("axis", 0), len(first) + 1)
    parts = [view.add(ops.Reshape((*v.shape[:axis], 1, *v.shape[axis:])), v) for v in view.inputs]
    return view.add(ops.Concat(axis), *parts)


@handles("Unpack")
def unpack(view: NodeView) -> Sequence[Value]:
    """The slices along an axis, without it."""
    x = view.input(0)
    axis = view.axis(view.attr_int("axis", 0), len(x.shape))
    shape = x.shape[:axis] + x.shape[axis + 1 :]
    pieces = view.add_all(ops.Split(axis, (1,) * x.shape[axis]), [x]) if x.shape[axis] else ()
    return [view.add(ops.Reshape(shape), p) for p in pieces]
