"""Sequences of different lengths, each reversed."""

from __future__ import annotations

import math
from collections.abc import Sequence

from mace_cl.graph.core import Graph, Node
from mace_cl.graph.ops import ReverseSequence
from mace_cl.kernels.base import Config, Family, KernelCall, Match, Read, Refusal, Write, roofline_us
from mace_cl.kernels.blocks import element_type
from mace_cl.kernels.lines import indexable, line_call, node_cost
from mace_cl.targets.facts import DeviceFacts


class ReverseSequenceFamily(Family):
    """Any element type; time and sequences along any two dimensions."""

    name = "reverse_sequence"
    operators = ("ReverseSequence",)

    def match(self, graph: Graph, node: Node, facts: DeviceFacts) -> Match | Refusal:
        """The node alone."""
        return indexable(node)

    def cost(self, match: Match, config: Config, facts: DeviceFacts) -> float:
        """Memory traffic; short runs cost more."""
        return roofline_us(node_cost(match.node), facts, 0.5)

    def emit(self, match: Match, config: Config, facts: DeviceFacts) -> Sequence[KernelCall]:
        """One launch."""
        node = match.node
        op = node.op
        assert isinstance(op, ReverseSequence)
        x, lengths = node.input(0), node.input(1)
        p, q = sorted((op.batch_axis, op.time_axis))
        run = math.prod(x.shape[q + 1 :])
        macros = {"E": element_type(x.dtype), "INDEX": lengths.dtype.opencl}
        if op.time_axis == p:
            macros["TIME_FIRST"] = "1"
        numbers = (x.shape[p], math.prod(x.shape[p + 1 : q]), x.shape[q], run)
        pointers = (Read(x), Read(lengths), Write(node.output))
        rows = x.type.elements // run
        return [line_call(self.name, macros, pointers, numbers, rows, run, facts, node_cost(node))]


FAMILY = ReverseSequenceFamily()
