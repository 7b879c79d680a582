"""The order in which nodes are converted: those that the outputs need, producers first."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from onnx import AttributeProto

from mace_cl.errors import ImportModelError


def describe(node: Any) -> str:
    """A node, for messages; by its first output where it has no name."""
    name = node.name or next((n for n in node.output if n), "")
    return f"node {name!r} ({node.op_type})"


def subgraphs(node: Any) -> Iterator[Any]:
    """The GraphProtos among a node's attributes."""
    for attribute in node.attribute:
        if attribute.type == AttributeProto.GRAPH:
            yield attribute.g
        elif attribute.type == AttributeProto.GRAPHS:
            yield from attribute.graphs


def names_read(node: Any) -> set[str]:
    """Every tensor that a node reads, in its subgraphs too."""
    found = {n for n in node.input if n}
    for graph in subgraphs(node):
        found |= _captured(graph)
    return found


def _captured(graph: Any) -> set[str]:
    """Names that a subgraph reads from the scopes around it."""
    own = {i.name for i in graph.input} | {t.name for t in graph.initializer}
    own |= {t.values.name for t in graph.sparse_initializer}
    own |= {name for node in graph.node for name in node.output}
    read = {o.name for o in graph.output}.union(*(names_read(node) for node in graph.node))
    return read - own


def needed_nodes(nodes: Sequence[Any], known: Collection[str], outputs: Sequence[str], where: str) -> list[Any]:
    """The nodes that `outputs` need, each behind the producers of what it reads.

    Args:
        nodes: NodeProtos, in any order.
        known: Tensors that are known without any node.
        outputs: Tensors that are wanted.
        where: The file, for messages.

    Raises:
        ImportModelError: Two nodes produce the same tensor, or nodes need each other in a circle.
    """
    producers = _producers(nodes, known, where)
    order = _depth_first(nodes, producers, outputs, where)
    kept = sorted(order)
    # The file's own order reads better in every message, and is nearly always right.
    return [nodes[i] for i in (kept if _is_ordered(nodes, kept, producers) else order)]


def _producers(nodes: Sequence[Any], known: Collection[str], where: str) -> dict[str, int]:
    """Tensor to the number of the node that produces it."""
    producers: dict[str, int] = {}
    for index, node in enumerate(nodes):
        for name in node.output:
            if name and (name in producers or name in known):
                raise ImportModelError(f"two things produce {name!r}", where=f"{where}, {describe(node)}")
            if name:
                producers[name] = index
    return producers


def _depth_first(nodes: Sequence[Any], producers: dict[str, int], outputs: Sequence[str], where: str) -> list[int]:
    order: list[int] = []
    done: set[int] = set()
    for root in (producers[n] for n in outputs if n in producers):
        stack = [root]
        path: set[int] = set()
        while stack:
            index = stack[-1]
            if index in done:
                stack.pop()
                continue
            path.add(index)
            wanted = {producers[n] for n in names_read(nodes[index]) if n in producers} - done
            if not wanted:
                stack.pop()
                path.discard(index)
                done.add(index)
                order.append(index)
                continue
            if wanted & path:
                raise ImportModelError("nodes need each other in a circle", where=f"{where}, {describe(nodes[index])}")
            stack.extend(sorted(wanted, reverse=True))
    return order


def _is_ordered(nodes: Sequence[Any], order: Sequence[int], producers: dict[str, int]) -> bool:
    return all(producers[n] < i for i in order for n in names_read(nodes[i]) if n in producers)
