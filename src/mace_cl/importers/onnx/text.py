"""Names that are no text: protobuf hands them over as bytes, which would surface far from where they were read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from google.protobuf.descriptor import FieldDescriptor

from mace_cl.errors import ImportModelError

_FREE = ("doc_string", "metadata_props")
"""Fields that are for people, and are not read here."""


def check_text(message: Any, where: str) -> None:
    """Refuse a protobuf message in which a text is not UTF-8.

    Raises:
        ImportModelError: Names the field.
    """
    stack = [message]
    while stack:
        for field, value in stack.pop().ListFields():
            if field.name in _FREE:
                continue
            if field.type == FieldDescriptor.TYPE_MESSAGE:
                stack.extend(_each(value))
            elif field.type == FieldDescriptor.TYPE_STRING and any(isinstance(t, bytes) for t in _each(value)):
                raise ImportModelError(f"the file is damaged: {field.full_name} is not UTF-8 text", where=where)


def _each(value: Any) -> Iterator[Any]:
    # Not by `field.label`, which newer protobuf deprecates and older ones alone have.
    repeated = not isinstance(value, str | bytes) and hasattr(value, "__len__")
    return iter(value) if repeated else iter((value,))
