"""Option tables of operators, read by the accessors of the generated classes.

The classes have one method for each scalar field, and `<Field>AsNumpy` for each vector; so one function reads all
of them, and a handler asks for fields by the schema's names.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import flatbuffers
import numpy as np
import tflite

from mace_cl.importers.tflite.records import Options


@cache
def _fields(name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Scalar and vector fields of an option table."""
    own = [k for k, v in vars(getattr(tflite, name)).items() if callable(v) and k[0].isupper()]
    vectors = tuple(k.removesuffix("AsNumpy") for k in own if k.endswith("AsNumpy"))
    hidden = {v + suffix for v in vectors for suffix in ("", "Length", "IsNone", "AsNumpy")}
    return tuple(k for k in own if k not in hidden and k != "Init"), vectors


def read_options(name: str, table: Any) -> Options:
    """The table's fields; those that are absent have the schema's defaults.

    Args:
        name: The class of the table in the schema.
        table: A flatbuffers Table.
    """
    reader = getattr(tflite, name)()
    reader.Init(table.Bytes, table.Pos)
    scalars, vectors = _fields(name)
    values: dict[str, object] = {}
    for field in scalars:
        value = getattr(reader, field)()
        if isinstance(value, bool | int | float):
            values[field] = value
    for field in vectors:
        array = getattr(reader, field + "AsNumpy")()
        values[field] = array if isinstance(array, np.ndarray) else np.zeros(0, np.int32)
    return Options(name, values)


@cache
def default_options(name: str) -> Options:
    """The options of an operator that carries no table."""
    builder = flatbuffers.Builder(16)
    builder.StartObject(0)
    builder.Finish(builder.EndObject())
    data = bytes(builder.Output())
    root = flatbuffers.encode.Get(flatbuffers.packer.uoffset, data, 0)
    return read_options(name, flatbuffers.table.Table(data, root))
