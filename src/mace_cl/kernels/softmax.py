"""Softmax and log-softmax along any axis."""

from __future__ import annotations

import math
from collections.abc import Sequence

from mace_cl.graph.core import Graph, Node
from mace_cl.graph.ops import LogSoftmax, Softmax
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
from mace_cl.kernels.elementwise import MAX_INDEX
from mace_cl.kernels.expression import literal
from mace_cl.kernels.tiles import grid_of
from mace_cl.kernels.vectors import ceil_div, vector_macros, width_for
from mace_cl.targets.facts import DeviceFacts
from mace_cl.types import DataType

SMALL_ELEMENTS = 4096


class SoftmaxFamily(Family):
    """Float32, any rank and axis."""

    name = "softmax"
    operators = ("Softmax", "LogSoftmax")

    def match(self, graph: Graph, node: Node, facts: DeviceFacts) -> Match | Refusal:
        """The node alone."""
        x = node.input(0)
        if x.dtype is not DataType.FLOAT32:
            return Refusal(f"{x.dtype.value} is not float32")
        if x.type.elements > MAX_INDEX:
            return Refusal("more elements than a 32-bit index holds")
        op = node.op
        if isinstance(op, Softmax) and op.beta <= 0:
            return Refusal("beta is not positive")
        return single(node)

    def cost(self, match: Match, config: Config, facts: DeviceFacts) -> float:
        """About twenty operations for each element."""
        x = match.node.input(0).type
        cost = match.node.op.cost([x], [x])
        return roofline_us(cost, facts, 0.05)

    def emit(self, match: Match, config: Config, facts: DeviceFacts) -> Sequence[KernelCall]:
        """One launch."""
        node = match.node
        op = node.op
        assert isinstance(op, Softmax | LogSoftmax)
        x = node.input(0)
        axis = op.axis % x.type.rank
        outer, size, inner = math.prod(x.shape[:axis]), x.shape[axis], math.prod(x.shape[axis + 1 :])
        along = inner == 1
        width = width_for(size if along else inner, facts)
        rows = outer if along else outer * ceil_div(inner, width)
        parts = rows if facts.kind != "cpu" else facts.compute_units
        if facts.kind == "cpu" and x.type.elements < SMALL_ELEMENTS:
            parts = 1
        rows_per = ceil_div(rows, min(parts, rows))
        grid = grid_of(facts, ceil_div(rows, rows_per))
        beta = op.beta if isinstance(op, Softmax) else 1.0
        macros = {**vector_macros(width), "GROUP": grid.group, "BETA": literal(beta)}
        macros |= {"ALONG": "1"} if along else {}
        macros |= {"LOGARITHM": "1"} if isinstance(op, LogSoftmax) else {}
        numbers = (rows, rows_per, size, inner)
        args: tuple[CallArg, ...] = (Read(x), Write(node.output), *(Scalar("int", n) for n in numbers))
        cost = op.cost([x.type], [x.type])
        return [KernelCall(KernelSpec.of(self.name, macros), args, grid.global_size, grid.local_size, cost)]


FAMILY = SoftmaxFamily()
