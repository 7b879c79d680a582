"""What a pass is: a graph is changed in place; every refusal to do so has a reason.

A pass is a frozen dataclass whose fields are its options. Its name is that of its module, with dashes. The graph is
legal before and after each pass (`graph/check.py`), not necessarily during one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

from mace_cl.graph import Graph, Node


@dataclass
class Report:
    """What a pass did to a graph.

    Attributes:
        changes: One line for each change.
        refusals: (node, reason) for each place where the pass looked and did not act.
    """

    changes: list[str] = field(default_factory=list)
    refusals: list[tuple[str, str]] = field(default_factory=list)

    def changed(self, text: str) -> None:
        """Note a change."""
        self.changes.append(text)

    def refused(self, node: Node, reason: str) -> None:
        """Note why a node stays as it is."""
        self.refusals.append((node.name, reason))


class Pass(ABC):
    """A step from graph to graph."""

    name: ClassVar[str]

    @abstractmethod
    def run(self, graph: Graph, report: Report) -> None:
        """Change the graph in place."""


def sweep(graph: Graph, visit: Callable[[Node], bool]) -> None:
    """Call `visit` on each node that is still in the graph, until a whole round changes nothing.

    `visit` returns whether it changed the graph around the node.
    """
    again = True
    while again:
        again = False
        alive = set(graph.nodes)
        for node in list(graph.nodes):
            if node in alive and visit(node):
                again = True
                alive.intersection_update(graph.nodes)
