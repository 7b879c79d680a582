"""Which nodes of a GraphDef belong to the network: names, edges, inputs, outputs, order."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from mace_cl.errors import FormatError, ImportModelError, UsageError

PLACEHOLDERS = frozenset({"Placeholder", "PlaceholderV2"})
_SIDE_EFFECTS = frozenset(
    {
        "NoOp",
        "Assert",
        "Print",
        "PrintV2",
        "SaveV2",
        "SaveSlices",
        "MergeV2Checkpoints",
        "RestoreV2",
        "Assign",
        "AssignVariableOp",
        "ScalarSummary",
        "HistogramSummary",
        "ImageSummary",
        "MergeSummary",
        "WriteSummary",
    }
)
"""Operators whose results nobody reads, and which are no output of a network."""


@dataclass(frozen=True, order=True)
class Port:
    """Output `index` of the node `name`."""

    name: str
    index: int = 0

    @classmethod
    def parse(cls, text: str) -> Port:
        """From `name` or `name:1`."""
        name, colon, index = text.rpartition(":")
        return cls(name, int(index)) if colon and index.isdecimal() else cls(text)

    def __str__(self) -> str:
        return f"{self.name}:{self.index}" if self.index else self.name


class Structure:
    """The nodes by name, and their data edges.

    Attributes:
        nodes: Name to NodeDef, in the file's order.
        where: The file, for messages.
    """

    def __init__(self, graph: Any, where: str) -> None:
        self.where = where
        self.nodes: dict[str, Any] = {}
        for node in graph.node:
            if node.name in self.nodes:
                raise FormatError(f"two nodes are named {node.name!r}", where=where)
            self.nodes[node.name] = node
        self._edges = {n.name: [Port.parse(i) for i in n.input if not i.startswith("^")] for n in graph.node}
        for name, ports in self._edges.items():
            for port in ports:
                if port.name not in self.nodes:
                    raise FormatError(f"node {name!r} reads {port.name!r}, which does not exist", where=where)

    def sources(self, name: str) -> list[Port]:
        """What a node reads, without its control edges."""
        return self._edges[name]

    def find(self, text: str, what: str) -> Port:
        """The tensor that a user names, with or without `:0`.

        Raises:
            UsageError: There is no such node; lists near names.
        """
        port = Port.parse(text)
        if port.name not in self.nodes:
            near = ", ".join(repr(n) for n in self._near(port.name))
            hint = f"near it: {near}" if near else f"the graph begins with {next(iter(self.nodes))!r}"
            raise UsageError(f"the graph has no {what} {text!r}", where=self.where, hint=hint)
        return port

    def _near(self, name: str) -> list[str]:
        tails = [n for n in self.nodes if n.rpartition("/")[2].lower() == name.rpartition("/")[2].lower()]
        lower = {n.lower(): n for n in self.nodes}
        close = [lower[n] for n in difflib.get_close_matches(name.lower(), lower, n=4, cutoff=0.6)]
        return list(dict.fromkeys(close + tails))[:5]

    def sinks(self) -> list[Port]:
        """Nodes whose results nobody reads and that depend on a placeholder."""
        readers: dict[str, list[str]] = {}
        for name, ports in self._edges.items():
            for port in ports:
                readers.setdefault(port.name, []).append(name)
        reached = {n.name for n in self.nodes.values() if n.op in PLACEHOLDERS}
        front = list(reached)
        while front:
            following = [r for r in readers.get(front.pop(), ()) if r not in reached]
            reached.update(following)
            front += following
        fed = [
            Port(n.name)
            for n in self.nodes.values()
            if n.name in reached and n.name not in readers and n.op not in _SIDE_EFFECTS | PLACEHOLDERS
        ]
        if not fed:
            raise ImportModelError(
                "found no output: no node depends on a placeholder and is read by nobody",
                where=self.where,
                hint="give --input-name and --output-name",
            )
        return fed

    def order(self, outputs: Iterable[Port], inputs: frozenset[Port]) -> list[str]:
        """The nodes that the outputs need, each behind those that it reads; the inputs end the search.

        Raises:
            ImportModelError: The graph has a cycle (a loop).
        """
        done: set[str] = set()
        result: list[str] = []
        for output in outputs:
            if output not in inputs:
                self._visit(output.name, inputs, done, result)
        return result

    def _visit(self, root: str, inputs: frozenset[Port], done: set[str], result: list[str]) -> None:
        if root in done:
            return
        stack = [(root, self._pending(root, inputs))]
        path = {root}
        while stack:
            name, pending = stack[-1]
            following = next((p for p in pending if p not in done), None)
            if following is None:
                stack.pop()
                path.discard(name)
                done.add(name)
                result.append(name)
                continue
            if following in path:
                raise ImportModelError(f"node {following!r} is part of a loop", where=self.where)
            path.add(following)
            stack.append((following, self._pending(following, inputs)))

    def _pending(self, name: str, inputs: frozenset[Port]) -> Iterator[str]:
        return iter([p.name for p in self._edges[name] if p not in inputs])
