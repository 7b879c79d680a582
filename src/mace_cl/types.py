"""Data types, shapes and tensor types: values without behaviour of their own."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

import numpy as np

Shape: TypeAlias = tuple[int, ...]


class DataType(Enum):
    """An element type; the value is the name in files and messages."""

    FLOAT16 = "float16"
    FLOAT32 = "float32"
    FLOAT64 = "float64"
    INT8 = "int8"
    INT16 = "int16"
    INT32 = "int32"
    INT64 = "int64"
    UINT8 = "uint8"
    UINT16 = "uint16"
    UINT32 = "uint32"
    UINT64 = "uint64"
    BOOL = "bool"

    @property
    def numpy(self) -> np.dtype[np.generic]:
        """The NumPy type of one element."""
        return np.dtype(self.value)

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self.numpy.itemsize

    @property
    def opencl(self) -> str:
        """The OpenCL C type that holds one element in memory (bool is stored as uchar)."""
        return _OPENCL[self]

    @property
    def is_float(self) -> bool:
        """Whether the type is a floating-point one."""
        return self.numpy.kind == "f"

    @property
    def is_integer(self) -> bool:
        """Whether the type is a signed or unsigned integer (bool is not)."""
        return self.numpy.kind in "iu"

    @classmethod
    def of(cls, array: np.ndarray | np.dtype[np.generic]) -> DataType:
        """The type of an array or of a NumPy dtype.

        Raises:
            ValueError: NumPy's type has no counterpart here.
        """
        dtype = array if isinstance(array, np.dtype) else array.dtype
        return cls(dtype.name)


_OPENCL = {
    DataType.FLOAT16: "half",
    DataType.FLOAT32: "float",
    DataType.FLOAT64: "double",
    DataType.INT8: "char",
    DataType.INT16: "short",
    DataType.INT32: "int",
    DataType.INT64: "long",
    DataType.UINT8: "uchar",
    DataType.UINT16: "ushort",
    DataType.UINT32: "uint",
    DataType.UINT64: "ulong",
    DataType.BOOL: "uchar",
}


@dataclass(frozen=True, slots=True)
class TensorType:
    """Element type and static shape of a tensor."""

    dtype: DataType
    shape: Shape

    @property
    def rank(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def elements(self) -> int:
        """Number of elements; 1 for a scalar, 0 if a dimension is 0."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of the dense tensor."""
        return self.elements * self.dtype.itemsize

    def with_shape(self, shape: Shape) -> TensorType:
        """The same element type with another shape."""
        return TensorType(self.dtype, tuple(shape))

    def __str__(self) -> str:
        return f"{self.dtype.value}[{','.join(map(str, self.shape))}]"


def type_of(array: np.ndarray) -> TensorType:
    """The tensor type of a NumPy array."""
    return TensorType(DataType.of(array), tuple(int(d) for d in array.shape))
