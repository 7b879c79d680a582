"""Indexed reads and writes."""

from __future__ import annotations

import numpy as np

from mace_cl.graph import ops
from mace_cl.graph.core import Value
from mace_cl.importers.tensorflow.registry import NodeView, handles


@handles("Gather")
def gather(view: NodeView) -> Value:
    """data, indices; along the first dimension."""
    return view.add(ops.Gather(0), view.input(0), view.input(1))


@handles("GatherV2")
def gather_v2(view: NodeView) -> Value:
    """data, indices, axis."""
    data, indices = view.input(0), view.input(1)
    batch_dims = view.attr_int("batch_dims", 0)
    if batch_dims < 0:
        batch_dims += len(indices.shape)
    return view.add(ops.Gather(view.known_axis(2, len(data.shape)), batch_dims), data, indices)


@handles("GatherNd")
def gather_nd(view: NodeView) -> Value:
    """data, index tuples."""
    return view.add(ops.GatherND(), view.input(0), view.input(1))


@handles("ScatterNd")
def scatter_nd(view: NodeView) -> Value:
    """index tuples, updates, shape; equal tuples add up."""
    updates = view.input(1)
    zeros = view.constant(np.zeros(view.known_ints(2, "the shape"), updates.dtype.numpy))
    return view.add(ops.ScatterND("add"), zeros, view.input(0), updates)


@handles("TensorScatterUpdate", "TensorScatterAdd")
def tensor_scatter(view: NodeView) -> Value:
    """data, index tuples, updates."""
    reduction = "add" if view.node.op == "TensorScatterAdd" else "none"
    return view.add(ops.ScatterND(reduction), view.input(0), view.input(1), view.input(2))


@handles("OneHot")
def one_hot(view: NodeView) -> Value:
    """indices, depth, on, off. TensorFlow's negative indices are off everywhere, so they are moved out of reach."""
    indices, on, off = view.input(0), view.input(2), view.input(3)
    depth = view.known_int(1, "the depth")
    negative = view.add(ops.Less(), indices, view.scalar(0, indices))
    indices = view.add(ops.Where(), negative, view.scalar(depth, indices), indices)
    ends = [view.add(ops.Reshape((1,)), v) for v in (off, on)]
    axis = view.attr_int("axis", -1)
    return view.add(ops.OneHot(depth, axis), indices, view.add(ops.Concat(0), *ends))
