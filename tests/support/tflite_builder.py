"""Small TensorFlow Lite files for tests, written with the builders of the `tflite` package."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import flatbuffers
import numpy as np
import tflite

TYPES = {
    "float32": "FLOAT32",
    "float16": "FLOAT16",
    "float64": "FLOAT64",
    "int8": "INT8",
    "int16": "INT16",
    "int32": "INT32",
    "int64": "INT64",
    "uint8": "UINT8",
    "uint16": "UINT16",
    "uint32": "UINT32",
    "uint64": "UINT64",
    "bool": "BOOL",
}

_NEWER_TYPES = {"INT2": 19, "UINT4": 20}

_INDEX_VECTORS = {"int32": "Int32Vector", "uint16": "Uint16Vector", "uint8": "Uint8Vector"}


@dataclass
class Level:
    """A level of a sparse tensor: dense of a size, or segments and indices."""

    dense_size: int = 0
    segments: np.ndarray | None = None
    indices: np.ndarray | None = None


@dataclass
class Sparse:
    """How a sparse tensor's values are spread."""

    order: Sequence[int]
    levels: Sequence[Level]
    block_map: Sequence[int] = ()


@dataclass
class _Tensor:
    name: str
    type: str
    shape: Sequence[int]
    data: bytes | None
    scale: Sequence[float]
    zero_point: Sequence[int]
    axis: int
    signature: Sequence[int] | None
    sparse: Sparse | None


@dataclass
class _Operator:
    code: int
    custom: str | None
    inputs: Sequence[int]
    outputs: Sequence[int]
    options: str | None
    fields: Mapping[str, Any]
    custom_options: bytes
    version: int


@dataclass
class ModelBuilder:
    """Collects tensors and operators; `build` gives the file's bytes."""

    tensors: list[_Tensor] = field(default_factory=list)
    operators: list[_Operator] = field(default_factory=list)
    n_subgraphs: int = 1
    version: int = 3
    operator_repeats: int = 1
    """How often the vector of operators lists each table: what no converter does, but a file can say."""
    external_buffers: bool = False
    """Keep tensors' data behind the flatbuffer, as files above 2 GB do."""

    def tensor(
        self,
        name: str,
        shape: Sequence[int],
        type_: str = "FLOAT32",
        *,
        data: bytes | None = None,
        scale: Sequence[float] = (),
        zero_point: Sequence[int] = (),
        axis: int = 0,
        signature: Sequence[int] | None = None,
        sparse: Sparse | None = None,
    ) -> int:
        """Add a tensor; returns its number."""
        self.tensors.append(_Tensor(name, type_, tuple(shape), data, scale, zero_point, axis, signature, sparse))
        return len(self.tensors) - 1

    def constant(self, name: str, array: np.ndarray, **more: Any) -> int:
        """Add a constant."""
        return self.tensor(name, array.shape, TYPES[array.dtype.name], data=array.tobytes(), **more)

    def operator(
        self,
        name: str | int,
        inputs: Sequence[int],
        outputs: Sequence[int],
        options: str | None = None,
        *,
        custom: str | None = None,
        custom_options: bytes = b"",
        version: int = 1,
        **fields: Any,
    ) -> None:
        """Add an operator; `options` is a class of the schema, `fields` are its fields."""
        code = name if isinstance(name, int) else getattr(tflite.BuiltinOperator, name)
        self.operators.append(_Operator(code, custom, inputs, outputs, options, fields, custom_options, version))

    def build(self, inputs: Sequence[int], outputs: Sequence[int]) -> bytes:
        """The whole file."""
        if not self.external_buffers:
            return _Writer(self, inputs, outputs, {}).bytes()
        # Sizes do not depend on the offsets' values as long as these are not the default.
        places = {i: 1 << 40 for i, t in enumerate(self.tensors) if t.data}
        size = len(_Writer(self, inputs, outputs, places).bytes())
        tail, places = b"", {}
        for i, t in enumerate(self.tensors):
            if t.data:
                tail += b"\0" * (-(size + len(tail)) % 16)
                places[i] = size + len(tail)
                tail += t.data
        return _Writer(self, inputs, outputs, places).bytes() + tail


