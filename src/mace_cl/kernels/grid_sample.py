"""A tensor sampled at the points of a grid."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from mace_cl.graph.core import Graph, Node
from mace_cl.graph.ops import GridSample
from mace_cl.kernels.base import Config, Family, KernelCall, Match, Read, Refusal, Weights, Write, roofline_us
from mace_cl.kernels.lines import indexable, line_call, node_cost
from mace_cl.targets.facts import DeviceFacts
from mace_cl.types import DataType

_TAPS = {"nearest": 1, "linear": 2, "cubic": 4}


class GridSampleFamily(Family):
    """Float32 with one to three spatial dimensions, every mode and padding."""

    name = "grid_sample"
    operators = ("GridSample",)

    def match(self, graph: Graph, node: Node, facts: DeviceFacts) -> Match | Refusal:
        """The node alone."""
        x, grid = node.input(0), node.input(1)
        if x.dtype is not DataType.FLOAT32 or grid.dtype is not DataType.FLOAT32:
            return Refusal("x and grid are not float32")
        if x.type.rank > 5:
            return Refusal("more than three spatial dimensions")
        return indexable(node)

    def cost(self, match: Match, config: Config, facts: DeviceFacts) -> float:
        """Scalar loads from anywhere: a small part of the peak."""
        return roofline_us(node_cost(match.node), facts, 0.02)

    def emit(self, match: Match, config: Config, facts: DeviceFacts) -> Sequence[KernelCall]:
        """One launch."""
        node = match.node
        op = node.op
        assert isinstance(op, GridSample)
        x, grid, y = node.input(0), node.input(1), node.output
        spatial = x.shape[2:]
        taps = _TAPS[op.mode]
        macros = {"R": len(spatial), "TAPS": taps, "CORNERS": taps ** len(spatial), op.padding_mode.upper(): 1}
        if op.align_corners:
            macros["ALIGN_CORNERS"] = 1
        points = math.prod(grid.shape[:-1])
        return [
            line_call(
                self.name,
                macros,
                [Read(x), Read(grid), Weights(np.array(spatial, np.int32), "sizes"), Write(y)],
                [points // x.shape[0], x.shape[1], math.prod(spatial)],
                points,
                x.shape[1] * taps ** len(spatial),
                facts,
                node_cost(node),
            )
        ]


FAMILY = GridSampleFamily()
