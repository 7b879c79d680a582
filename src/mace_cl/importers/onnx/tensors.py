"""TensorProto to NumPy arrays, with data in the model or in files beside it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from onnx import TensorProto, numpy_helper

from mace_cl.errors import ImportModelError, ShapeError, UnsupportedError
from mace_cl.types import DataType

MAX_ELEMENTS = 2**40
"""Elements of one tensor; more is a damaged shape, or nothing that a device could hold."""
MAX_DENSE = 2**30
"""Elements of a sparse tensor, which is made dense."""

_TYPES: dict[int, DataType] = {
    TensorProto.FLOAT: DataType.FLOAT32,
    TensorProto.UINT8: DataType.UINT8,
    TensorProto.INT8: DataType.INT8,
    TensorProto.UINT16: DataType.UINT16,
    TensorProto.INT16: DataType.INT16,
    TensorProto.INT32: DataType.INT32,
    TensorProto.INT64: DataType.INT64,
    TensorProto.BOOL: DataType.BOOL,
    TensorProto.FLOAT16: DataType.FLOAT16,
    TensorProto.DOUBLE: DataType.FLOAT64,
    TensorProto.UINT32: DataType.UINT32,
    TensorProto.UINT64: DataType.UINT64,
}
_NUMBERS = {t: n for n, t in _TYPES.items()}


def data_type(number: int, where: str | None = None) -> DataType:
    """The element type for a number of TensorProto.DataType.

    Raises:
        UnsupportedError: The type is one that is not built (bfloat16, string, float8, int4 ...).
        ImportModelError: There is no such type.
    """
    if number in _TYPES:
        return _TYPES[number]
    if number not in TensorProto.DataType.values() or number == TensorProto.UNDEFINED:
        raise ImportModelError(f"element type {number} does not exist", where=where)
    raise UnsupportedError(f"tensors of {TensorProto.DataType.Name(number).lower()} are not supported", where=where)


def type_number(dtype: DataType) -> int:
    """The number of an element type in TensorProto.DataType."""
    return _NUMBERS[dtype]


def read_tensor(tensor: Any, folder: Path | None, where: str) -> np.ndarray:
    """The array of a TensorProto.

    Args:
        tensor: The TensorProto.
        folder: The model's folder, where external data lies; None where there is none.
        where: What the tensor is, for messages.

    Raises:
        ImportModelError: The data do not fit the shape, or external data are missing or elsewhere.
        UnsupportedError: The element type is not built.
        ShapeError: The shape is absurd.
    """
    dtype = data_type(tensor.data_type, where)
    shape = tuple(tensor.dims)
    elements = math.prod(shape)
    if any(d < 0 for d in shape) or elements > MAX_ELEMENTS:
        raise ShapeError(f"shape {list(shape)} is negative or too large", where=where)
    if tensor.data_location == TensorProto.EXTERNAL:
        return _external(tensor, folder, where, elements * dtype.itemsize, dtype).reshape(shape)
    if tensor.HasField("raw_data") and len(tensor.raw_data) != elements * dtype.itemsize:
        raise ImportModelError(
            f"{dtype.value}{list(shape)} wants {elements * dtype.itemsize} bytes, the file has {len(tensor.raw_data)}",
            where=where,
        )
    try:
        array = np.asarray(numpy_helper.to_array(tensor))
    except (ValueError, TypeError, OverflowError) as error:
        raise ImportModelError(f"the data do not fit {dtype.value}{list(shape)} ({error})", where=where) from error
    return array.astype(dtype.numpy, copy=False).reshape(shape)


def _external(tensor: Any, folder: Path | None, where: str, n_bytes: int, dtype: DataType) -> np.ndarray:
    """The data of a tensor that lies in a file of its own, as a vector."""
    entries = {e.key: e.value for e in tensor.external_data}
    path = _external_path(entries.get("location", ""), folder, where)
    try:
        offset = int(entries.get("offset") or 0)
        length = int(entries.get("length") or n_bytes)
    except ValueError as error:
        raise ImportModelError(f"offset or length of its external data is no number ({error})", where=where) from error
    if offset < 0 or length != n_bytes:
        raise ImportModelError(f"external data of {length} bytes at {offset} instead of {n_bytes} bytes", where=where)
    try:
        with path.open("rb") as file:
            if offset + n_bytes > path.stat().st_size:
                raise ImportModelError(f"{path} ends before byte {offset + n_bytes} of its external data", where=where)
            file.seek(offset)
            data = file.read(n_bytes)
    except FileNotFoundError as error:
        raise ImportModelError(
            f"the file {path} with its external data is missing", where=where, hint="put it beside the model"
        ) from error
    except OSError as error:
        raise ImportModelError(f"{path} cannot be read: {error.strerror}", where=where) from error
    return np.frombuffer(data, dtype.numpy.newbyteorder("<")).astype(dtype.numpy, copy=False)


def _external_path(location: str, folder: Path | None, where: str) -> Path:
    """The file's path, which must lie in the model's folder: a model must not read what it likes."""
    if folder is None:
        raise ImportModelError(f"its data are in another file ({location!r}), but the model has no folder", where=where)
    if not location or "\0" in location:
        raise ImportModelError(f"the location {location!r} of its external data is no path", where=where)
    root = folder.resolve()
    path = (root / location).resolve()
    if not path.is_relative_to(root):
        raise ImportModelError(f"its external data {location!r} are outside of the model's folder", where=where)
    return path


def read_sparse(sparse: Any, folder: Path | None, where: str) -> np.ndarray:
    """The dense array of a SparseTensorProto; raises as `read_tensor`."""
    shape = tuple(sparse.dims)
    elements = math.prod(shape)
    if any(d < 0 for d in shape) or elements > MAX_DENSE:
        raise ShapeError(f"shape {list(shape)} is negative or too large", where=where)
    values = read_tensor(sparse.values, folder, where).reshape(-1)
    indices = read_tensor(sparse.indices, folder, where).astype(np.int64)
    places = indices if indices.ndim == 1 else indices @ np.array(_strides(shape), np.int64)
    if places.shape != values.shape or (places.size and not 0 <= places.min() <= places.max() < elements):
        raise ImportModelError("the indices of its sparse data do not fit", where=where)
    dense = np.zeros(elements, values.dtype)
    dense[places] = values
    return dense.reshape(shape)


def _strides(shape: tuple[int, ...]) -> list[int]:
    return [math.prod(shape[i + 1 :]) for i in range(len(shape))]
