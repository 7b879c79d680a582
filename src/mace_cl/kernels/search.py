"""ArgMax and ArgMin along an axis."""

from __future__ import annotations

import math
from collections.abc import Sequence

from mace_cl.graph.core import Graph, Node
from mace_cl.graph.ops.reduce import ArgMax, Search
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
from mace_cl.kernels.elementwise import MAX_INDEX, split
from mace_cl.kernels.tiles import grid_of
from mace_cl.kernels.vectors import ceil_div
from mace_cl.targets.facts import DeviceFacts
from mace_cl.types import DataType


class SearchFamily(Family):
    """Float32 and integers, any axis; of equals the first or the last."""

    name = "search"
    operators = ("ArgMax", "ArgMin")

    def match(self, graph: Graph, node: Node, facts: DeviceFacts) -> Match | Refusal:
        """The node alone."""
        x = node.input(0)
        if x.dtype is not DataType.FLOAT32 and not x.dtype.is_integer:
            return Refusal(f"no search in {x.dtype.value}")
        if x.type.elements > MAX_INDEX:
            return Refusal("more elements than a 32-bit index holds")
        return single(node)

    def cost(self, match: Match, config: Config, facts: DeviceFacts) -> float:
        """One comparison for each element, one at a time."""
        node = match.node
        return roofline_us(node.op.cost([node.input(0).type], [node.output.type]), facts, 0.02)

    def emit(self, match: Match, config: Config, facts: DeviceFacts) -> Sequence[KernelCall]:
        """One launch."""
        node = match.node
        op = node.op
        assert isinstance(op, Search)
        x, y = node.input(0), node.output
        axis = op.axis % x.type.rank
        inner = math.prod(x.shape[axis + 1 :])
        outputs = math.prod(x.shape[:axis]) * inner
        parts, _ = split(outputs, x.shape[axis], facts) if outputs > 1 else (1, 1)
        outputs_per = ceil_div(outputs, parts)
        grid = grid_of(facts, ceil_div(outputs, outputs_per))
        sign = ">" if isinstance(op, ArgMax) else "<"
        sign += "=" if op.select_last_index else ""
        test = f"((v) {sign} (best))"
        if x.dtype is DataType.FLOAT32:
            test = f"((best) == (best) && ({test} || (v) != (v)))"
        macros = {"T": x.dtype.opencl, "INDEX": y.dtype.opencl, "BETTER(v, best)": test, "GROUP": grid.group}
        numbers = (outputs, outputs_per, x.shape[axis], inner)
        args: tuple[CallArg, ...] = (Read(x), Write(y), *(Scalar("int", n) for n in numbers))
        cost = op.cost([x.type], [y.type])
        return [KernelCall(KernelSpec.of(self.name, macros), args, grid.global_size, grid.local_size, cost)]


FAMILY = SearchFamily()
