"""What a handler sees of the operator that it converts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mace_cl.errors import ImportModelError, ShapeError, UnsupportedError
from mace_cl.graph import Graph, Value
from mace_cl.graph.fold import add_folded
from mace_cl.graph.ops import Operator
from mace_cl.importers.tflite.options import default_options
from mace_cl.importers.tflite.records import OperatorRecord, Options, TensorRecord
from mace_cl.importers.tflite.values import Values
from mace_cl.types import DataType, Shape


class Context:
    """One operator of the file, its operands as values, and the graph that it goes into."""

    def __init__(self, values: Values, operator: OperatorRecord) -> None:
        self.graph: Graph = values.graph
        self.operator = operator
        self._values = values

    # -- operands ---------------------------------------------------------------------------------------------

    @property
    def n_inputs(self) -> int:
        """Number of operands, absent ones at the end not counted."""
        inputs = self.operator.inputs
        while inputs and inputs[-1] < 0:
            inputs = inputs[:-1]
        return len(inputs)

    @property
    def n_outputs(self) -> int:
        """Number of results."""
        return len(self.operator.outputs)

    def value(self, index: int) -> Value:
        """Operand `index`, in real numbers.

        Raises:
            ImportModelError: It is absent.
        """
        found = self.optional(index)
        if found is None:
            raise ImportModelError(f"operand {index} is missing")
        return found

    def stored(self, index: int) -> Value:
        """Operand `index` as it is stored, integers even where they are quantised.

        Raises:
            ImportModelError: It is absent.
        """
        tensor = self._tensor(index)
        if tensor is None:
            raise ImportModelError(f"operand {index} is missing")
        return self._values.raw(tensor)

    def optional(self, index: int) -> Value | None:
        """Operand `index`, in real numbers, or None where it is absent."""
        tensor = self._tensor(index)
        return None if tensor is None else self._values.real(tensor)

    def values(self, start: int = 0) -> list[Value]:
        """All operands from `start` on."""
        return [self.value(i) for i in range(start, self.n_inputs)]

    def spatial(self, index: int, rank: int = 4) -> Value:
        """Operand `index`, which must have `rank` dimensions."""
        value = self.value(index)
        if value.type.rank != rank:
            raise ShapeError(f"operand {index} must have {rank} dimensions, not {value.type.rank}")
        return value

    def has_input(self, index: int) -> bool:
        """Whether operand `index` is there."""
        return self._tensor(index) is not None

    def array(self, index: int, what: str) -> np.ndarray:
        """Operand `index`, which must be known at compile time, as it is stored.

        Args:
            index: The operand.
            what: Its name, for messages.

        Raises:
            UnsupportedError: It is computed from the network's inputs.
        """
        tensor = self._tensor(index)
        if tensor is None:
            raise ImportModelError(f"operand {index} ({what}) is missing")
        value = self._values.raw(tensor)
        if value.data is None:
            raise UnsupportedError(
                f"operand {index} ({what}, tensor {value.name!r}) depends on the network's inputs",
                hint="shapes are static here: it must be a constant, or computed from shapes alone",
            )
        return value.data

    def ints(self, index: int, what: str) -> tuple[int, ...]:
        """Operand `index`, which must be known integers, flattened."""
        array = self.array(index, what)
        if array.dtype.kind not in "iu":
            raise ImportModelError(f"operand {index} ({what}) holds {array.dtype.name} instead of integers")
        return tuple(int(v) for v in array.reshape(-1))

    def integer(self, index: int, what: str) -> int:
        """Operand `index`, which must be one known integer."""
        values = self.ints(index, what)
        if len(values) != 1:
            raise ImportModelError(f"operand {index} ({what}) has {len(values)} elements instead of 1")
        return values[0]

    def _tensor(self, index: int) -> int | None:
        inputs = self.operator.inputs
        return inputs[index] if index < len(inputs) and inputs[index] >= 0 else None

    # -- results ----------------------------------------------------------------------------------------------

    def output_dtype(self, index: int = 0) -> DataType:
        """The element type that the file gives result `index`."""
        record = self._output(index)
        dtype = record.dtype
        if dtype is None:
            raise UnsupportedError(f"{record.type} tensors are not supported")
        return dtype

    def output_shape(self, index: int = 0) -> Shape:
        """The shape that the file gives result `index`; -1 for a dynamic dimension."""
        return self._output(index).signature

    def output_is_quantized(self, index: int = 0) -> bool:
        """Whether the file stores result `index` as integers with a scale."""
        return self._output(index).quantization is not None

    def _output(self, index: int) -> TensorRecord:
        outputs = self.operator.outputs
        if index >= len(outputs):
            raise ImportModelError(f"result {index} is missing")
        return self._values.model.tensors[outputs[index]]

    # -- options ----------------------------------------------------------------------------------------------

    def options(self, name: str) -> Options:
        """The option table, which must be of the schema's class `name`; defaults where there is none."""
        options = self.operator.options
        if options is None:
            return default_options(name)
        if options.name != name:
            raise ImportModelError(f"carries {options.name} instead of {name}")
        return options

    # -- building ---------------------------------------------------------------------------------------------

    def emit(self, op: Operator, *inputs: Value | None) -> Value:
        """Add a node with one output, or compute it now if all inputs are known."""
        return self.emit_all(op, inputs)[0]

    def emit_all(self, op: Operator, inputs: Sequence[Value | None]) -> tuple[Value, ...]:
        """Add a node, or compute it now if all inputs are known."""
        return add_folded(self.graph, op, inputs)

    def constant(self, array: np.ndarray) -> Value:
        """A new constant."""
        return self.graph.constant(array)

    def scalar(self, number: float, like: Value) -> Value:
        """A constant without dimensions, of the type of `like`."""
        return self.graph.constant(np.asarray(number, like.dtype.numpy))


def axis_of(axis: int, rank: int, what: str = "axis") -> int:
    """A dimension's number counted from the front.

    Raises:
        ShapeError: There is no such dimension.
    """
    if not -rank <= axis < rank:
        raise ShapeError(f"{what} {axis} does not fit {rank} dimensions")
    return axis % rank if rank else 0


def axes_of(axes: Sequence[int], rank: int) -> tuple[int, ...]:
    """Dimensions counted from the front, sorted, each once."""
    return tuple(sorted({axis_of(a, rank) for a in axes}))


def fill_shape(wanted: Sequence[int], elements: int, where: str = "shape") -> Shape:
    """`wanted` with its -1 replaced by what `elements` leave.

    Raises:
        ShapeError: No number fits.
    """
    known = 1
    for d in wanted:
        known *= d if d != -1 else 1
    if any(d < -1 for d in wanted) or list(wanted).count(-1) > 1:
        raise ShapeError(f"{where} {list(wanted)} has negative dimensions")
    if -1 not in wanted:
        if known != elements:
            raise ShapeError(
                f"{where} {list(wanted)} has {known} elements, but the data has {elements}",
                hint="the model fixes this shape; other input shapes than its own may not fit it",
            )
        return tuple(wanted)
    if known == 0 or elements % known:
        raise ShapeError(f"{where} {list(wanted)} does not divide {elements} elements")
    return tuple(elements // known if d == -1 else d for d in wanted)
