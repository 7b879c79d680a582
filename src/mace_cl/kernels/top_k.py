"""The greatest or least elements along an axis."""

from __future__ import annotations

import math
from collections.abc import Sequence

from mace_cl.graph.core import Graph, Node
from mace_cl.graph.ops import TopK
from mace_cl.graph.ops.base import Cost
from mace_cl.kernels.base import Config, Family, KernelCall, Match, Read, Refusal, Write, roofline_us
from mace_cl.kernels.lines import computable, indexable, line_call, node_cost
from mace_cl.targets.facts import DeviceFacts


class TopKFamily(Family):
    """Floats and integers, any axis; one work-item sorts a line by insertion, which suits a small k."""

    name = "top_k"
    operators = ("TopK",)

    def match(self, graph: Graph, node: Node, facts: DeviceFacts) -> Match | Refusal:
        """The node alone."""
        return computable(node.input(0).dtype, facts) or indexable(node)

    def cost(self, match: Match, config: Config, facts: DeviceFacts) -> float:
        """A comparison for each element, and the insertions into a list in random order."""
        op, x = match.node.op, match.node.input(0)
        assert isinstance(op, TopK)
        size = x.shape[op.axis % x.type.rank]
        moves = op.k * op.k / 2 * (1 + math.log(size / max(op.k, 1))) * x.type.elements / size
        return roofline_us(Cost(round(x.type.elements + moves), node_cost(match.node).bytes), facts, 0.02)

    def emit(self, match: Match, config: Config, facts: DeviceFacts) -> Sequence[KernelCall]:
        """One launch."""
        node = match.node
        op = node.op
        assert isinstance(op, TopK)
        x, (values, places) = node.input(0), node.outputs
        axis = op.axis % x.type.rank
        size, inner = x.shape[axis], math.prod(x.shape[axis + 1 :])
        macros = {
            "T": x.dtype.opencl,
            "INDEX": places.dtype.opencl,
            "BETTER(v, u)": _better(op.largest, x.dtype.is_float),
        }
        return [
            line_call(
                self.name,
                macros,
                [Read(x), Write(values), Write(places)],
                [size, inner, op.k],
                x.type.elements // size,
                size,
                facts,
                node_cost(node),
            )
        ]


def _better(largest: bool, is_float: bool) -> str:
    """Whether v stands before u. Not-a-number is greater than every number, as for NumPy's sort."""
    greater = "((v) > (u))" if largest else "((v) < (u))"
    if not is_float:
        return greater
    nan, other = ("v", "u") if largest else ("u", "v")
    return f"({greater} || (({nan}) != ({nan}) && ({other}) == ({other})))"


FAMILY = TopKFamily()
