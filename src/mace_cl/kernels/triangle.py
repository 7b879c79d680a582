"""Upper and lower triangles of matrices."""

from __future__ import annotations

from collections.abc import Sequence

from mace_cl.graph.core import Graph, Node
from mace_cl.graph.ops import Trilu
from mace_cl.kernels.base import Config, Family, KernelCall, Match, Read, Refusal, Write, roofline_us
from mace_cl.kernels.blocks import element_type
from mace_cl.kernels.lines import indexable, line_call, node_cost
from mace_cl.targets.facts import DeviceFacts


class Triangle(Family):
    """Any element type and number of matrices."""

    name = "triangle"
    operators = ("Trilu",)

    def match(self, graph: Graph, node: Node, facts: DeviceFacts) -> Match | Refusal:
        """The node alone."""
        return indexable(node)

    def cost(self, match: Match, config: Config, facts: DeviceFacts) -> float:
        """Memory traffic."""
        return roofline_us(node_cost(match.node), facts, 1.0)

    def emit(self, match: Match, config: Config, facts: DeviceFacts) -> Sequence[KernelCall]:
        """One launch."""
        node = match.node
        op = node.op
        assert isinstance(op, Trilu)
        x = node.input(0)
        height, width = x.shape[-2:]
        # Beyond a whole matrix a diagonal moves nothing any more.
        k = min(max(op.k, -height - 1), width + 1)
        macros = {"E": element_type(x.dtype), **({"UPPER": "1"} if op.upper else {})}
        pointers = (Read(x), Write(node.output))
        rows = x.type.elements // width
        return [line_call(self.name, macros, pointers, [height, width, k], rows, width, facts, node_cost(node))]


FAMILY = Triangle()
