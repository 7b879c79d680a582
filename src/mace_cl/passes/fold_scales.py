"""Multiplies and adds of per-channel constants go into the weights and bias of the operator before them.

    (W x + b) s + t  =  (s W) x + (s b + t)

for Conv, ConvTranspose and MatMul with constant weights. Must not fire where the sum is used elsewhere, where an
epilogue stands between, or where the constant varies along other dimensions than the output channels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mace_cl.graph import Graph, Node, Value
from mace_cl.graph.ops import Add, Conv, ConvTranspose, Div, MatMul, Mul, Sub
from mace_cl.passes.base import Pass, Report, sweep
from mace_cl.passes.rewrite import only_user, per_channel


@dataclass(frozen=True)
class FoldScales(Pass):
    """Fold constant scales and shifts into weights."""

    name = "fold-scales"

    def run(self, graph: Graph, report: Report) -> None:
        """Repeat until nothing folds."""

        def visit(node: Node) -> bool:
            found = _scale_and_shift(node)
            if found is None:
                return False
            x, (factor, shift) = found
            if x.type != node.output.type or x.producer is None:
                return False
            axis = channel_axis(x.producer, x)
            if axis is None:
                return False
            vectors = [per_channel(a, x.shape, axis) for a in (factor, shift)]
            if vectors[0] is None or vectors[1] is None:
                report.refused(node, "its constant varies along other dimensions than the channels")
                return False
            if not scale_producer(graph, x, axis, vectors[0], vectors[1], node, report):
                return False
            graph.replace(node.output, x)
            graph.remove(node)
            report.changed(f"{node.name} folded into {x.producer.name}")
            return True

        sweep(graph, visit)


_NEUTRAL = np.ones(()), np.zeros(())


def _scale_and_shift(node: Node) -> tuple[Value, tuple[np.ndarray, np.ndarray]] | None:
    """(x, (factor, shift)) of a node that computes x factor + shift with one constant."""
    if not isinstance(node.op, Add | Sub | Mul | Div) or not node.output.dtype.is_float:
        return None
    a, b = node.input(0), node.input(1)
    if (a.data is None) == (b.data is None):
        return None
    constant, x = (a, b) if a.data is not None else (b, a)
    assert constant.data is not None
    number = constant.data.astype(np.float64)
    one, zero = _NEUTRAL
    if isinstance(node.op, Add):
        return x, (one, number)
    if isinstance(node.op, Mul):
        return x, (number, zero)
    if isinstance(node.op, Sub):
        return (x, (-one, number)) if constant is a else (x, (one, -number))
    if constant is a or not np.all(number):
        return None
    return x, (1.0 / number, zero)


def channel_axis(node: Node, value: Value) -> int | None:
    """The dimension of the output channels of an operator that takes scales into its weights, else None."""
    op = node.op
    if isinstance(op, Conv | ConvTranspose):
        return value.type.rank - 1 if op.channels_last else 1
    return value.type.rank - 1 if isinstance(op, MatMul) else None


def scale_producer(
    graph: Graph, x: Value, axis: int, factor: np.ndarray, shift: np.ndarray, user: Node, report: Report
) -> bool:
    """Change weights and bias of x's producer so that x becomes x factor + shift; says why not where it cannot.

    Args:
        graph: The graph.
        x: The sum.
        axis: Its channel dimension.
        factor: [channels] float64, multiplied.
        shift: [channels] float64, added.
        user: The node that would vanish.
        report: Takes the reason of a refusal.
    """
    node = x.producer
    if node is None or channel_axis(node, x) != axis:
        return False
    reason = _why_not(graph, node, x)
    if reason:
        report.refused(user, reason)
        return False
    weights, bias = node.input(1), node.inputs[2] if len(node.inputs) > 2 else None
    assert weights.data is not None
    dtype = weights.dtype.numpy
    scaled = _scaled(node)(weights.data.astype(np.float64), factor)
    old = np.zeros(len(factor)) if bias is None or bias.data is None else bias.data.astype(np.float64)
    new_bias = np.broadcast_to(old.reshape(-1), factor.shape) * factor + shift
    if len(node.inputs) < 3:
        node.inputs.append(None)
    node.set_input(1, graph.constant(scaled.astype(dtype), f"{weights.name}.scaled"))
    node.set_input(2, graph.constant(new_bias.astype(dtype), f"{node.name}.bias"))
    return True


def _why_not(graph: Graph, node: Node, x: Value) -> str | None:
    op = node.op
    assert isinstance(op, Conv | ConvTranspose | MatMul)
    if only_user(graph, x) is None:
        return f"the result of {node.name} is used elsewhere"
    if op.epilogue:
        return f"{node.name} has an epilogue already"
    if not node.input(1).is_constant:
        return f"the weights of {node.name} are no constants"
    bias = node.inputs[2] if len(node.inputs) > 2 else None
    if bias is not None and (
        bias.data is None or bias.data.size not in (1, x.shape[-1] if isinstance(op, MatMul) else bias.data.size)
    ):
        return f"the bias of {node.name} is no constant for each channel"
    if isinstance(op, MatMul) and node.input(1).type.rank != 2:
        return f"the weights of {node.name} are no matrix"
    return None


def _scaled(node: Node) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """How weights are multiplied by a factor for each output channel."""
    op = node.op
    if isinstance(op, Conv):
        return lambda w, f: w * f.reshape(-1, *(1,) * (w.ndim - 1))
    if isinstance(op, MatMul):
        return (lambda w, f: w * f[:, None]) if op.transpose_b else (lambda w, f: w * f)
    assert isinstance(op, ConvTranspose)
    groups = op.groups

    def transposed(w: np.ndarray, f: np.ndarray) -> np.ndarray:
        grouped = w.reshape(groups, w.shape[0] // groups, *w.shape[1:])
        factor = f.reshape(groups, 1, w.shape[1], *(1,) * (w.ndim - 2))
        product: np.ndarray = (grouped * factor).reshape(w.shape)
        return product

    return transposed
