"""Running sums along an axis."""

from __future__ import annotations

import math
from collections.abc import Sequence

from mace_cl.graph.core import Graph, Node
from mace_cl.graph.ops import CumSum
from mace_cl.kernels.base import Config, Family, KernelCall, Match, Read, Refusal, Write, roofline_us
from mace_cl.kernels.lines import computable, indexable, line_call, node_cost
from mace_cl.targets.facts import DeviceFacts


class CumSumFamily(Family):
    """Floats and integers, any axis."""

    name = "cum_sum"
    operators = ("CumSum",)

    def match(self, graph: Graph, node: Node, facts: DeviceFacts) -> Match | Refusal:
        """The node alone."""
        return computable(node.input(0).dtype, facts) or indexable(node)

    def cost(self, match: Match, config: Config, facts: DeviceFacts) -> float:
        """One addition after another, or memory traffic."""
        return roofline_us(node_cost(match.node), facts, 0.02)

    def emit(self, match: Match, config: Config, facts: DeviceFacts) -> Sequence[KernelCall]:
        """One launch."""
        node = match.node
        op = node.op
        assert isinstance(op, CumSum)
        x = node.input(0)
        axis = op.axis % x.type.rank
        size, inner = x.shape[axis], math.prod(x.shape[axis + 1 :])
        macros = {"T": x.dtype.opencl}
        macros |= {name: "1" for name, on in (("EXCLUSIVE", op.exclusive), ("REVERSE", op.reverse)) if on}
        pointers = (Read(x), Write(node.output))
        lines = x.type.elements // size
        return [line_call(self.name, macros, pointers, [size, inner], lines, size, facts, node_cost(node))]


FAMILY = CumSumFamily()
