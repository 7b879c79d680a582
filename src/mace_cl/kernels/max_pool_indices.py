"""Pooling that tells where each greatest element stands."""

from __future__ import annotations

import math
from collections.abc import Sequence

from mace_cl.graph.core import Graph, Node
from mace_cl.graph.ops import MaxPoolWithIndices
from mace_cl.kernels.base import Config, Family, KernelCall, Match, Read, Refusal, Write, roofline_us
from mace_cl.kernels.lines import computable, indexable, line_call, node_cost
from mace_cl.kernels.typed import INTEGER_LIMITS, integer_literal
from mace_cl.targets.facts import DeviceFacts
from mace_cl.types import DataType


class MaxPoolIndices(Family):
    """Channels-first floats and integers with one to three spatial dimensions."""

    name = "max_pool_indices"
    operators = ("MaxPoolWithIndices",)

    def match(self, graph: Graph, node: Node, facts: DeviceFacts) -> Match | Refusal:
        """The node alone."""
        if node.input(0).type.rank > 5:
            return Refusal("more than three spatial dimensions")
        return computable(node.input(0).dtype, facts) or indexable(node)

    def cost(self, match: Match, config: Config, facts: DeviceFacts) -> float:
        """One comparison after another."""
        return roofline_us(node_cost(match.node), facts, 0.02)

    def emit(self, match: Match, config: Config, facts: DeviceFacts) -> Sequence[KernelCall]:
        """One launch."""
        node = match.node
        op = node.op
        assert isinstance(op, MaxPoolWithIndices)
        x, (values, places) = node.input(0), node.outputs
        source, target = _three(x.shape[2:]), _three(values.shape[2:])
        macros: dict[str, object] = {"T": x.dtype.opencl, "LEAST": _least(x.dtype)}
        for letter, sizes in (("K", op.kernel), ("S", op.strides), ("D", op.dilations)):
            macros |= {f"{letter}{axis}": n for axis, n in zip("DHW", _three(sizes), strict=True)}
        if op.column_major:
            macros["COLUMN_MAJOR"] = 1
        rows = math.prod(values.shape[:2]) * target[0] * target[1]
        begins = (0,) * (3 - len(op.pads)) + tuple(begin for begin, _ in op.pads)
        pointers = (Read(x), Write(values), Write(places))
        length = target[2] * math.prod(op.kernel)
        numbers = (*source, *target, *begins)
        return [line_call(self.name, macros, pointers, numbers, rows, length, facts, node_cost(node))]


def _three(sizes: Sequence[int]) -> tuple[int, ...]:
    """Sizes of depth, height and width; 1 for those that are absent."""
    return (1,) * (3 - len(sizes)) + tuple(sizes)


def _least(dtype: DataType) -> str:
    return "-INFINITY" if dtype.is_float else integer_literal(INTEGER_LIMITS[dtype][0], dtype)


FAMILY = MaxPoolIndices()
