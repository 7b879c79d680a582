"""Gathering along an axis at indices that are known when the network runs, or have any shape."""

from __future__ import annotations

import math
from collections.abc import Sequence

from mace_cl.graph.core import Graph, Node
from mace_cl.graph.ops import Gather
from mace_cl.graph.ops.base import Cost
from mace_cl.kernels.base import (
    CallArg,
    Config,
    Family,
    KernelCall,
    KernelSpec,
    Match,
    Read,
    Refusal,
    Scalar,
    Write,
    roofline_us,
    single,
)
from mace_cl.kernels.blocks import element_type
from mace_cl.kernels.elementwise import MAX_INDEX, split
from mace_cl.kernels.tiles import grid_of
from mace_cl.kernels.vectors import ceil_div
from mace_cl.targets.facts import DeviceFacts


class GatherFamily(Family):
    """Any element type, axis, batch dimensions and shape of indices."""

    name = "gather"
    operators = ("Gather",)

    def match(self, graph: Graph, node: Node, facts: DeviceFacts) -> Match | Refusal:
        """The node alone."""
        if max(node.input(0).type.elements, node.output.type.elements) > MAX_INDEX:
            return Refusal("more elements than a 32-bit index holds")
        if not node.input(1).dtype.is_integer:
            return Refusal("indices are no integers")
        return single(node)

    def cost(self, match: Match, config: Config, facts: DeviceFacts) -> float:
        """Memory traffic."""
        return roofline_us(Cost(0, 3 * match.node.output.type.nbytes), facts, 1.0)

    def emit(self, match: Match, config: Config, facts: DeviceFacts) -> Sequence[KernelCall]:
        """One launch."""
        node = match.node
        op = node.op
        assert isinstance(op, Gather)
        x, indices, y = node.input(0), node.input(1), node.output
        axis, batch = op.axis % x.type.rank, op.batch_dims % max(indices.type.rank, 1)
        count = math.prod(indices.shape[batch:])
        outer, run = math.prod(x.shape[batch:axis]), math.prod(x.shape[axis + 1 :])
        rows = math.prod(x.shape[:batch]) * outer * count
        parts, _ = split(rows, run, facts) if rows > 1 else (1, 1)
        rows_per = ceil_div(rows, parts)
        grid = grid_of(facts, ceil_div(rows, rows_per))
        macros = {"E": element_type(x.dtype), "INDEX": indices.dtype.opencl, "GROUP": grid.group}
        numbers = (rows, rows_per, outer, count, x.shape[axis], run)
        args: tuple[CallArg, ...] = (Read(x), Read(indices), Write(y), *(Scalar("int", n) for n in numbers))
        cost = Cost(0, 2 * y.type.nbytes + indices.type.nbytes)
        return [KernelCall(KernelSpec.of(self.name, macros), args, grid.global_size, grid.local_size, cost)]


FAMILY = GatherFamily()
