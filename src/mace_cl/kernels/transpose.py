"""Transposed matrices: between channels first and channels last, and whatever comes to the same."""

from __future__ import annotations

from collections.abc import Sequence

from mace_cl.graph.core import Graph, Node
from mace_cl.graph.ops import Transpose
from mace_cl.kernels.base import Config, Family, KernelCall, Match, Read, Refusal, Write, roofline_us
from mace_cl.kernels.blocks import element_type
from mace_cl.kernels.lines import indexable, line_call, node_cost
from mace_cl.kernels.vectors import ceil_div
from mace_cl.targets.facts import DeviceFacts
from mace_cl.types import Shape

TILE = 8
"""Rows and columns of a tile; fewer are moved one by one."""


class TransposeFamily(Family):
    """Permutations that swap two neighbouring groups of dimensions, the last one among them; any element type."""

    name = "transpose"
    operators = ("Transpose",)

    def match(self, graph: Graph, node: Node, facts: DeviceFacts) -> Match | Refusal:
        """The node alone."""
        if matrices(node) is None:
            return Refusal("more is moved than rows and columns of matrices")
        return indexable(node)

    def cost(self, match: Match, config: Config, facts: DeviceFacts) -> float:
        """Memory traffic, half again for cache lines that are used in parts."""
        cost = node_cost(match.node)
        return roofline_us(cost + cost, facts, 1.0) - cost.bytes / (facts.gbytes_per_s * 2e3)

    def emit(self, match: Match, config: Config, facts: DeviceFacts) -> Sequence[KernelCall]:
        """One launch."""
        node = match.node
        found = matrices(node)
        assert found is not None
        count, height, width = found
        element = element_type(node.output.dtype)
        macros = {"E": element}
        if height < TILE:
            macros["NARROW_ROWS"] = str(height)
            lines, length = count * width, height
        elif width < TILE:
            macros["NARROW_COLUMNS"] = str(width)
            lines, length = count * height, width
        else:
            macros["VEC"] = f"{element}{TILE}"
            lines, length = count * ceil_div(width, TILE), TILE * height
        pointers = (Read(node.input(0)), Write(node.output))
        return [line_call(self.name, macros, pointers, [height, width], lines, length, facts, node_cost(node))]


def matrices(node: Node) -> tuple[int, int, int] | None:
    """(count, height, width) where the node transposes so many matrices, else None."""
    op = node.op
    assert isinstance(op, Transpose)
    shape = node.input(0).shape
    groups = _moved_groups(shape, op.perm)
    order = [first for first, _ in groups]
    if len(groups) not in (2, 3) or order[-2:] != sorted(order)[-1:-3:-1]:
        return None
    (_, width), (_, height) = groups[-2:]
    return (groups[0][1] if len(groups) == 3 else 1), height, width


def _moved_groups(shape: Shape, perm: Sequence[int]) -> list[tuple[int, int]]:
    """(first dimension of x, elements) of dimensions that stay together, in the output's order, but those of 1."""
    kept = [d for d in range(len(shape)) if shape[d] != 1]
    rank_of = {d: i for i, d in enumerate(kept)}
    groups: list[tuple[int, int]] = []
    last = -2
    for d in perm:
        if shape[d] == 1:
            continue
        if rank_of[d] == last + 1:
            groups[-1] = (groups[-1][0], groups[-1][1] * shape[d])
        else:
            groups.append((rank_of[d], shape[d]))
        last = rank_of[d]
    return groups


FAMILY = TransposeFamily()
