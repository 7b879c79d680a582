"""Activation functions."""

from __future__ import annotations

from collections.abc import Callable

from mace_cl.graph import ops
from mace_cl.graph.core import Value
from mace_cl.importers.tensorflow.registry import NodeView, handles

_ACTIVATIONS: dict[str, Callable[[NodeView], ops.Operator]] = {
    "Relu": lambda _: ops.Relu(),
    "Relu6": lambda _: ops.Clip(0, 6),
    "LeakyRelu": lambda view: ops.LeakyRelu(view.attr_float("leakyrelu_alpha", 0.2)),
    "Elu": lambda _: ops.Elu(),
    "Sigmoid": lambda _: ops.Sigmoid(),
    "Tanh": lambda _: ops.Tanh(),
    "GeluExact": lambda _: ops.Gelu("none"),
    "GeluApproximate": lambda _: ops.Gelu("tanh"),
}


def activate(view: NodeView, name: str, x: Value) -> Value:
    """An activation fused into another operator.

    Raises:
        UnsupportedError: It is not a known one.
    """
    if name not in _ACTIVATIONS:
        raise view.unsupported(f"fused operator {name!r} is not built")
    return view.add(_ACTIVATIONS[name](view), x)


@handles("Relu", "Relu6", "Elu", "Sigmoid", "Tanh")
def activation(view: NodeView) -> Value:
    """An activation without attributes."""
    return activate(view, view.node.op, view.input(0))


@handles("LeakyRelu")
def leaky_relu(view: NodeView) -> Value:
    """Slope in alpha."""
    return view.add(ops.LeakyRelu(view.attr_float("alpha", 0.2)), view.input(0))


@handles("Selu")
def selu(view: NodeView) -> Value:
    """The constants are ONNX's."""
    return view.add(ops.Selu(), view.input(0))


@handles("Softplus")
def softplus(view: NodeView) -> Value:
    """log(1 + exp(x))."""
    return view.add(ops.Softplus(), view.input(0))


@handles("Softsign")
def softsign(view: NodeView) -> Value:
    """x / (1 + |x|)."""
    return view.add(ops.Softsign(), view.input(0))


@handles("Softmax", "LogSoftmax")
def softmax(view: NodeView) -> Value:
    """Over the last dimension."""
    x = view.input(0)
    kind = ops.Softmax if view.node.op == "Softmax" else ops.LogSoftmax
    return view.add(kind(view.axis(-1, len(x.shape))), x)
