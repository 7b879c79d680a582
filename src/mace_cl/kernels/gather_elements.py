"""Single elements gathered along an axis."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mace_cl.graph.core import Graph, Node
from mace_cl.graph.ops import GatherElements
from mace_cl.kernels.base import Config, Family, KernelCall, Match, Read, Refusal, Weights, Write, roofline_us
from mace_cl.kernels.blocks import dense_strides, element_type
from mace_cl.kernels.lines import indexable, line_call, node_cost
from mace_cl.targets.facts import DeviceFacts


class GatherElementsFamily(Family):
    """Any element type, rank and axis."""

    name = "gather_elements"
    operators = ("GatherElements",)

    def match(self, graph: Graph, node: Node, facts: DeviceFacts) -> Match | Refusal:
        """The node alone."""
        return indexable(node)

    def cost(self, match: Match, config: Config, facts: DeviceFacts) -> float:
        """Memory traffic; every element comes from a cache line of its own."""
        cost = node_cost(match.node)
        return roofline_us(cost, facts, 1.0) + cost.bytes / (facts.gbytes_per_s * 1e3)

    def emit(self, match: Match, config: Config, facts: DeviceFacts) -> Sequence[KernelCall]:
        """One launch."""
        node = match.node
        op = node.op
        assert isinstance(op, GatherElements)
        x, indices, y = node.input(0), node.input(1), node.output
        axis = op.axis % x.type.rank
        steps = [0 if d == axis else s for d, s in enumerate(dense_strides(x.shape))]
        table = np.array([*y.shape[:-1], *steps[:-1], 0], np.int32)
        rows = y.type.elements // y.shape[-1]
        return [
            line_call(
                self.name,
                {"E": element_type(x.dtype), "INDEX": indices.dtype.opencl},
                [Read(x), Read(indices), Weights(table, "table"), Write(y)],
                [y.type.rank - 1, y.shape[-1], steps[-1], x.shape[axis], dense_strides(x.shape)[axis]],
                rows,
                y.shape[-1],
                facts,
                node_cost(node),
            )
        ]


FAMILY = GatherElementsFamily()
