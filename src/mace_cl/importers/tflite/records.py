"""A .tflite file as plain records. Everything in them has been checked against the file's bounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from mace_cl.errors import ImportModelError
from mace_cl.importers.tflite.schema import ACTIVATIONS, DATA_TYPES
from mace_cl.types import DataType, Shape


@dataclass(frozen=True)
class Quantization:
    """Real value = (stored - zero_point) scale, for the whole tensor or along `axis`."""

    scale: np.ndarray
    zero_point: np.ndarray
    axis: int


@dataclass(frozen=True)
class Dimension:
    """One level of a sparse tensor: dense of a size, or compressed rows (segments, indices)."""

    dense_size: int | None
    segments: np.ndarray | None = None
    indices: np.ndarray | None = None


@dataclass(frozen=True)
class Sparsity:
    """How the values of a sparse tensor are spread; the schema's SparsityParameters."""

    traversal_order: tuple[int, ...]
    block_map: tuple[int, ...]
    dimensions: tuple[Dimension, ...]


@dataclass(frozen=True)
class TensorRecord:
    """One tensor of the subgraph.

    Attributes:
        shape: The shape as stored; dynamic dimensions hold a placeholder there.
        signature: The shape with -1 for each dynamic dimension; equals `shape` where the file has none.
        type: The schema's name of the element type.
    """

    index: int
    name: str
    shape: Shape
    signature: Shape
    type: str
    buffer: int
    quantization: Quantization | None = None
    sparsity: Sparsity | None = None
    is_variable: bool = False

    @property
    def dtype(self) -> DataType | None:
        """The element type in the graph, or None where there is no counterpart."""
        return DATA_TYPES.get(self.type)


@dataclass(frozen=True)
class Options:
    """An operator's option table: field names as in the schema's accessors, defaults filled in."""

    name: str
    values: Mapping[str, object]

    def integer(self, key: str) -> int:
        """An integer or enumeration field."""
        value = self.values[key]
        assert isinstance(value, int), f"{self.name}.{key}"
        return value

    def flag(self, key: str) -> bool:
        """A boolean field."""
        return bool(self.values[key])

    def number(self, key: str) -> float:
        """A floating-point field."""
        value = self.values[key]
        assert isinstance(value, int | float), f"{self.name}.{key}"
        return float(value)

    def ints(self, key: str) -> tuple[int, ...]:
        """A vector of integers; empty where it is absent."""
        value = self.values[key]
        return tuple(int(v) for v in value) if isinstance(value, np.ndarray) else ()

    def activation(self) -> str:
        """The fused activation's name."""
        code = self.integer("FusedActivationFunction")
        if code not in ACTIVATIONS:
            raise ImportModelError(f"unknown fused activation {code}")
        return ACTIVATIONS[code]


@dataclass(frozen=True)
class OperatorRecord:
    """One operator of the subgraph; an absent optional input is -1."""

    index: int
    name: str
    version: int
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    options: Options | None = None
    custom_code: str = ""
    custom_options: bytes = b""


@dataclass(frozen=True)
class ModelRecord:
    """A whole file, of which the first subgraph is read.

    Attributes:
        buffers: The bytes of each buffer; empty where a tensor has no data.
        n_subgraphs: Number of subgraphs in the file.
        size_bytes: The file's size.
    """

    path: str
    tensors: tuple[TensorRecord, ...]
    operators: tuple[OperatorRecord, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    buffers: tuple[memoryview, ...] = field(repr=False)
    n_subgraphs: int = 1
    size_bytes: int = 0
