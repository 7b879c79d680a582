"""Small questions and edits that several passes need."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mace_cl.graph import Graph, Node, Value
from mace_cl.graph.ops.base import Operator
from mace_cl.types import Shape


def only_user(graph: Graph, value: Value) -> Node | None:
    """The one node that reads the value; None if there are none or several, or the value is an output."""
    if len(value.users) != 1 or graph.is_output(value):
        return None
    return value.users[0]


def scalar_of(value: Value | None) -> float | None:
    """The number of a constant with one element (or with all elements equal), else None."""
    if value is None or value.data is None or value.data.size == 0:
        return None
    flat = value.data.reshape(-1)
    first = flat[0]
    if flat.size > 1 and not np.all(flat == first):
        return None
    return float(first)


def constant_and_other(node: Node) -> tuple[Value, Value] | None:
    """(constant, other input) of a node of two inputs where exactly one is a constant."""
    if len(node.inputs) != 2:
        return None
    a, b = node.input(0), node.input(1)
    if a.is_constant == b.is_constant:
        return None
    return (a, b) if a.is_constant else (b, a)


def per_channel(array: np.ndarray, shape: Shape, axis: int) -> np.ndarray | None:
    """The array as a vector over dimension `axis` of a tensor of that shape, if it broadcasts along all others.

    Returns:
        [shape[axis]] elements, or None where the array varies along another dimension or would enlarge the tensor.
    """
    if array.ndim > len(shape):
        return None
    full = array.reshape((1,) * (len(shape) - array.ndim) + array.shape)
    for i, (have, want) in enumerate(zip(full.shape, shape, strict=True)):
        if i == axis and have not in (1, want):
            return None
        if i != axis and have != 1:
            return None
    return np.broadcast_to(full.reshape(-1), (shape[axis],)) if full.size in (1, shape[axis]) else None


def replace_node(
    graph: Graph, node: Node, op: Operator, inputs: Sequence[Value | None], name: str | None = None
) -> Node:
    """Put a node with another operator where `node` is, under the same users; returns the new one."""
    made = graph.add(op, inputs, name=name or node.name, before=node)
    for old, new in zip(node.outputs, made, strict=True):
        graph.replace(old, new)
    graph.remove(node)
    fresh = made[0].producer
    assert fresh is not None
    return fresh
