"""Data of constant tensors as arrays."""

from __future__ import annotations

import math

import numpy as np

from mace_cl.errors import ImportModelError, UnsupportedError
from mace_cl.importers.tflite.records import ModelRecord, Quantization, TensorRecord
from mace_cl.importers.tflite.schema import PACKED_BITS
from mace_cl.importers.tflite.sparsity import densify

MAX_GROWTH = 1024
"""How many times the file a sparse tensor may grow to: no real model comes near, a damaged shape does."""


def read_constant(model: ModelRecord, tensor: TensorRecord) -> np.ndarray:
    """The tensor's data, dense, in the element type of the graph; still quantised where it is.

    Raises:
        ImportModelError: The data does not fit the shape.
        UnsupportedError: The element type has no counterpart.
    """
    where = f"tensor {tensor.name!r}"
    if tensor.dtype is None:
        raise UnsupportedError(f"{tensor.type} tensors are not supported", where=where)
    if any(d < 0 for d in tensor.shape):
        raise ImportModelError(f"negative dimension in the shape {list(tensor.shape)} of a constant", where=where)
    data = model.buffers[tensor.buffer]
    elements = math.prod(tensor.shape)
    if tensor.sparsity is None:
        return _decode(data, tensor, elements, where).reshape(tensor.shape)
    if elements * tensor.dtype.itemsize > MAX_GROWTH * model.size_bytes:
        raise ImportModelError(f"sparse shape {list(tensor.shape)} is far larger than the file", where=where)
    stored = len(data) * 8 // _bits(tensor)
    try:
        return densify(_decode(data, tensor, stored, where), tensor.sparsity, tensor.shape)
    except ImportModelError as error:
        error.where = where
        raise


def dequantize(array: np.ndarray, quantization: Quantization) -> np.ndarray:
    """Stored integers to float32."""
    scale, zero_point = quantization.scale, quantization.zero_point
    if scale.size > 1:
        axis = quantization.axis
        if not 0 <= axis < array.ndim or array.shape[axis] != scale.size:
            raise ImportModelError(
                f"{scale.size} quantisation scales do not fit dimension {axis} of shape {list(array.shape)}"
            )
        along = tuple(-1 if i == axis else 1 for i in range(array.ndim))
        scale, zero_point = scale.reshape(along), zero_point.reshape(along)
    else:
        scale, zero_point = scale[0], zero_point[0]
    return np.asarray((array.astype(np.int64) - zero_point).astype(np.float32) * scale, np.float32)


def _bits(tensor: TensorRecord) -> int:
    """Bits of one stored element."""
    assert tensor.dtype is not None
    stored = 16 if tensor.type == "BFLOAT16" else 8 * tensor.dtype.itemsize
    return PACKED_BITS.get(tensor.type, stored)


def _decode(data: memoryview, tensor: TensorRecord, elements: int, where: str) -> np.ndarray:
    """`elements` stored elements as a flat array."""
    assert tensor.dtype is not None
    bits = _bits(tensor)
    wanted = -(-elements * bits // 8)
    if len(data) != wanted:
        raise ImportModelError(
            f"holds {len(data)} bytes, but {elements} elements of {tensor.type} take {wanted}", where=where
        )
    if tensor.type in PACKED_BITS:
        return _unpack(np.frombuffer(data, np.uint8), bits, tensor.type)[:elements]
    if tensor.type == "BFLOAT16":
        return (np.frombuffer(data, "<u2").astype(np.uint32) << 16).view(np.float32)
    if tensor.type == "BOOL":
        return np.frombuffer(data, np.uint8).astype(np.bool_)
    array = np.frombuffer(data, tensor.dtype.numpy.newbyteorder("<"))
    return np.require(array.astype(tensor.dtype.numpy, copy=False), requirements="A")


def _unpack(packed: np.ndarray, bits: int, kind: str) -> np.ndarray:
    """Elements that share bytes, the first in the lowest bits, to one a byte."""
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    values = ((packed[:, None] >> shifts) & ((1 << bits) - 1)).reshape(-1)
    if kind.startswith("U"):
        return values.astype(np.uint8)
    signed = values.astype(np.int8)
    return np.where(signed >= 1 << (bits - 1), signed - (1 << bits), signed).astype(np.int8)
