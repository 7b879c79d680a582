"""Checks that a graph keeps its own rules. Passes are checked with it, in tests and debug runs."""

from __future__ import annotations

from collections import Counter

from mace_cl.errors import MaceError, VerifyError
from mace_cl.graph.core import Graph, Node, Value
from mace_cl.types import type_of


def check(graph: Graph) -> None:
    """Check order, uses, names and types of everything in the graph.

    Raises:
        VerifyError: Says the first rule that is broken, and where.
    """
    _check_order(graph)
    _check_uses(graph)
    for node in graph.nodes:
        _check_types(node)
    for value in graph.values():
        if value.data is not None and type_of(value.data) != value.type:
            raise VerifyError(f"is {value.type}, its data is {type_of(value.data)}", where=f"constant {value.name!r}")


def _check_order(graph: Graph) -> None:
    """Every value is an input, a constant, or made by an earlier node; names are unique."""
    made = {id(v) for v in graph.inputs.values()}
    names = Counter(n.name for n in graph.nodes)
    twice = [n for n, count in names.items() if count > 1]
    if twice:
        raise VerifyError(f"two nodes are named {twice[0]!r}", where=graph.name)
    for node in graph.nodes:
        for value in node.inputs:
            if value is not None and value.data is None and id(value) not in made:
                raise VerifyError(f"reads {value.name!r} before it is made, or it never is", where=_at(node))
        for value in node.outputs:
            if value.producer is not node:
                raise VerifyError(f"output {value.name!r} has another producer", where=_at(node))
            if id(value) in made:
                raise VerifyError(f"output {value.name!r} is made twice", where=_at(node))
            made.add(id(value))
    for name, value in graph.outputs.items():
        if value.data is None and id(value) not in made:
            raise VerifyError(f"output {name!r} is made by no node", where=graph.name)


def _check_uses(graph: Graph) -> None:
    """A value's list of users holds exactly the nodes that read it."""
    readers: dict[int, list[int]] = {}
    for node in graph.nodes:
        for value in node.inputs:
            if value is not None:
                readers.setdefault(id(value), []).append(id(node))
    for value in graph.values():
        if sorted(readers.get(id(value), [])) != sorted(id(n) for n in value.users):
            raise VerifyError("its list of users is wrong", where=f"value {value.name!r}")


def _check_types(node: Node) -> None:
    """The outputs have the types that the operator infers."""
    try:
        types = node.op.infer([None if v is None else v.type for v in node.inputs])
    except MaceError as error:
        raise VerifyError(f"does not infer: {error}", where=_at(node)) from error
    have = [v.type for v in node.outputs]
    if list(types) != have:
        raise VerifyError(f"outputs are {_list(node.outputs)}, inferred {', '.join(map(str, types))}", where=_at(node))


def _at(node: Node) -> str:
    return f"node {node.name!r} ({node.op.name})"


def _list(values: list[Value]) -> str:
    return ", ".join(str(v.type) for v in values)