class _Writer:
    """Writes one file."""

    def __init__(
        self, model: ModelBuilder, inputs: Sequence[int], outputs: Sequence[int], places: Mapping[int, int]
    ) -> None:
        self.model = model
        self.inputs = inputs
        self.outputs = outputs
        self.places = places
        self.b = flatbuffers.Builder(1024)

    def bytes(self) -> bytes:
        b = self.b
        buffers = self._offsets(
            [self._buffer(None, None)]
            + [self._buffer(t.data, self.places.get(i)) for i, t in enumerate(self.model.tensors)]
        )
        codes = self._offsets([self._code(op) for op in self.model.operators])
        tensors = self._offsets([self._tensor(i, t) for i, t in enumerate(self.model.tensors)])
        operators = self._offsets(
            [self._operator(i, op) for i, op in enumerate(self.model.operators)] * self.model.operator_repeats
        )
        inputs, outputs = self._ints(self.inputs), self._ints(self.outputs)
        graphs = [self._subgraph(tensors, operators, inputs, outputs) for _ in range(self.model.n_subgraphs)]
        subgraphs = self._offsets(graphs)
        root = self._table(
            "Model", Version=self.model.version, OperatorCodes=codes, Subgraphs=subgraphs, Buffers=buffers
        )
        b.Finish(root, b"TFL3")
        return bytes(b.Output())

    def _table(self, name: str, **fields: Any) -> int:
        getattr(tflite, f"{name}Start")(self.b)
        for key, value in fields.items():
            if value is not None:
                getattr(tflite, f"{name}Add{key}")(self.b, value)
        return int(getattr(tflite, f"{name}End")(self.b))

    def _offsets(self, offsets: Sequence[int]) -> int:
        self.b.StartVector(4, len(offsets), 4)
        for offset in reversed(offsets):
            self.b.PrependUOffsetTRelative(offset)
        return int(self.b.EndVector())

    def _ints(self, values: Sequence[int], dtype: str = "int32") -> int:
        return int(self.b.CreateNumpyVector(np.asarray(values, dtype)))

    def _buffer(self, data: bytes | None, place: int | None) -> int:
        if place is not None:
            assert data is not None
            return self._table("Buffer", Offset=place, Size=len(data))
        return self._table("Buffer", Data=None if data is None else self.b.CreateByteVector(data))

    def _code(self, op: _Operator) -> int:
        custom = None if op.custom is None else self.b.CreateString(op.custom)
        return self._table(
            "OperatorCode",
            DeprecatedBuiltinCode=min(op.code, 127),
            BuiltinCode=op.code,
            CustomCode=custom,
            Version=op.version,
        )

    def _subgraph(self, tensors: int, operators: int, inputs: int, outputs: int) -> int:
        return self._table("SubGraph", Tensors=tensors, Operators=operators, Inputs=inputs, Outputs=outputs)

    def _tensor(self, index: int, t: _Tensor) -> int:
        return self._table(
            "Tensor",
            Name=self.b.CreateString(t.name),
            Shape=self._ints(t.shape),
            ShapeSignature=None if t.signature is None else self._ints(t.signature),
            Type=_NEWER_TYPES.get(t.type) or getattr(tflite.TensorType, t.type),
            Buffer=index + 1 if t.data is not None else 0,
            Quantization=self._quantization(t),
            Sparsity=None if t.sparse is None else self._sparsity(t.sparse),
        )

    def _quantization(self, t: _Tensor) -> int | None:
        if not t.scale:
            return None
        scale = self.b.CreateNumpyVector(np.asarray(t.scale, np.float32))
        zero_point = self._ints(t.zero_point or [0] * len(t.scale), "int64")
        return self._table("QuantizationParameters", Scale=scale, ZeroPoint=zero_point, QuantizedDimension=t.axis)

    def _sparsity(self, s: Sparse) -> int:
        order, block_map = self._ints(s.order), self._ints(s.block_map)
        levels = self._offsets([self._level(level) for level in s.levels])
        return self._table("SparsityParameters", TraversalOrder=order, BlockMap=block_map, DimMetadata=levels)

    def _level(self, level: Level) -> int:
        if level.segments is None or level.indices is None:
            return self._table("DimensionMetadata", Format=tflite.DimensionType.DENSE, DenseSize=level.dense_size)
        kinds, tables = [], []
        for values in (level.segments, level.indices):
            name = _INDEX_VECTORS[values.dtype.name]
            tables.append(self._table(name, Values=self.b.CreateNumpyVector(values)))
            kinds.append(getattr(tflite.SparseIndexVector, name))
        return self._table(
            "DimensionMetadata",
            Format=tflite.DimensionType.SPARSE_CSR,
            ArraySegmentsType=kinds[0],
            ArraySegments=tables[0],
            ArrayIndicesType=kinds[1],
            ArrayIndices=tables[1],
        )

    def _vector_or_number(self, value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return self.b.CreateNumpyVector(value)
        return self._ints(value) if isinstance(value, list | tuple) else value

    def _operator(self, index: int, op: _Operator) -> int:
        fields: dict[str, Any] = {key: self._vector_or_number(value) for key, value in op.fields.items()}
        options = None if op.options is None else self._table(op.options, **fields)
        custom = self.b.CreateByteVector(op.custom_options) if op.custom_options else None
        second = op.options is not None and not hasattr(tflite.BuiltinOptions, op.options)
        kinds = tflite.BuiltinOptions2 if second else tflite.BuiltinOptions
        suffix = "2" if second else ""
        union = (
            {}
            if options is None
            else {
                f"BuiltinOptions{suffix}Type": getattr(kinds, op.options or ""),
                f"BuiltinOptions{suffix}": options,
            }
        )
        return self._table(
            "Operator",
            OpcodeIndex=index,
            Inputs=self._ints(op.inputs),
            Outputs=self._ints(op.outputs),
            CustomOptions=custom,
            **union,
        )
