"""Indices to lines with one element on."""

from __future__ import annotations

import math
from collections.abc import Sequence

from mace_cl.graph.core import Graph, Node
from mace_cl.graph.ops import OneHot
from mace_cl.kernels.base import Config, Family, KernelCall, Match, Read, Refusal, Write, roofline_us
from mace_cl.kernels.blocks import element_type
from mace_cl.kernels.lines import indexable, line_call, node_cost
from mace_cl.targets.facts import DeviceFacts


class OneHotFamily(Family):
    """Any element type, integer type of indices and axis."""

    name = "one_hot"
    operators = ("OneHot",)

    def match(self, graph: Graph, node: Node, facts: DeviceFacts) -> Match | Refusal:
        """The node alone."""
        return indexable(node)

    def cost(self, match: Match, config: Config, facts: DeviceFacts) -> float:
        """Memory traffic."""
        return roofline_us(node_cost(match.node), facts, 0.05)

    def emit(self, match: Match, config: Config, facts: DeviceFacts) -> Sequence[KernelCall]:
        """One launch."""
        node = match.node
        op = node.op
        assert isinstance(op, OneHot)
        index, values, y = node.input(0), node.input(1), node.output
        inner = math.prod(y.shape[op.axis % y.type.rank + 1 :])
        return [
            line_call(
                self.name,
                {"E": element_type(y.dtype), "INDEX": index.dtype.opencl},
                [Read(index), Read(values), Write(y)],
                [op.depth, inner],
                y.type.elements // inner,
                inner,
                facts,
                node_cost(node),
            )
        ]


FAMILY = OneHotFamily()
