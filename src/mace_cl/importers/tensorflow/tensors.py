"""TensorProto, shapes and type numbers to NumPy and to our types."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mace_cl.errors import FormatError, UnsupportedError
from mace_cl.types import DataType

_TYPES = {
    1: DataType.FLOAT32,
    2: DataType.FLOAT64,
    3: DataType.INT32,
    4: DataType.UINT8,
    5: DataType.INT16,
    6: DataType.INT8,
    9: DataType.INT64,
    10: DataType.BOOL,
    17: DataType.UINT16,
    19: DataType.FLOAT16,
    22: DataType.UINT32,
    23: DataType.UINT64,
}
_OTHER_TYPES = {
    7: "string",
    8: "complex64",
    11: "qint8",
    12: "quint8",
    13: "qint32",
    14: "bfloat16",
    15: "qint16",
    16: "quint16",
    18: "complex128",
    20: "resource",
    21: "variant",
}
TYPE_NUMBERS = {v: k for k, v in _TYPES.items()}
"""TensorFlow's number of each of our types."""

_VALUE_FIELDS = {
    DataType.FLOAT32: "float_val",
    DataType.FLOAT64: "double_val",
    DataType.INT64: "int64_val",
    DataType.BOOL: "bool_val",
    DataType.FLOAT16: "half_val",
    DataType.UINT32: "uint32_val",
    DataType.UINT64: "uint64_val",
}
"""Where values stand that are not in tensor_content; the smaller integers are in int_val."""

_MAX_BYTES = 2**31
"""protobuf's own limit; a larger tensor can only be one number repeated, which no real model has."""


def data_type(number: int, where: str) -> DataType:
    """Our type for TensorFlow's number.

    Raises:
        UnsupportedError: There is none.
    """
    if number in _TYPES:
        return _TYPES[number]
    raise UnsupportedError(f"element type {_OTHER_TYPES.get(number, number)} is not built", where=where)


def open_shape(shape: Any) -> tuple[int | None, ...] | None:
    """A shape's sizes, None for an unknown one; None where the rank is unknown."""
    if shape.unknown_rank:
        return None
    return tuple(d.size if d.size >= 0 else None for d in shape.dim)


def read_tensor(tensor: Any, where: str) -> np.ndarray:
    """The array of a TensorProto; large ones are views of the file's bytes.

    Raises:
        FormatError: Shape and data do not fit together.
        UnsupportedError: The element type has no counterpart.
    """
    dtype = data_type(tensor.dtype, where)
    shape = open_shape(tensor.tensor_shape)
    if shape is None or None in shape:
        raise FormatError("a constant has an unknown dimension", where=where)
    sizes = [d for d in shape if d is not None]
    wanted = math.prod(sizes) * dtype.itemsize
    if wanted > _MAX_BYTES:
        raise FormatError(f"a constant of {wanted} bytes is more than protobuf can hold", where=where)
    if tensor.tensor_content:
        if len(tensor.tensor_content) != wanted:
            raise FormatError(
                f"a constant of shape {sizes} needs {wanted} bytes, has {len(tensor.tensor_content)}", where=where
            )
        little = np.frombuffer(tensor.tensor_content, dtype.numpy.newbyteorder("<"))
        return little.astype(dtype.numpy, copy=False).reshape(sizes)
    return _listed(tensor, dtype, sizes, where)


def _listed(tensor: Any, dtype: DataType, sizes: list[int], where: str) -> np.ndarray:
    """Values listed one by one; the last stands for all that follow, and none at all for zeros."""
    values = getattr(tensor, _VALUE_FIELDS.get(dtype, "int_val"))
    count = math.prod(sizes)
    if len(values) > count:
        raise FormatError(f"a constant of shape {sizes} has {len(values)} values", where=where)
    out = np.zeros(count, dtype.numpy)
    if len(values):
        if dtype is DataType.FLOAT16:
            given = np.array(values, np.int64).astype(np.uint16).view(np.float16)
        else:
            given = np.array(values).astype(dtype.numpy)
        out[: len(given)] = given
        out[len(given) :] = given[-1]
    return out.reshape(sizes)
