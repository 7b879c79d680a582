"""The messages agree with those that TensorFlow's own tools carry."""

from __future__ import annotations

from typing import Any

import pytest

from mace_cl.importers.tensorflow import schema


def _describe(descriptor: Any, seen: set[str]) -> dict[str, Any]:
    """Field name to number, type and label, through all messages."""
    fields: dict[str, Any] = {}
    for field in descriptor.fields:
        inner = field.message_type
        key = inner.full_name if inner is not None else ""
        nested = _describe(inner, seen | {key}) if inner is not None and key not in seen else None
        choice = field.containing_oneof.name if field.containing_oneof else None
        fields[field.name] = (field.number, field.type, field.is_repeated, choice, nested)
    return fields


def _compare(ours: dict[str, Any], theirs: dict[str, Any], path: str) -> None:
    for name, (*facts, nested) in ours.items():
        assert name in theirs, f"{path}.{name}"
        *expected, inner = theirs[name]
        assert facts == expected, f"{path}.{name}"
        if nested is not None and inner is not None:
            _compare(nested, inner, f"{path}.{name}")


def test_fields_are_tensorflows() -> None:
    graph_pb2 = pytest.importorskip("tensorboard.compat.proto.graph_pb2")
    theirs = graph_pb2.GraphDef.DESCRIPTOR
    _compare(_describe(schema.GraphDef.DESCRIPTOR, set()), _describe(theirs, set()), "GraphDef")


def test_element_types_are_tensorflows() -> None:
    types_pb2 = pytest.importorskip("tensorboard.compat.proto.types_pb2")
    ours = schema.TensorProto.DESCRIPTOR.fields_by_name["dtype"].enum_type
    for value in ours.values:
        assert types_pb2.DataType.Value(value.name) == value.number
