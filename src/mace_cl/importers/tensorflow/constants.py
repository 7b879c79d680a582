"""Constants, what only passes values on, and what the shapes of tensors tell."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mace_cl.errors import ImportModelError
from mace_cl.graph import ops
from mace_cl.graph.core import Value
from mace_cl.graph.ops.broadcast import broadcast_shapes
from mace_cl.importers.tensorflow.registry import NodeView, handles
from mace_cl.types import DataType


@handles("Const")
def const(view: NodeView) -> Value:
    """The array in the attribute `value`."""
    return view.constant(view.attr_tensor("value"))


@handles(
    "Identity",
    "Snapshot",
    "StopGradient",
    "PreventGradient",
    "CheckNumerics",
    "EnsureShape",
    "PlaceholderWithDefault",
)
def passes_on(view: NodeView) -> Value:
    """The input itself: no node is made."""
    return view.input(0)


@handles("IdentityN")
def identity_n(view: NodeView) -> Sequence[Value]:
    """The inputs themselves (Keras wraps functions of its own gradient so)."""
    return view.inputs


def _integers(view: NodeView, values: Sequence[int] | int) -> Value:
    return view.constant(np.array(values, view.attr_type("out_type", DataType.INT32).numpy))


@handles("Shape")
def shape(view: NodeView) -> Value:
    """Shapes are static, so this is a constant."""
    return _integers(view, view.input(0).shape)


@handles("ShapeN")
def shape_n(view: NodeView) -> Sequence[Value]:
    """The shape of each input."""
    return [_integers(view, v.shape) for v in view.inputs]


@handles("Size")
def size(view: NodeView) -> Value:
    """Number of elements."""
    return _integers(view, view.input(0).type.elements)


@handles("Rank")
def rank(view: NodeView) -> Value:
    """Number of dimensions."""
    return view.constant(np.array(len(view.input(0).shape), np.int32))


@handles("ZerosLike", "OnesLike")
def filled_like(view: NodeView) -> Value:
    """A constant of the input's type."""
    x = view.input(0)
    return view.constant(np.full(x.shape, view.node.op == "OnesLike", x.dtype.numpy))


@handles("Fill")
def fill(view: NodeView) -> Value:
    """dims, value."""
    return view.add(ops.Expand(tuple(view.known_ints(0, "the shape"))), view.input(1))


@handles("Range")
def range_(view: NodeView) -> Value:
    """start, limit, delta."""
    start, limit, delta = (view.known(i, "an end of the range").reshape(-1)[0] for i in range(3))
    if delta == 0:
        raise ImportModelError("the step of a range is 0", where=view.where)
    return view.constant(np.arange(start, limit, delta).astype(view.input(0).dtype.numpy))


@handles("LinSpace")
def lin_space(view: NodeView) -> Value:
    """start, stop, num."""
    start, stop = (float(view.known(i, "an end of the range").reshape(-1)[0]) for i in range(2))
    count = view.known_int(2, "the number of points")
    if count < 1:
        raise ImportModelError(f"cannot make {count} points", where=view.where)
    return view.constant(np.linspace(start, stop, count).astype(view.input(0).dtype.numpy))


@handles("InvertPermutation")
def invert_permutation(view: NodeView) -> Value:
    """The permutation that undoes the input."""
    return view.constant(np.argsort(view.known(0, "the permutation")).astype(view.input(0).dtype.numpy))


@handles("BroadcastArgs")
def broadcast_args(view: NodeView) -> Value:
    """The shape that two shapes broadcast to."""
    shapes = [tuple(view.known_ints(i, "a shape")) for i in range(2)]
    return view.constant(np.array(broadcast_shapes(*shapes), view.input(0).dtype.numpy))


@handles("Where")
def where(view: NodeView) -> Value:
    """Places of the true elements, which must be known: their number is the result's shape."""
    return view.constant(np.argwhere(view.known(0, "the condition")).astype(np.int64))
