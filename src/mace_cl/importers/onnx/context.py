"""What a handler sees of the node that it converts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from onnx import AttributeProto

from mace_cl.errors import ImportModelError, ShapeError, UnsupportedError
from mace_cl.graph import Graph, Value
from mace_cl.graph.fold import add_folded
from mace_cl.graph.ops import Operator
from mace_cl.importers.onnx.origin import graph_inputs_of
from mace_cl.importers.onnx.tensors import data_type, read_sparse, read_tensor
from mace_cl.types import DataType


@dataclass(frozen=True)
class Context:
    """One node of the model, its operands as values, and the graph that it goes into.

    Attributes:
        node: The NodeProto.
        opset: Version of the operator set that the node belongs to.
        graph: The graph that is being built.
        inputs: The operands; None for absent ones.
        attributes: The AttributeProtos by name.
        where: The node, for messages.
        folder: The model's folder, where external data lies.
        subgraph: Converts a GraphProto in the node's scope and returns its outputs.
        expand: Converts the operator's definition as a function of simpler ones and returns its outputs.
    """

    node: Any
    opset: int
    graph: Graph
    inputs: Sequence[Value | None]
    attributes: Mapping[str, Any]
    where: str
    folder: Path | None
    subgraph: Callable[[Any], Sequence[Value]]
    expand: Callable[[], Sequence[Value | None]]

    # -- operands ---------------------------------------------------------------------------------------------

    def value(self, index: int) -> Value:
        """Operand `index`.

        Raises:
            ImportModelError: It is absent.
        """
        found = self.optional(index)
        if found is None:
            raise ImportModelError(f"input {index} is missing")
        return found

    def optional(self, index: int) -> Value | None:
        """Operand `index`, or None where it is absent."""
        return self.inputs[index] if index < len(self.inputs) else None

    def values(self) -> list[Value]:
        """All operands, of which there must be one at least and none absent."""
        return [self.value(i) for i in range(max(len(self.inputs), 1))]

    def array(self, index: int, what: str) -> np.ndarray:
        """Operand `index`, which must be known at compile time.

        Args:
            index: The operand.
            what: Its name, for messages.

        Raises:
            UnsupportedError: It is computed from the network's inputs.
        """
        value = self.value(index)
        if value.data is None:
            names = graph_inputs_of(self.graph, value)
            which = f" ({', '.join(repr(n) for n in names)})" if names else ""
            raise UnsupportedError(
                f"input {index} ({what}, tensor {self.node.input[index]!r}) depends on data",
                hint=f"fix it with --fixed-input / ImportOptions.fixed_inputs{which}",
            )
        return value.data

    def optional_array(self, index: int, what: str) -> np.ndarray | None:
        """Like `array`, or None where the operand is absent."""
        return None if self.optional(index) is None else self.array(index, what)

    def ints(self, index: int, what: str) -> tuple[int, ...]:
        """Operand `index`, which must be known integers, flattened."""
        array = self.array(index, what)
        if array.dtype.kind not in "iu":
            raise ImportModelError(f"input {index} ({what}) holds {array.dtype.name} instead of integers")
        return tuple(int(v) for v in array.reshape(-1))

    def integer(self, index: int, what: str) -> int:
        """Operand `index`, which must be one known integer."""
        values = self.ints(index, what)
        if len(values) != 1:
            raise ImportModelError(f"input {index} ({what}) has {len(values)} elements instead of 1")
        return values[0]

    def number(self, index: int, what: str) -> float | int | bool:
        """Operand `index`, which must be one known number; a Python number of its kind."""
        array = self.array(index, what)
        if array.size != 1:
            raise ImportModelError(f"input {index} ({what}) has {array.size} elements instead of 1")
        found = array.reshape(-1)[0].item()
        assert isinstance(found, (float, int, bool))
        return found

    def listed(self, name: str, index: int) -> tuple[int, ...] | None:
        """Integers that older operator sets have as attribute `name` and newer ones as operand `index`."""
        if name in self.attributes:
            return self.attr_ints(name)
        return None if self.optional(index) is None else self.ints(index, name)

    # -- attributes -------------------------------------------------------------------------------------------

    def has(self, name: str) -> bool:
        """Whether the attribute is there."""
        return name in self.attributes

    def attr_int(self, name: str, default: int | None = None) -> int:
        """An integer attribute; without a default it must be there."""
        return int(self._attribute(name, AttributeProto.INT, default))

    def attr_bool(self, name: str, default: bool = False) -> bool:
        """An integer attribute that means yes or no."""
        return bool(self._attribute(name, AttributeProto.INT, default))

    def attr_float(self, name: str, default: float | None = None) -> float:
        """A floating-point attribute; without a default it must be there."""
        return float(self._attribute(name, AttributeProto.FLOAT, default))

    def attr_text(self, name: str, default: str | None = None) -> str:
        """A text attribute; without a default it must be there."""
        found = self._attribute(name, AttributeProto.STRING, default)
        return found.decode("utf-8", "replace") if isinstance(found, bytes) else str(found)

    def attr_ints(self, name: str, default: Sequence[int] | None = None) -> tuple[int, ...]:
        """A list of integers; without a default it must be there."""
        return tuple(int(v) for v in self._attribute(name, AttributeProto.INTS, default))

    def attr_floats(self, name: str, default: Sequence[float] | None = None) -> tuple[float, ...]:
        """A list of floating-point numbers; without a default it must be there."""
        return tuple(float(v) for v in self._attribute(name, AttributeProto.FLOATS, default))

    def attr_tensor(self, name: str) -> np.ndarray:
        """A tensor."""
        return read_tensor(self._attribute(name, AttributeProto.TENSOR, None), self.folder, self.where)

    def attr_sparse(self, name: str) -> np.ndarray:
        """A sparse tensor, made dense."""
        return read_sparse(self._attribute(name, AttributeProto.SPARSE_TENSOR, None), self.folder, self.where)

    def attr_graph(self, name: str) -> Any:
        """A GraphProto."""
        return self._attribute(name, AttributeProto.GRAPH, None)

    def attr_type(self, name: str, default: DataType | None = None) -> DataType:
        """An element type; without a default it must be there."""
        if default is not None and name not in self.attributes:
            return default
        return data_type(self.attr_int(name), self.where)

    def _attribute(self, name: str, kind: int, default: Any) -> Any:
        if name not in self.attributes:
            if default is None:
                raise ImportModelError(f"attribute {name!r} is missing")
            return default
        attribute = self.attributes[name]
        if attribute.type != kind:
            wanted, found = (_kind_name(k) for k in (kind, attribute.type))
            raise ImportModelError(f"attribute {name!r} is of kind {found} instead of {wanted}")
        field = _FIELDS[kind]
        return getattr(attribute, field)

    # -- results ----------------------------------------------------------------------------------------------

    def wants(self, index: int) -> bool:
        """Whether output `index` has a name, so that somebody may read it."""
        return index < len(self.node.output) and bool(self.node.output[index])

    @property
    def n_outputs(self) -> int:
        """Number of outputs."""
        return len(self.node.output)

    # -- building ---------------------------------------------------------------------------------------------

    def emit(self, op: Operator, *inputs: Value | None) -> Value:
        """Add a node with one output, or compute it now if all inputs are known."""
        return self.emit_all(op, inputs)[0]

    def emit_all(self, op: Operator, inputs: Sequence[Value | None]) -> tuple[Value, ...]:
        """Add a node, or compute it now if all inputs are known."""
        name = self.node.name or next((n for n in self.node.output if n), op.name)
        return add_folded(self.graph, op, inputs, name=name)

    def constant(self, array: np.ndarray) -> Value:
        """A new constant."""
        return self.graph.constant(np.asarray(array, order="C"))

    def scalar(self, number: float, like: Value) -> Value:
        """A constant without dimensions, of the type of `like`."""
        return self.graph.constant(np.asarray(number, like.dtype.numpy))


_FIELDS: dict[int, str] = {
    AttributeProto.INT: "i",
    AttributeProto.FLOAT: "f",
    AttributeProto.STRING: "s",
    AttributeProto.INTS: "ints",
    AttributeProto.FLOATS: "floats",
    AttributeProto.TENSOR: "t",
    AttributeProto.SPARSE_TENSOR: "sparse_tensor",
    AttributeProto.GRAPH: "g",
}


def _kind_name(kind: int) -> str:
    known = kind in AttributeProto.AttributeType.values()
    return str(AttributeProto.AttributeType.Name(kind)) if known else str(kind)


def axis_of(axis: int, rank: int, what: str = "axis") -> int:
    """A dimension's number counted from the front.

    Raises:
        ShapeError: There is no such dimension.
    """
    if not -rank <= axis < rank:
        raise ShapeError(f"{what} {axis} does not fit {rank} dimensions")
    return axis % rank


def axes_of(axes: Sequence[int], rank: int) -> tuple[int, ...]:
    """Dimensions counted from the front, in the order given.

    Raises:
        ShapeError: There is no such dimension, or one is listed twice.
    """
    found = tuple(axis_of(a, rank) for a in axes)
    if len(set(found)) != len(found):
        raise ShapeError(f"axes {list(axes)} list a dimension twice")
    return found
