"""A ModelProto to a Graph: node after node, through the registry of handlers.

A frame holds the tensors of one scope: the model's graph, a branch (which also sees the scope around it), or the body
of a function (which sees its operands and attributes only). Branches and functions are converted in place.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from onnx import NodeProto

from mace_cl.errors import ImportModelError, MaceError, ShapeError, UnsupportedError
from mace_cl.graph import Graph, Value
from mace_cl.importers.onnx.context import Context
from mace_cl.importers.onnx.coverage import Coverage
from mace_cl.importers.onnx.functions import Body, LocalFunctions, plain_domain, schema_function, schema_of
from mace_cl.importers.onnx.registry import find_handler
from mace_cl.importers.onnx.structure import describe, needed_nodes
from mace_cl.importers.onnx.tensors import MAX_ELEMENTS, read_sparse, read_tensor

MAX_DEPTH = 32
"""Functions within functions; more means that one calls itself."""

_SLIPS = (ValueError, LookupError, TypeError, ArithmeticError, MemoryError, struct.error)
"""What NumPy raises when a damaged model is folded: indices out of range, sizes that do not match."""


@dataclass(eq=False)
class Frame:
    """The tensors of one scope.

    Attributes:
        opsets: Domain to the version of its operator set.
        values: Tensors that are known by now; None for an absent operand of a function.
        tensors: Initialisers that nobody has read yet.
        sparse: Sparse initialisers, likewise.
        attributes: Of the call, where the scope is a function's.
        parent: The scope around a branch.
    """

    opsets: Mapping[str, int]
    values: dict[str, Value | None] = field(default_factory=dict)
    tensors: Mapping[str, Any] = field(default_factory=dict)
    sparse: Mapping[str, Any] = field(default_factory=dict)
    attributes: Mapping[str, Any] = field(default_factory=dict)
    parent: Frame | None = None

    @property
    def names(self) -> set[str]:
        """What this scope knows without any node."""
        return {*self.values, *self.tensors, *self.sparse}


class Importer:
    """One import: the graph that is being built, and what it is built from."""

    def __init__(self, graph: Graph, functions: Sequence[Any], folder: Path | None, where: str) -> None:
        self.graph = graph
        self._functions = LocalFunctions(functions)
        self._coverage = Coverage(self._functions, where)
        self._folder = folder
        self._where = where
        self._depth = 0
        self._named: dict[int, Value] = {}

    def run(self, frame: Frame, nodes: Sequence[Any], outputs: Sequence[str]) -> list[Value]:
        """Convert the nodes that `outputs` need, and return those.

        Raises:
            UnsupportedError: Nodes cannot be converted; lists all of them.
            ImportModelError: The nodes make no sense.
            ShapeError: Shapes do not fit.
        """
        needed = needed_nodes(nodes, frame.names, outputs, self._where)
        self._coverage.check(needed, frame.opsets)
        for node in needed:
            self._convert(node, frame)
        return [self._output(name, frame) for name in outputs]

    def name(self, value: Value) -> None:
        """Keep the name that a value has: it is the model's own."""
        self._named[id(value)] = value

    # -- tensors ----------------------------------------------------------------------------------------------

    def _output(self, name: str, frame: Frame) -> Value:
        value = self._read(name, frame, f"{self._where}, output {name!r}")
        if value is None:
            raise ImportModelError("is an input that is absent", where=f"{self._where}, output {name!r}")
        return value

    def _read(self, name: str, frame: Frame, where: str) -> Value | None:
        """A tensor by its name, from this scope or those around it."""
        scope: Frame | None = frame
        while scope is not None:
            if name in scope.values:
                return scope.values[name]
            if name in scope.tensors or name in scope.sparse:
                return self._initialiser(name, scope)
            scope = scope.parent
        raise ImportModelError(f"reads {name!r}, which nothing produces", where=where)

    def _initialiser(self, name: str, frame: Frame) -> Value:
        where = f"{self._where}, initialiser {name!r}"
        if name in frame.tensors:
            array = read_tensor(frame.tensors[name], self._folder, where)
        else:
            array = read_sparse(frame.sparse[name], self._folder, where)
        value = self.graph.constant(array, name)
        self.name(value)
        frame.values[name] = value
        return value

    # -- nodes ------------------------------------------------------------------------------------------------

    def _convert(self, node: Any, frame: Frame) -> None:
        """Add one node's operators; errors say which node."""
        where = f"{self._where}, {describe(node)}"
        try:
            inputs = [self._read(name, frame, where) if name else None for name in node.input]
            self._bind(node, frame, self._converted(node, frame, inputs, where))
        except MaceError as error:
            if not (error.where or "").startswith(self._where):
                error.where = where
            raise
        except _SLIPS as error:
            raise ImportModelError(f"cannot be computed ({error})", where=where) from error

    def _converted(self, node: Any, frame: Frame, inputs: Sequence[Value | None], where: str) -> Sequence[Value | None]:
        """The node's outputs: by a function of the model, by a handler, or by the schema's function."""
        attributes = _attributes(node, frame)
        local = self._functions.find(node)
        if local is not None:
            return self._call(local, frame, inputs, attributes, node.output)
        domain = plain_domain(node.domain)
        opset = frame.opsets[domain]

        def expand() -> Sequence[Value | None]:
            body = _schema_body(node, domain, opset, inputs, attributes)
            return self._call(body, frame, inputs, attributes, node.output)

        handler = find_handler(node.op_type, domain, opset)
        if handler is None:
            return expand()

        def subgraph(graph: Any) -> Sequence[Value]:
            inner = frame_of(graph, frame.opsets, frame.attributes, frame)
            return self.run(inner, graph.node, [o.name for o in graph.output])

        context = Context(node, opset, self.graph, inputs, attributes, where, self._folder, subgraph, expand)
        found = handler(context)
        return [found] if isinstance(found, Value) else found

    def _call(
        self,
        body: Body,
        frame: Frame,
        inputs: Sequence[Value | None],
        attributes: Mapping[str, Any],
        wanted: Sequence[str],
    ) -> Sequence[Value | None]:
        """The outputs of a function, whose body is converted here; None where `wanted` has no name for one."""
        proto = body.proto
        if len(inputs) > len(proto.input) or len(wanted) > len(proto.output):
            raise ImportModelError(
                f"function {proto.name!r} has {len(proto.input)} inputs and {len(proto.output)} outputs, "
                f"not {len(inputs)} and {len(wanted)}"
            )
        if self._depth >= MAX_DEPTH:
            raise ImportModelError(f"functions call each other more than {MAX_DEPTH} deep, or one calls itself")
        padded = [*inputs, *[None] * (len(proto.input) - len(inputs))]
        inner = Frame(
            {**frame.opsets, **body.opsets},
            dict(zip(proto.input, padded, strict=True)),
            attributes={**body.defaults, **attributes},
        )
        self._depth += 1
        try:
            found = iter(self.run(inner, proto.node, [o for o, w in zip(proto.output, wanted, strict=False) if w]))
            return [next(found) if w else None for w in wanted]
        finally:
            self._depth -= 1

    def _bind(self, node: Any, frame: Frame, results: Sequence[Value | None]) -> None:
        if len(node.output) > len(results):
            raise ImportModelError(f"has {len(node.output)} outputs instead of {len(results)}")
        for name, value in zip(node.output, results, strict=False):
            if value is None:
                continue
            if value.type.elements > MAX_ELEMENTS:
                raise ShapeError(f"gives a tensor of shape {list(value.shape)}, which is too large")
            if name:
                self._rename(value, name)
                frame.values[name] = value

    def _rename(self, value: Value, name: str) -> None:
        """Call a value as the model does; the first name stays."""
        if id(value) not in self._named:
            value.name = self.graph.unique_name(name)
            self.name(value)


