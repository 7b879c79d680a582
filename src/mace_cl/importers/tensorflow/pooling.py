"""Pooling over windows."""

from __future__ import annotations

from mace_cl.graph import ops
from mace_cl.graph.core import Value
from mace_cl.importers.tensorflow.geometry import Window, is_channels_last, padding, spatial, spatial_sizes
from mace_cl.importers.tensorflow.registry import NodeView, handles


@handles("MaxPool", "MaxPool3D", "AvgPool", "AvgPool3D")
def pool(view: NodeView) -> Value:
    """Sizes in attributes."""
    return _pool(view, view.attr_ints("ksize"), view.attr_ints("strides"))


@handles("MaxPoolV2")
def max_pool_v2(view: NodeView) -> Value:
    """x, kernel, strides."""
    return _pool(view, view.known_ints(1, "the kernel"), view.known_ints(2, "the strides"))


def _pool(view: NodeView, ksize: list[int], strides: list[int]) -> Value:
    x, last = view.input(0), is_channels_last(view)
    kernel = spatial(view, ksize, "ksize", last)
    steps = spatial(view, strides, "strides", last)
    ones = (1,) * len(kernel)
    pads = padding(view, spatial_sizes(x, last), kernel, Window(last, steps, ones))
    if view.node.op.startswith("MaxPool"):
        return view.add(ops.MaxPool(kernel, steps, pads, ones, last), x)
    # Padding never counts in TensorFlow.
    none = (0,) * len(kernel)
    return view.add(ops.AveragePool(kernel, steps, pads, ones, False, none, last), x)
