"""Bytes of a .tflite file to records.

The accessors of the `tflite` package check nothing: a damaged file makes them read anywhere or raise what Python
raises. So every length is checked here against the file before anything is read or allocated, the sum of all that
is read is limited (vectors may share bytes, which would let a small file ask for endless work), and whatever still
goes wrong becomes one ImportModelError.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import flatbuffers
import numpy as np
import tflite

from mace_cl.errors import ImportModelError
from mace_cl.importers.tflite import schema
from mace_cl.importers.tflite.options import read_options
from mace_cl.importers.tflite.records import (
    Dimension,
    ModelRecord,
    OperatorRecord,
    Options,
    Quantization,
    Sparsity,
    TensorRecord,
)
from mace_cl.importers.tflite.signature import recognises

_T = TypeVar("_T")

MAX_RANK = 16
"""More dimensions than any operator takes, and few enough that a damaged length shows."""

SCHEMA_VERSION = 3

_LOW_LEVEL = (struct.error, ValueError, LookupError, TypeError, ArithmeticError, AttributeError)
"""What flatbuffers and NumPy raise on bytes that make no sense."""

_INDEX_VECTORS = {
    tflite.SparseIndexVector.Int32Vector: tflite.Int32Vector,
    tflite.SparseIndexVector.Uint16Vector: tflite.Uint16Vector,
    tflite.SparseIndexVector.Uint8Vector: tflite.Uint8Vector,
}


def read_model(data: bytes, path: str) -> ModelRecord:
    """Read a whole file.

    Args:
        data: The file.
        path: Its name, for messages.

    Raises:
        ImportModelError: The bytes are not a TensorFlow Lite model; says where they go wrong.
    """
    if not recognises(data[:64]):
        raise ImportModelError("not a TensorFlow Lite model: the identifier TFL3 is missing", where=path)
    reader = _Reader(data, path)
    try:
        return reader.model()
    except ImportModelError as error:
        error.where = error.where or f"{path}, {reader.place}"
        raise
    except _LOW_LEVEL as error:
        raise ImportModelError(
            f"damaged or truncated TensorFlow Lite model ({error})", where=f"{path}, {reader.place}"
        ) from error


class _Reader:
    """Reads one file; `place` says what is being read."""

    def __init__(self, data: bytes, path: str) -> None:
        self.data = data
        self.path = path
        self.place = "root table"
        self._budget = 64 * len(data) + 65536

    # -- bounded access ---------------------------------------------------------------------------------------

    def _spend(self, n_bytes: int) -> None:
        self._budget -= n_bytes
        if self._budget < 0:
            raise ImportModelError("its tables refer to far more than the file holds")

    def _tables(self, owner: Any, field: str) -> Iterator[Any]:
        """The tables of a vector, one by one."""
        count = getattr(owner, field + "Length")()
        if count * 4 > len(self.data):
            raise ImportModelError(f"{field} has {count} elements, more than fit into the file")
        for i in range(count):
            self._spend(16)
            yield getattr(owner, field)(i)

    def _vector(self, owner: Any, field: str) -> np.ndarray:
        """A vector of numbers; NumPy refuses one that reaches beyond the file."""
        array = getattr(owner, field + "AsNumpy")()
        if not isinstance(array, np.ndarray):
            return np.zeros(0, np.int64)
        self._spend(array.nbytes)
        return array

    def _ints(self, owner: Any, field: str) -> tuple[int, ...]:
        return tuple(self._vector(owner, field).tolist())

    def _text(self, value: bytes | None) -> str:
        if not value:
            return ""
        self._spend(len(value))
        return value.decode("utf-8", errors="backslashreplace")

    # -- tables -----------------------------------------------------------------------------------------------

    def model(self) -> ModelRecord:
        """The root table and the first subgraph."""
        root = tflite.Model.GetRootAs(self.data, 0)
        if root.Version() != SCHEMA_VERSION:
            raise ImportModelError(f"schema version {root.Version()}, but {SCHEMA_VERSION} is the only one known")
        codes = list(self._numbered(root, "OperatorCodes", _read_code))
        buffers = tuple(self._numbered(root, "Buffers", self._buffer))
        n_subgraphs = root.SubgraphsLength()
        if n_subgraphs < 1:
            raise ImportModelError("the file has no subgraph")
        subgraph = root.Subgraphs(0)
        tensors = tuple(self._numbered(subgraph, "Tensors", self._tensor))
        operators = tuple(self._numbered(subgraph, "Operators", lambda i, o: self._operator(i, o, codes)))
        self.place = "subgraph 0"
        record = ModelRecord(
            self.path,
            tensors,
            operators,
            self._ints(subgraph, "Inputs"),
            self._ints(subgraph, "Outputs"),
            buffers,
            n_subgraphs,
            len(self.data),
        )
        self._check_references(record)
        return record

    def _numbered(self, owner: Any, field: str, read: Callable[[int, Any], _T]) -> Iterator[_T]:
        for i, table in enumerate(self._tables(owner, field)):
            self.place = f"{field}[{i}]"
            yield read(i, table)

    def _buffer(self, index: int, table: Any) -> memoryview:
        del index
        view = memoryview(self.data)
        offset, size = table.Offset(), table.Size()
        # Models above 2 GB keep data behind the flatbuffer; offsets 0 and 1 say that this one does not.
        if offset > 1:
            if offset + size > len(self.data):
                raise ImportModelError(f"data at {offset} of {size} bytes ends behind the file")
            return view[offset : offset + size]
        array = table.DataAsNumpy()
        return view[:0] if not isinstance(array, np.ndarray) else array.data

    def _tensor(self, index: int, table: Any) -> TensorRecord:
        name = self._text(table.Name())
        shape, signature = self._ints(table, "Shape"), self._ints(table, "ShapeSignature")
        if len(shape) > MAX_RANK or len(signature) > MAX_RANK:
            raise ImportModelError(f"tensor {name!r} has {max(len(shape), len(signature))} dimensions")
        code = table.Type()
        if code not in schema.TENSOR_TYPES:
            raise ImportModelError(f"tensor {name!r} has the unknown type {code}")
        sparsity = table.Sparsity()
        return TensorRecord(
            index=index,
            name=name,
            shape=shape,
            signature=signature or shape,
            type=schema.TENSOR_TYPES[code],
            buffer=table.Buffer(),
            quantization=self._quantization(table.Quantization()),
            sparsity=None if sparsity is None else self._sparsity(sparsity),
            is_variable=table.IsVariable(),
        )

    def _quantization(self, table: Any) -> Quantization | None:
        if table is None or table.ScaleLength() == 0:
            return None
        scale = self._vector(table, "Scale").astype(np.float32)
        zero_point = self._vector(table, "ZeroPoint").astype(np.int64)
        if not scale.any():
            return None
        if not (np.isfinite(scale).all() and (scale > 0).all()):
            raise ImportModelError("a quantisation scale is not a positive number")
        if zero_point.size == 0:
            zero_point = np.zeros(scale.size, np.int64)
        if zero_point.size not in (1, scale.size):
            raise ImportModelError(f"{scale.size} quantisation scales but {zero_point.size} zero points")
        return Quantization(scale, np.broadcast_to(zero_point, scale.shape), table.QuantizedDimension())

    def _sparsity(self, table: Any) -> Sparsity:
        return Sparsity(
            self._ints(table, "TraversalOrder"),
            self._ints(table, "BlockMap"),
            tuple(self._dimension(d) for d in self._tables(table, "DimMetadata")),
        )

    def _dimension(self, table: Any) -> Dimension:
        if table.Format() == tflite.DimensionType.DENSE:
            return Dimension(table.DenseSize())
        if table.Format() != tflite.DimensionType.SPARSE_CSR:
            raise ImportModelError(f"unknown format {table.Format()} of a sparse dimension")
        return Dimension(
            None,
            self._index_vector(table.ArraySegmentsType(), table.ArraySegments()),
            self._index_vector(table.ArrayIndicesType(), table.ArrayIndices()),
        )

    def _index_vector(self, kind: int, table: Any) -> np.ndarray:
        if kind not in _INDEX_VECTORS or table is None:
            raise ImportModelError("a compressed dimension lacks its segments or indices")
        vector = _INDEX_VECTORS[kind]()
        vector.Init(table.Bytes, table.Pos)
        return self._vector(vector, "Values").astype(np.int64)

    def _operator(self, index: int, table: Any, codes: list[tuple[str, int, str]]) -> OperatorRecord:
        code = table.OpcodeIndex()
        if not 0 <= code < len(codes):
            raise ImportModelError(f"operator code {code} of {len(codes)}")
        name, version, custom = codes[code]
        return OperatorRecord(
            index,
            name,
            version,
            self._ints(table, "Inputs"),
            self._ints(table, "Outputs"),
            self._options(table),
            custom,
            self._custom_options(table),
        )

    def _options(self, table: Any) -> Options | None:
        kinds = (
            (schema.OPTIONS, table.BuiltinOptionsType(), table.BuiltinOptions),
            (schema.OPTIONS_2, table.BuiltinOptions2Type(), table.BuiltinOptions2),
        )
        for names, kind, read in kinds:
            union = read() if kind else None
            # A table that the installed schema does not know belongs to an operator that it does not know either.
            if union is None or kind not in names or not hasattr(tflite, names[kind]):
                continue
            options = read_options(names[kind], flatbuffers.table.Table(union.Bytes, union.Pos))
            self._spend(sum(v.nbytes for v in options.values.values() if isinstance(v, np.ndarray)))
            return options
        return None

    def _custom_options(self, table: Any) -> bytes:
        offset, size = table.LargeCustomOptionsOffset(), table.LargeCustomOptionsSize()
        if offset > 1:
            if offset + size > len(self.data):
                raise ImportModelError(f"custom options at {offset} of {size} bytes end behind the file")
            self._spend(size)
            return self.data[offset : offset + size]
        return self._vector(table, "CustomOptions").tobytes() if table.CustomOptionsLength() else b""

    def _check_references(self, record: ModelRecord) -> None:
        """Every tensor and buffer that is referred to is there."""
        count = len(record.tensors)
        for tensor in record.tensors:
            if not 0 <= tensor.buffer < len(record.buffers):
                raise ImportModelError(
                    f"tensor {tensor.name!r} refers to buffer {tensor.buffer} of {len(record.buffers)}"
                )
        for op in record.operators:
            if not all(-1 <= i < count for i in op.inputs) or not all(0 <= i < count for i in op.outputs):
                raise ImportModelError(f"operator {op.index} ({op.name}) refers to a tensor that is not there")
        if not all(0 <= i < count for i in (*record.inputs, *record.outputs)):
            raise ImportModelError("an input or output is a tensor that is not there")


def _read_code(index: int, table: Any) -> tuple[str, int, str]:
    """Name, version and custom name of an operator code."""
    del index
    # Codes above 127 stand in the newer field; older files have the older one alone.
    code = max(table.BuiltinCode(), table.DeprecatedBuiltinCode())
    custom = table.CustomCode()
    text = custom[:256].decode("utf-8", errors="backslashreplace") if custom else ""
    return schema.operator_name(code), table.Version(), text
