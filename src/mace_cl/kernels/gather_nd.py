"""Slices gathered at index tuples."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from mace_cl.graph.core import Graph, Node
from mace_cl.graph.ops import GatherND
from mace_cl.kernels.base import Config, Family, KernelCall, Match, Read, Refusal, Weights, Write, roofline_us
from mace_cl.kernels.blocks import dense_strides, element_type
from mace_cl.kernels.lines import indexable, line_call, node_cost
from mace_cl.targets.facts import DeviceFacts


class GatherNDFamily(Family):
    """Any element type, length of tuples and number of batch dimensions."""

    name = "gather_nd"
    operators = ("GatherND",)

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
        assert isinstance(op, GatherND)
        x, indices, y = node.input(0), node.input(1), node.output
        batch, depth = op.batch_dims, indices.shape[-1]
        named = slice(batch, batch + depth)
        run = math.prod(x.shape[batch + depth :])
        table = np.array([*x.shape[named], *dense_strides(x.shape)[named]], np.int32)
        rows_per_batch = math.prod(indices.shape[batch:-1])
        return [
            line_call(
                self.name,
                {"E": element_type(x.dtype), "INDEX": indices.dtype.opencl},
                [Read(x), Read(indices), Weights(table, "table"), Write(y)],
                [rows_per_batch, math.prod(x.shape[batch:]), depth, run],
                y.type.elements // run,
                run,
                facts,
                node_cost(node),
            )
        ]


FAMILY = GatherNDFamily()
