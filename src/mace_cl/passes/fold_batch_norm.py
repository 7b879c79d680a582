"""Batch normalisation becomes arithmetic: into the weights of the operator before it, or a multiply and an add.

    scale' = scale / sqrt(var + epsilon)        BN(x) = x scale' + (bias - mean scale')

Must not fire into a convolution whose sum is used elsewhere, has an epilogue, or whose weights are not constants; there
the multiply and add remain.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mace_cl.graph import Graph, Node
from mace_cl.graph.ops import Add, BatchNormalization, Mul
from mace_cl.passes.base import Pass, Report
from mace_cl.passes.fold_scales import scale_producer


@dataclass(frozen=True)
class FoldBatchNorm(Pass):
    """Remove batch normalisation."""

    name = "fold-batch-norm"

    def run(self, graph: Graph, report: Report) -> None:
        """Visit every BatchNormalization once."""
        for node in list(graph.nodes):
            if isinstance(node.op, BatchNormalization):
                self._fold(graph, node, node.op, report)

    def _fold(self, graph: Graph, node: Node, op: BatchNormalization, report: Report) -> None:
        parameters = [v.data if v is not None else None for v in node.inputs[1:]]
        if any(p is None for p in parameters):
            report.refused(node, "its parameters are not constants")
            return
        # Folded in float64: the weights are rounded once.
        scale, bias, mean, var = (np.asarray(p, np.float64) for p in parameters)
        factor = scale / np.sqrt(var + op.epsilon)
        shift = bias - mean * factor
        x = node.input(0)
        axis = x.type.rank - 1 if op.channels_last else 1
        if not scale_producer(graph, x, axis, factor, shift, node, report):
            dtype = x.dtype.numpy
            shape = [1] * x.type.rank
            shape[axis] = len(factor)
            scaled = graph.add1(
                Mul(), [x, graph.constant(factor.reshape(shape).astype(dtype), f"{node.name}.scale")], before=node
            )
            moved = graph.add1(
                Add(), [scaled, graph.constant(shift.reshape(shape).astype(dtype), f"{node.name}.shift")], before=node
            )
            graph.replace(node.output, moved)
        else:
            graph.replace(node.output, x)
        graph.remove(node)
        report.changed(f"{node.name} folded")
