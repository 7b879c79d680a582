"""Which function imports which TensorFlow operator, and what such a function sees of its node."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

import numpy as np

from mace_cl.errors import FormatError, ImportModelError, UnsupportedError
from mace_cl.graph.core import Graph, Value
from mace_cl.graph.fold import add_folded
from mace_cl.graph.ops.base import Operator
from mace_cl.importers.tensorflow.tensors import data_type, read_tensor
from mace_cl.types import DataType


@dataclass(frozen=True)
class NodeView:
    """A node of the GraphDef while it is imported.

    Attributes:
        node: The NodeDef.
        graph: The graph that is being built.
        inputs: Its data inputs, imported already.
        sources: The NodeDefs that its data inputs come from.
    """

    node: Any
    graph: Graph
    inputs: Sequence[Value]
    sources: Sequence[NodeView | None] = ()

    @property
    def where(self) -> str:
        """The node, for messages."""
        return f"node {self.node.name!r} ({self.node.op})"

    # -- inputs -----------------------------------------------------------------------------------------------

    def input(self, index: int) -> Value:
        """Input `index`; a negative one counts from the end.

        Raises:
            ImportModelError: The node has fewer.
        """
        if not -len(self.inputs) <= index < len(self.inputs):
            raise ImportModelError(f"has {len(self.inputs)} inputs, input {index} is missing", where=self.where)
        return self.inputs[index]

    def known(self, index: int, what: str) -> np.ndarray:
        """Input `index` as an array, which must be known at compile time.

        Raises:
            UnsupportedError: It depends on the network's inputs.
        """
        value = self.input(index)
        if value.data is None:
            raise UnsupportedError(
                f"{what} ({value.name!r}) depends on the network's inputs",
                where=self.where,
                hint="fix the input that decides it to a constant",
            )
        return value.data

    def known_ints(self, index: int, what: str) -> list[int]:
        """Input `index` as a list of integers, which must be known at compile time."""
        return [int(v) for v in self.known(index, what).reshape(-1)]

    def known_int(self, index: int, what: str) -> int:
        """Input `index` as one integer, which must be known at compile time."""
        (value,) = self.known_ints(index, what)
        return value

    def known_axis(self, index: int, rank: int) -> int:
        """Input `index` as an axis of a tensor of `rank`, counted from the start."""
        return self.axis(self.known_int(index, "the axis"), rank)

    def axis(self, axis: int, rank: int) -> int:
        """An axis counted from the start.

        Raises:
            ImportModelError: It is outside of the rank.
        """
        if not -rank <= axis < rank:
            raise ImportModelError(f"axis {axis} is outside of {rank} dimensions", where=self.where)
        return axis % rank

    # -- attributes -------------------------------------------------------------------------------------------

    def _attribute(self, name: str, kind: str, default: Any) -> Any:
        if name not in self.node.attr:
            if default is None:
                raise FormatError("a needed attribute is missing", where=self.where, field=f"attr.{name}")
            return default
        value = self.node.attr[name]
        if value.WhichOneof("value") != kind:
            raise FormatError("an attribute is of another kind than its operator's", where=self.where, field=name)
        return getattr(value, kind)

    def attr_int(self, name: str, default: int | None = None) -> int:
        """An integer attribute; without a default it must be there."""
        return int(self._attribute(name, "i", default))

    def attr_float(self, name: str, default: float | None = None) -> float:
        """A floating-point attribute."""
        return float(self._attribute(name, "f", default))

    def attr_bool(self, name: str, default: bool | None = None) -> bool:
        """A truth attribute."""
        return bool(self._attribute(name, "b", default))

    def attr_text(self, name: str, default: str | None = None) -> str:
        """A text attribute."""
        value = self._attribute(name, "s", default)
        return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)

    def attr_ints(self, name: str, default: Sequence[int] | None = None) -> list[int]:
        """A list of integers."""
        value = self._attribute(name, "list", default)
        return [int(v) for v in (value.i if hasattr(value, "i") else value)]

    def attr_texts(self, name: str) -> list[str]:
        """A list of texts."""
        return [v.decode("utf-8", "replace") for v in self._attribute(name, "list", None).s]

    def attr_type(self, name: str, default: DataType | None = None) -> DataType:
        """An element type."""
        if default is not None and name not in self.node.attr:
            return default
        return data_type(self._attribute(name, "type", None), self.where)

    def attr_tensor(self, name: str) -> np.ndarray:
        """A constant."""
        return read_tensor(self._attribute(name, "tensor", None), self.where)

    # -- building ---------------------------------------------------------------------------------------------

    def add_all(self, op: Operator, inputs: Sequence[Value | None]) -> tuple[Value, ...]:
        """Add a node (or its folded constants); returns all its outputs."""
        return add_folded(self.graph, op, inputs, name=self.node.name, outputs=(self.node.name,))

    def add(self, op: Operator, *inputs: Value | None) -> Value:
        """Add a node of one output (or its folded constant)."""
        (value,) = self.add_all(op, inputs)
        return value

    def constant(self, array: np.ndarray) -> Value:
        """A constant named after the node."""
        return self.graph.constant(np.asarray(array, order="C"), self.node.name)

    def scalar(self, value: float, like: Value) -> Value:
        """A constant without dimensions, of the element type of `like`."""
        return self.graph.constant(np.asarray(value, like.dtype.numpy), f"{self.node.name}/const")

    def unsupported(self, message: str, hint: str | None = None) -> UnsupportedError:
        """An error about this node, to be raised."""
        return UnsupportedError(message, where=self.where, hint=hint)


Handler: TypeAlias = Callable[[NodeView], "Value | Sequence[Value]"]

HANDLERS: dict[str, Handler] = {}
"""TensorFlow operator to the function that imports it. Filled by the family modules."""


_H = TypeVar("_H", bound=Handler)


def handles(*names: str) -> Callable[[_H], _H]:
    """Register a function as the importer of operators."""

    def register(handler: _H) -> _H:
        for name in names:
            assert name not in HANDLERS, f"{name} has two handlers"
            HANDLERS[name] = handler
        return handler

    return register
