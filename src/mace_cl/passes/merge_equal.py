"""Nodes with equal operators and equal inputs become one (common subexpressions)."""

from __future__ import annotations

from dataclasses import dataclass

from mace_cl.graph import Graph, Node
from mace_cl.graph.ops.base import Operator
from mace_cl.passes.base import Pass, Report


@dataclass(frozen=True)
class MergeEqual(Pass):
    """Compute nothing twice."""

    name = "merge-equal"

    def run(self, graph: Graph, report: Report) -> None:
        """One walk in topological order finds chains as well."""
        seen: dict[tuple[Operator, tuple[int, ...]], Node] = {}
        for node in list(graph.nodes):
            key = (node.op, tuple(0 if v is None else id(v) for v in node.inputs))
            first = seen.setdefault(key, node)
            if first is node:
                continue
            for old, new in zip(node.outputs, first.outputs, strict=True):
                graph.replace(old, new)
            graph.remove(node)
            report.changed(f"{node.name} is {first.name}")
