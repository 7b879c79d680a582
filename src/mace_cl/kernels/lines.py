"""Launches whose work-items take some of many equal lines of work each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mace_cl.graph.core import Node
from mace_cl.graph.ops.base import Cost
from mace_cl.kernels.base import CallArg, KernelCall, KernelSpec, Match, Refusal, Scalar, single
from mace_cl.kernels.elementwise import MAX_INDEX, split
from mace_cl.kernels.tiles import grid_of
from mace_cl.kernels.vectors import ceil_div
from mace_cl.targets.facts import DeviceFacts
from mace_cl.types import DataType


def line_call(
    family: str,
    macros: Mapping[str, object],
    pointers: Sequence[CallArg],
    numbers: Sequence[int],
    lines: int,
    length: int,
    facts: DeviceFacts,
    cost: Cost,
    most: int | None = None,
) -> KernelCall:
    """A launch of KERNEL(pointers ..., lines, lines_per, numbers ...); GROUP is added to the macros.

    Args:
        family: Stem of the `.cl` file.
        macros: The specialisation.
        pointers: Leading arguments.
        numbers: Trailing int arguments.
        lines: Lines in all.
        length: Elements that a line touches, which says whether sharing pays.
        facts: The device.
        cost: Of the launch.
        most: Work-items at most.
    """
    parts = split(lines, max(length, 1), facts)[0] if lines > 1 else 1
    parts = min(parts, most or parts)
    lines_per = ceil_div(lines, parts)
    grid = grid_of(facts, ceil_div(lines, lines_per))
    args = (*pointers, *(Scalar("int", n) for n in (lines, lines_per, *numbers)))
    spec = KernelSpec.of(family, {**macros, "GROUP": grid.group})
    return KernelCall(spec, args, grid.global_size, grid.local_size, cost)


def node_cost(node: Node) -> Cost:
    """The operator's own cost."""
    return node.op.cost([None if v is None else v.type for v in node.inputs], [v.type for v in node.outputs])


def indexable(node: Node) -> Match | Refusal:
    """The match of a node alone, where a 32-bit index reaches every element of its tensors."""
    if any(v.type.elements > MAX_INDEX for v in (*node.inputs, *node.outputs) if v is not None):
        return Refusal("more elements than a 32-bit index holds")
    return single(node)


def computable(dtype: DataType, facts: DeviceFacts) -> Refusal | None:
    """Why elements of a type cannot be computed with, if so: halves and bools are stored only."""
    if dtype in (DataType.FLOAT16, DataType.BOOL):
        return Refusal(f"no arithmetic on {dtype.value}")
    if dtype is DataType.FLOAT64 and not facts.has_fp64:
        return Refusal("the device has no double precision (cl_khr_fp64)")
    return None
