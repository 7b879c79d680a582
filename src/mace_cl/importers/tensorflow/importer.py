"""A GraphDef to a Graph: node after node, through the registry of handlers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mace_cl.errors import ImportModelError, MaceError, UnsupportedError
from mace_cl.graph.core import Graph, Value
from mace_cl.importers.options import ImportOptions
from mace_cl.importers.tensorflow.boundary import Boundary
from mace_cl.importers.tensorflow.reader import check_frozen, read_graph_def
from mace_cl.importers.tensorflow.registry import HANDLERS, NodeView
from mace_cl.importers.tensorflow.structure import Port, Structure

_CONTROL_FLOW = ("Switch", "RefSwitch", "Merge", "RefMerge")
"""Imported here and not by a handler: with a known condition they choose what is imported at all."""


def import_graph_def(graph_def: Any, name: str, options: ImportOptions, where: str) -> Graph:
    """Import the part of a GraphDef between its inputs and its outputs.

    Args:
        graph_def: The GraphDef.
        name: The graph's name.
        options: The user's choices.
        where: The file, for messages.
    """
    structure = Structure(graph_def, where)
    boundary = Boundary(structure, options)
    needed = [structure.nodes[n] for n in boundary.order]
    check_frozen(needed, frozenset(f.signature.name for f in graph_def.library.function), where)
    _refuse_unknown(needed, where)
    return _Importer(structure, boundary, name).run()


def import_file(path: Path, options: ImportOptions) -> Graph:
    """Import a frozen GraphDef.

    Raises:
        MaceError: The file is damaged, not frozen, or holds what is not built; or a name is wrong.
    """
    return import_graph_def(read_graph_def(path), path.stem, options, str(path))


def _refuse_unknown(nodes: Sequence[Any], where: str) -> None:
    unknown = [n for n in nodes if n.op not in HANDLERS and n.op not in _CONTROL_FLOW]
    if not unknown:
        return
    counts = Counter(n.op for n in unknown)
    first = {n.op: n.name for n in reversed(unknown)}
    items = [f"{op} ({count}x, first at {first[op]!r})" for op, count in sorted(counts.items())]
    raise UnsupportedError("operators that are not built", where=where, items=items)


class _Importer:
    """One import: what each node has become."""

    def __init__(self, structure: Structure, boundary: Boundary, name: str) -> None:
        self._structure = structure
        self._boundary = boundary
        self._graph = Graph(name)
        self._values: dict[Port, Value] = {}
        self._views: dict[str, NodeView] = {}
        self._skipped: set[Port] = set()
        """Results of a branch that a known condition has switched off."""

    def run(self) -> Graph:
        """Import everything."""
        for port, type_ in self._boundary.inputs.items():
            self._values[port] = self._graph.add_input(str(port), type_)
        for port in self._boundary.fixed:
            self._values[port] = self._graph.constant(self._boundary.fixed_value(port), str(port))
        for name in self._boundary.order:
            if Port(name) not in self._values:
                self._import(name)
        for port in self._boundary.outputs:
            self._graph.add_output(str(port), self._read(port))
        self._graph.prune()
        return self._graph

    def _read(self, port: Port) -> Value:
        if port in self._skipped:
            raise UnsupportedError(f"{str(port)!r} is in a branch that is switched off", where=self._structure.where)
        if port not in self._values:
            raise ImportModelError(f"node {port.name!r} has no output {port.index}", where=self._structure.where)
        return self._values[port]

    def _import(self, name: str) -> None:
        node, sources = self._structure.nodes[name], self._structure.sources(name)
        alive = [p for p in sources if p not in self._skipped]
        if node.op in ("Merge", "RefMerge"):
            self._merge(node, alive)
            return
        if len(alive) < len(sources):
            self._skipped |= {Port(name), Port(name, 1)}
            return
        inputs = [self._read(p) for p in sources]
        view = NodeView(node, self._graph, inputs, [self._views.get(p.name) for p in sources])
        self._views[name] = view
        if node.op in ("Switch", "RefSwitch"):
            self._switch(view)
            return
        for i, value in enumerate(_handled(view)):
            self._values[Port(name, i)] = value

    def _switch(self, view: NodeView) -> None:
        """Output 1 where the condition holds, else output 0; the other branch is not imported."""
        taken = int(bool(view.known(1, "the condition").reshape(-1)[0]))
        self._values[Port(view.node.name, taken)] = view.input(0)
        self._skipped.add(Port(view.node.name, 1 - taken))

    def _merge(self, node: Any, alive: Sequence[Port]) -> None:
        if len(alive) != 1:
            raise UnsupportedError(
                f"{len(alive)} of its branches may be taken", where=f"node {node.name!r} ({node.op})"
            )
        self._values[Port(node.name)] = self._read(alive[0])


def _handled(view: NodeView) -> Sequence[Value]:
    """What the node's handler makes of it; whatever goes wrong names the node."""
    try:
        result = HANDLERS[view.node.op](view)
    except MaceError as error:
        if repr(view.node.name) not in (error.where or ""):
            error.where = view.where
        raise
    except (ValueError, IndexError, OverflowError) as error:
        # Lists of the wrong length and numbers out of range in a damaged file, wherever they come to be used.
        raise ImportModelError(f"its attributes or inputs make no sense ({error})", where=view.where) from error
    return [result] if isinstance(result, Value) else result
