"""Convolutions, matrix products and their biases. TensorFlow's weights are [*kernel, I, O]."""

from __future__ import annotations

from mace_cl.errors import ImportModelError
from mace_cl.graph import ops
from mace_cl.graph.core import Value
from mace_cl.importers.tensorflow.activation import activate
from mace_cl.importers.tensorflow.geometry import Pads, Window, is_channels_last, padding, spatial_sizes, window
from mace_cl.importers.tensorflow.registry import NodeView, handles


def _groups(view: NodeView, channels: int, of_each: int) -> int:
    if of_each < 1 or channels % of_each:
        raise ImportModelError(f"{channels} channels are no multiple of the weights' {of_each}", where=view.where)
    return channels // of_each


def _check_ranks(view: NodeView, x: Value, weights: Value, given: Window) -> None:
    rank = len(given.strides) + 2
    if len(x.shape) != rank or len(weights.shape) != rank:
        raise ImportModelError(
            f"data {list(x.shape)} and weights {list(weights.shape)} must have {rank} dimensions", where=view.where
        )


def _to_oihw(view: NodeView, weights: Value) -> Value:
    """[*kernel, I, O] to [O, I, *kernel]."""
    n = len(weights.shape) - 2
    return view.add(ops.Transpose((n + 1, n, *range(n))), weights)


def _depthwise_weights(view: NodeView, weights: Value) -> Value:
    """[*kernel, I, M] to [I M, 1, *kernel]."""
    n = len(weights.shape) - 2
    turned = view.add(ops.Transpose((n, n + 1, *range(n))), weights)
    return view.add(ops.Reshape((turned.shape[0] * turned.shape[1], 1, *turned.shape[2:])), turned)


def convolve(view: NodeView, x: Value, weights: Value, given: Window, pads: Pads | None, depthwise: bool) -> Value:
    """A convolution with weights in TensorFlow's layout; pads None means those of the node."""
    _check_ranks(view, x, weights, given)
    channels = x.shape[given.channel_axis]
    if pads is None:
        pads = padding(view, spatial_sizes(x, given.channels_last), weights.shape[:-2], given)
    if depthwise:
        groups, kernel = channels, _depthwise_weights(view, weights)
    else:
        groups, kernel = _groups(view, channels, weights.shape[-2]), _to_oihw(view, weights)
    op = ops.Conv(given.strides, pads, given.dilations, groups, given.channels_last)
    return view.add(op, x, kernel)


@handles("Conv2D", "Conv3D", "DepthwiseConv2dNative")
def conv(view: NodeView) -> Value:
    """x, weights."""
    depthwise = view.node.op == "DepthwiseConv2dNative"
    return convolve(view, view.input(0), view.input(1), window(view), None, depthwise)


@handles("_FusedConv2D", "_FusedDepthwiseConv2dNative")
def fused_conv(view: NodeView) -> Value:
    """x, weights, then the operands of the fused operators (as TensorFlow's graph optimiser leaves them)."""
    depthwise = view.node.op == "_FusedDepthwiseConv2dNative"
    given = window(view)
    y = convolve(view, view.input(0), view.input(1), given, None, depthwise)
    return _apply_fused(view, y, given.channels_last)


def _apply_fused(view: NodeView, y: Value, channels_last: bool) -> Value:
    operand = 2
    for name in view.attr_texts("fused_ops"):
        if name == "BiasAdd":
            y = add_bias(view, y, view.input(operand), channels_last)
            operand += 1
        elif name == "FusedBatchNorm":
            values = [view.input(operand + i) for i in range(4)]
            y = view.add(ops.BatchNormalization(view.attr_float("epsilon", 1e-4), channels_last), y, *values)
            operand += 4
        else:
            y = activate(view, name, y)
    return y


@handles("Conv2DBackpropInput", "Conv3DBackpropInputV2", "DepthwiseConv2dNativeBackpropInput")
def conv_transpose(view: NodeView) -> Value:
    """Shape of the output, weights [*kernel, O, I], x: the gradient of a convolution is its transpose."""
    wanted = view.known_ints(0, "the output's shape")
    weights, x, given = view.input(1), view.input(2), window(view)
    _check_ranks(view, x, weights, given)
    n = len(given.strides)
    if len(wanted) not in (n, n + 2):
        raise ImportModelError(f"the output's shape {wanted} has not {n + 2} dimensions", where=view.where)
    sizes = tuple(wanted if len(wanted) == n else wanted[1:-1] if given.channels_last else wanted[2:])
    kernel = weights.shape[:-2]
    pads = padding(view, sizes, kernel, given)
    steps = zip(sizes, spatial_sizes(x, given.channels_last), kernel, pads, given.strides, given.dilations, strict=True)
    extra = tuple(out - (s * (i - 1) + d * (k - 1) + 1 - b - e) for out, i, k, (b, e), s, d in steps)
    if min(extra) < 0:
        raise ImportModelError(f"an output of {list(sizes)} does not come from {list(x.shape)}", where=view.where)
    if view.node.op == "DepthwiseConv2dNativeBackpropInput":
        groups, turned = weights.shape[-2], _depthwise_weights(view, weights)
    else:
        turned = _to_oihw(view, weights)
        channels = wanted[-1 if given.channels_last else 1] if len(wanted) == n + 2 else weights.shape[-2]
        groups = _groups(view, channels, weights.shape[-2])
    op = ops.ConvTranspose(given.strides, pads, given.dilations, extra, groups, given.channels_last)
    return view.add(op, x, turned)


def add_bias(view: NodeView, x: Value, bias: Value, channels_last: bool) -> Value:
    """One number for each channel."""
    if not channels_last:
        bias = view.add(ops.Reshape((bias.shape[0], *(1,) * (len(x.shape) - 2))), bias)
    return view.add(ops.Add(), x, bias)


@handles("BiasAdd", "BiasAddV1")
def bias_add(view: NodeView) -> Value:
    """x, bias."""
    return add_bias(view, view.input(0), view.input(1), is_channels_last(view))


@handles("MatMul")
def matmul(view: NodeView) -> Value:
    """Two matrices."""
    op = ops.MatMul(view.attr_bool("transpose_a", False), view.attr_bool("transpose_b", False))
    return view.add(op, view.input(0), view.input(1))


@handles("_FusedMatMul")
def fused_matmul(view: NodeView) -> Value:
    """Two matrices, then the operands of the fused operators."""
    return _apply_fused(view, matmul(view), channels_last=True)


@handles("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3")
def batch_matmul(view: NodeView) -> Value:
    """Matrices in the last two dimensions."""
    op = ops.MatMul(view.attr_bool("adj_x", False), view.attr_bool("adj_y", False))
    return view.add(op, view.input(0), view.input(1))