def frame_of(graph: Any, opsets: Mapping[str, int], attributes: Mapping[str, Any], parent: Frame | None) -> Frame:
    """The scope of a GraphProto, with its initialisers."""
    tensors = {t.name: t for t in graph.initializer}
    sparse = {t.values.name: t for t in graph.sparse_initializer}
    return Frame(opsets, {}, tensors, sparse, attributes, parent)


def _attributes(node: Any, frame: Frame) -> dict[str, Any]:
    """The node's attributes; those that refer to the function's are replaced, or absent as those are."""
    found = {}
    for attribute in node.attribute:
        if not attribute.ref_attr_name:
            found[attribute.name] = attribute
        elif attribute.ref_attr_name in frame.attributes:
            found[attribute.name] = frame.attributes[attribute.ref_attr_name]
    return found


def _schema_body(
    node: Any, domain: str, opset: int, inputs: Sequence[Value | None], attributes: Mapping[str, Any]
) -> Body:
    """The function that defines the node's operator for operands of these types."""
    schema = schema_of(node.op_type, domain, opset)
    resolved = NodeProto()
    resolved.CopyFrom(node)
    del resolved.attribute[:]
    for name, attribute in attributes.items():
        copy = resolved.attribute.add()
        copy.CopyFrom(attribute)
        copy.name = name
    body = None if schema is None else schema_function(schema, opset, resolved, inputs)
    if body is None:
        raise UnsupportedError(f"{node.op_type} is not supported for operands of these types")
    return body
