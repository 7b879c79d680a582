"""Normalisation with fixed statistics."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mace_cl.graph import ops
from mace_cl.graph.core import Value
from mace_cl.importers.tensorflow.geometry import is_channels_last
from mace_cl.importers.tensorflow.registry import NodeView, handles


@handles("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
def fused_batch_norm(view: NodeView) -> Sequence[Value]:
    """x, scale, offset, mean, variance; the statistics are outputs too."""
    if view.attr_bool("is_training", True):
        raise view.unsupported(
            "batch normalisation in training mode is not built",
            "freeze the graph for inference (is_training=False, or keras.backend.set_learning_phase(0))",
        )
    x, scale, offset, mean, variance = (view.input(i) for i in range(5))
    op = ops.BatchNormalization(view.attr_float("epsilon", 1e-4), is_channels_last(view))
    return [view.add(op, x, scale, offset, mean, variance), mean, variance, mean, variance, variance]


@handles("BatchNormWithGlobalNormalization")
def batch_norm_with_global_normalization(view: NodeView) -> Value:
    """x, mean, variance, offset, scale (TensorFlow's first form)."""
    x, mean, variance, offset, scale = (view.input(i) for i in range(5))
    if not view.attr_bool("scale_after_normalization"):
        scale = view.constant(np.ones(mean.shape, mean.dtype.numpy))
    op = ops.BatchNormalization(view.attr_float("variance_epsilon"), channels_last=True)
    return view.add(op, x, scale, offset, mean, variance)


@handles("LRN")
def lrn(view: NodeView) -> Value:
    """Over 2 radius + 1 channels; alpha is that of one channel."""
    size = 2 * view.attr_int("depth_radius", 5) + 1
    alpha, beta, bias = view.attr_float("alpha", 1.0), view.attr_float("beta", 0.5), view.attr_float("bias", 1.0)
    return view.add(ops.LRN(size, alpha * size, beta, bias, channels_last=True), view.input(0))
