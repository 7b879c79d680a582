"""Tensors of the file as values of the graph, quantised or real.

Quantised models are executed in real numbers, and this is the one place that knows it: an operator that reads a
quantised tensor gets it through DequantizeLinear, a result that the file stores quantised goes through
QuantizeLinear. So results differ from an integer engine by roundings only, and no operator has a second form.
"""

from __future__ import annotations

import numpy as np

from mace_cl.errors import ImportModelError
from mace_cl.graph import Graph, Value
from mace_cl.graph.fold import add_folded
from mace_cl.graph.ops import DequantizeLinear, QuantizeLinear
from mace_cl.importers.tflite.constants import dequantize, read_constant
from mace_cl.importers.tflite.records import ModelRecord, Quantization, TensorRecord
from mace_cl.importers.tflite.schema import WIDENED
from mace_cl.types import DataType

_ACTIVATIONS = frozenset({DataType.INT8, DataType.UINT8, DataType.INT16})
_BIASES = frozenset({DataType.INT32, DataType.INT64})


class Values:
    """The values of the tensors that are known so far."""

    def __init__(self, graph: Graph, model: ModelRecord) -> None:
        self.graph = graph
        self.model = model
        self._raw: dict[int, Value] = {}
        self._real: dict[int, Value] = {}
        self._named: set[int] = set()

    def is_known(self, index: int) -> bool:
        """Whether the tensor has a value, or data in the file."""
        return index in self._raw or self.has_data(index)

    def has_data(self, index: int) -> bool:
        """Whether the file holds the tensor's data."""
        tensor = self.model.tensors[index]
        return len(self.model.buffers[tensor.buffer]) > 0 or 0 in tensor.shape

    def raw(self, index: int) -> Value:
        """The tensor as it is stored.

        Raises:
            ImportModelError: Nothing has produced it yet.
        """
        if index not in self._raw:
            tensor = self.model.tensors[index]
            if not self.has_data(index):
                raise ImportModelError(
                    f"tensor {tensor.name!r} is read before anything produces it",
                    hint="the operators form a cycle or are out of order",
                )
            self.bind(index, self.graph.constant(read_constant(self.model, tensor), tensor.name or "const"))
        return self._raw[index]

    def real(self, index: int) -> Value:
        """The tensor in real numbers; integers that are not quantised stay integers."""
        tensor = self.model.tensors[index]
        if index not in self._real:
            value = self.raw(index)
            quantization = _quantization(tensor, value)
            if quantization is not None:
                value = self._dequantize(value, quantization)
            self._real[index] = value
        return self._real[index]

    def bind(self, index: int, value: Value) -> None:
        """Make `value`, as stored, the tensor's value."""
        if index in self._raw:
            raise ImportModelError(f"tensor {self.model.tensors[index].name!r} is produced twice")
        self._raw[index] = value
        self._named.add(id(value))

    def bind_real(self, index: int, value: Value) -> None:
        """Make `value`, in real numbers, the tensor's value, and give it the tensor's name.

        Raises:
            ImportModelError: Its type is not the tensor's.
        """
        tensor = self.model.tensors[index]
        quantization = _quantization(tensor, value)
        if quantization is not None and value.dtype.is_float:
            value = self._quantize(value, quantization, tensor)
        if tensor.dtype is not None and value.dtype != tensor.dtype and tensor.type not in WIDENED:
            raise ImportModelError(
                f"gives {value.dtype.value}, but tensor {tensor.name!r} is {tensor.dtype.value} in the file"
            )
        if id(value) not in self._named and tensor.name:
            value.name = self.graph.unique_name(tensor.name)
        self.bind(index, value)

    def _dequantize(self, value: Value, quantization: Quantization) -> Value:
        if value.data is not None:
            return self.graph.constant(dequantize(value.data, quantization), f"{value.name}_real")
        scale, zero_point = self._parameters(quantization, value.dtype)
        op = DequantizeLinear(axis=_axis(quantization, value.type.rank))
        return self.graph.add1(op, [value, scale, zero_point])

    def _quantize(self, value: Value, quantization: Quantization, tensor: TensorRecord) -> Value:
        assert tensor.dtype is not None
        scale, zero_point = self._parameters(quantization, tensor.dtype)
        op = QuantizeLinear(axis=_axis(quantization, value.type.rank), to=tensor.dtype)
        return add_folded(self.graph, op, [value, scale, zero_point])[0]

    def _parameters(self, quantization: Quantization, dtype: DataType) -> tuple[Value, Value]:
        """Scale and zero point as constants: scalars, or one for each index along the axis."""
        limits = np.iinfo(dtype.value)
        zero_point = quantization.zero_point
        if zero_point.min() < limits.min or zero_point.max() > limits.max:
            raise ImportModelError(f"a zero point does not fit into {dtype.value}")
        scale, zero = quantization.scale, zero_point.astype(dtype.numpy)
        if scale.size == 1:
            scale, zero = scale.reshape(()), zero.reshape(())
        return self.graph.constant(scale, "scale"), self.graph.constant(zero, "zero_point")


def _axis(quantization: Quantization, rank: int) -> int:
    """The quantised dimension, or 0 where the scale is one for all."""
    if quantization.scale.size == 1:
        return 0
    if not 0 <= quantization.axis < rank:
        raise ImportModelError(f"quantised dimension {quantization.axis} of {rank}")
    return quantization.axis


def _quantization(tensor: TensorRecord, value: Value) -> Quantization | None:
    """The tensor's quantisation, if its integers stand for real numbers.

    32-bit and 64-bit integers do so as constants only (biases); elsewhere they are indices and sizes, whatever
    parameters a converter has left on them.
    """
    dtype = tensor.dtype
    if tensor.quantization is None or dtype is None:
        return None
    if dtype in _ACTIVATIONS or (dtype in _BIASES and value.is_constant):
        return tensor.quantization
    return None
