"""Operators that change nothing are removed.

Identity; Reshape, Expand, Tile, Slice, Pad, Transpose and Resize that give what they got; Cast to the same type; Concat
and Split of one piece; reductions over no axes (where they are the identity); Reshape of a Reshape becomes one.
"""

from __future__ import annotations

from dataclasses import dataclass

from mace_cl.graph import Graph, Node
from mace_cl.graph.ops import (
    Cast,
    Concat,
    Expand,
    Identity,
    Pad,
    ReduceMax,
    ReduceMean,
    ReduceMin,
    ReduceProd,
    ReduceSum,
    Reshape,
    Resize,
    Slice,
    Split,
    Tile,
    Transpose,
)
from mace_cl.passes.base import Pass, Report, sweep


@dataclass(frozen=True)
class RemoveIdentities(Pass):
    """Drop what changes nothing."""

    name = "remove-identities"

    def run(self, graph: Graph, report: Report) -> None:
        """Repeat until nothing is left to drop."""

        def visit(node: Node) -> bool:
            if changes_nothing(node):
                graph.replace(node.output, node.input(0))
                graph.remove(node)
                report.changed(f"{node.name} ({node.op.name}) dropped")
                return True
            return _merge_reshapes(graph, node, report)

        sweep(graph, visit)


def changes_nothing(node: Node) -> bool:
    """Whether the node's only output equals its first input in shape, type and content."""
    if len(node.outputs) != 1 or node.inputs[0] is None or node.output.type != node.input(0).type:
        return False
    op = node.op
    rank = node.output.type.rank
    if isinstance(op, Identity | Expand | Reshape | Cast):
        return True
    if isinstance(op, Slice):
        return all(s == 1 for s in op.steps) or all(d <= 1 for d in node.output.shape)
    if isinstance(op, Transpose):
        return op.perm == tuple(range(rank))
    if isinstance(op, Pad):
        return all(p == (0, 0) for p in op.pads)
    if isinstance(op, Tile):
        return all(r == 1 for r in op.repeats)
    if isinstance(op, Resize):
        return all(s == 1.0 for s in op.scales) and op.coordinate_mode != "tf_crop_and_resize"
    if isinstance(op, Concat | Split):
        return len(node.inputs) == 1
    if isinstance(op, ReduceSum | ReduceMean | ReduceMax | ReduceMin | ReduceProd):
        return all(node.output.shape[a] == 1 for a in op.axes)
    return False


def _merge_reshapes(graph: Graph, node: Node, report: Report) -> bool:
    """Reshape(Reshape(x)) is Reshape(x)."""
    if not isinstance(node.op, Reshape):
        return False
    before = node.input(0).producer
    if before is None or not isinstance(before.op, Reshape):
        return False
    node.set_input(0, before.inputs[0])
    if not before.output.users and not graph.is_output(before.output):
        graph.remove(before)
    report.changed(f"{node.name} reads {before.name}'s input")
    return True
