"""Which operators of a model cannot be converted: all of them are found before anything is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from mace_cl.errors import UnsupportedError
from mace_cl.importers.onnx.functions import (
    LocalFunctions,
    depends_on_types,
    plain_domain,
    schema_function,
    schema_of,
)
from mace_cl.importers.onnx.registry import find_handler
from mace_cl.importers.onnx.structure import describe

_SHOWN_NODES = 5


class Coverage:
    """Looks through nodes and the functions that they call."""

    def __init__(self, functions: LocalFunctions, where: str) -> None:
        self._functions = functions
        self._where = where

    def check(self, nodes: Iterable[Any], opsets: Mapping[str, int]) -> None:
        """Refuse nodes that cannot be converted.

        Raises:
            UnsupportedError: Lists every such operator with its domain, operator set, nodes and number.
        """
        missing: dict[tuple[str, str, int | None], list[str]] = {}
        for node in nodes:
            for key in self._missing(node, opsets, ()):
                missing.setdefault(key, []).append(describe(node).split(" (")[0].removeprefix("node "))
        if missing:
            items = [_item(*key, names) for key, names in sorted(missing.items(), key=lambda i: i[0][:2])]
            raise UnsupportedError("the model holds operators that are not supported", where=self._where, items=items)

    def _missing(
        self, node: Any, opsets: Mapping[str, int], path: tuple[str, ...]
    ) -> Iterable[tuple[str, str, int | None]]:
        """(operator, domain, operator set) of what the node needs and nobody converts."""
        domain = plain_domain(node.domain)
        opset = opsets.get(domain)
        local = self._functions.find(node)
        if local is not None:
            if node.op_type in path:
                # It calls itself; converting it says so.
                return
            for inner in local.proto.node:
                yield from self._missing(inner, {**opsets, **local.opsets}, (*path, node.op_type))
            return
        if opset is not None and find_handler(node.op_type, domain, opset) is not None:
            return
        schema = None if opset is None else schema_of(node.op_type, domain, opset)
        if schema is not None and opset is not None:
            if depends_on_types(schema):
                return
            body = schema_function(schema, opset, node, None)
            if body is not None:
                for inner in body.proto.node:
                    yield from self._missing(inner, {**opsets, **body.opsets}, (*path, node.op_type))
                return
        yield node.op_type, domain, opset


def _item(name: str, domain: str, opset: int | None, nodes: list[str]) -> str:
    version = "which the model does not import" if opset is None else f"operator set {opset}"
    shown = ", ".join(nodes[:_SHOWN_NODES]) + (" ..." if len(nodes) > _SHOWN_NODES else "")
    return f"{name} (domain {domain or 'ai.onnx'}, {version}), {len(nodes)}x: {shown}"
