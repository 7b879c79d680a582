"""Nodes that no output needs are removed."""

from __future__ import annotations

from dataclasses import dataclass

from mace_cl.graph import Graph
from mace_cl.passes.base import Pass, Report


@dataclass(frozen=True)
class RemoveDead(Pass):
    """Drop dead code."""

    name = "remove-dead"

    def run(self, graph: Graph, report: Report) -> None:
        """Keep what the outputs reach."""
        removed = graph.prune()
        if removed:
            report.changed(f"{removed} dead nodes")
