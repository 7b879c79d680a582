"""Graph, Node and Value: a network with static shapes.

A Graph is a list of nodes in topological order. A Value is produced by one node, is an input of the graph, or is
a constant (it has data). Uses are kept up to date by the methods here; passes change a graph through them only.

Names of a graph's inputs and outputs are those of the user's model and never change; names of values are unique
within a graph and only serve messages.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from mace_cl.errors import MaceError, ShapeError, VerifyError
from mace_cl.graph.ops.base import Operator
from mace_cl.types import DataType, Shape, TensorType, type_of


class Value:
    """A tensor of the graph.

    Attributes:
        name: Unique name within the graph.
        type: Element type and shape.
        data: The constant's array (read-only), or None.
        producer: The node that computes it, or None for inputs and constants.
        users: The nodes that read it, once for each input that does.
    """

    __slots__ = ("data", "name", "producer", "type", "users")

    def __init__(self, name: str, type_: TensorType, data: np.ndarray | None = None) -> None:
        self.name = name
        self.type = type_
        self.data = data
        self.producer: Node | None = None
        self.users: list[Node] = []

    @property
    def shape(self) -> Shape:
        """The static shape."""
        return self.type.shape

    @property
    def dtype(self) -> DataType:
        """The element type."""
        return self.type.dtype

    @property
    def is_constant(self) -> bool:
        """Whether the value is known at compile time."""
        return self.data is not None

    def __repr__(self) -> str:
        return f"%{self.name}: {self.type}"


class Node:
    """An operator applied to values. Change its inputs with `set_input` only."""

    __slots__ = ("inputs", "name", "op", "outputs")

    def __init__(self, name: str, op: Operator, inputs: Sequence[Value | None]) -> None:
        self.name = name
        self.op = op
        self.inputs: list[Value | None] = list(inputs)
        self.outputs: list[Value] = []
        for value in self.inputs:
            if value is not None:
                value.users.append(self)

    @property
    def output(self) -> Value:
        """The only output."""
        (value,) = self.outputs
        return value

    def input(self, index: int) -> Value:
        """Input `index`, which must be present."""
        value = self.inputs[index]
        assert value is not None, f"input {index} of {self.name} is absent"
        return value

    def set_input(self, index: int, value: Value | None) -> None:
        """Read `value` as input `index` from now on."""
        old = self.inputs[index]
        if old is not None:
            old.users.remove(self)
        self.inputs[index] = value
        if value is not None:
            value.users.append(self)

    def __repr__(self) -> str:
        return f"{self.name}: {self.op.describe()}"


class Graph:
    """A network: inputs, nodes in topological order, outputs.

    Attributes:
        inputs: The model's input names and their values, in the model's order.
        outputs: The model's output names and their values, in the model's order; two names may share a value,
            and an output may be an input or a constant.
        nodes: All nodes; each stands behind the producers of its inputs.
    """

    def __init__(self, name: str = "graph") -> None:
        self.name = name
        self.inputs: dict[str, Value] = {}
        self.outputs: dict[str, Value] = {}
        self.nodes: list[Node] = []
        self._names: set[str] = set()
        self._counters: dict[str, int] = {}

    # -- building ---------------------------------------------------------------------------------------------

    def unique_name(self, wanted: str) -> str:
        """`wanted`, or `wanted_1` ... if it is taken; the name is taken from now on."""
        name, count = wanted, self._counters.get(wanted, 0)
        while name in self._names:
            count += 1
            name = f"{wanted}_{count}"
        self._counters[wanted] = count
        self._names.add(name)
        return name

    def add_input(self, name: str, type_: TensorType) -> Value:
        """Add an input of the model."""
        if name in self.inputs:
            raise ShapeError(f"two inputs are named {name!r}", where=self.name)
        value = Value(self.unique_name(name), type_)
        self.inputs[name] = value
        return value

    def add_output(self, name: str, value: Value) -> None:
        """Make `value` an output of the model under `name`."""
        if name in self.outputs:
            raise ShapeError(f"two outputs are named {name!r}", where=self.name)
        self.outputs[name] = value

    def constant(self, array: np.ndarray, name: str = "const") -> Value:
        """A value that is known at compile time. The array is not copied, and must not be written to again."""
        return Value(self.unique_name(name), type_of(array), array)

    def add(
        self,
        op: Operator,
        inputs: Sequence[Value | None],
        *,
        name: str | None = None,
        outputs: Sequence[str] = (),
        before: Node | None = None,
    ) -> tuple[Value, ...]:
        """Add a node and return its outputs, typed by the operator's inference.

        Args:
            op: The operator.
            inputs: Its inputs; None for an absent optional one.
            name: The node's name; the operator's by default.
            outputs: Names wanted for the output values.
            before: Put the node in front of this one; at the end by default.

        Raises:
            ShapeError: The inputs do not fit; says the node.
        """
        name = self.unique_name(name or op.name)
        _check_count(op, len(inputs), name)
        try:
            types = op.infer([None if v is None else v.type for v in inputs])
        except MaceError as error:
            error.where = f"node {name!r} ({op.name})"
            raise
        node = Node(name, op, inputs)
        for i, type_ in enumerate(types):
            wanted = outputs[i] if i < len(outputs) else f"{name}.{i}" if i else f"{name}.out"
            value = Value(self.unique_name(wanted), type_)
            value.producer = node
            node.outputs.append(value)
        if before is None:
            self.nodes.append(node)
        else:
            self.nodes.insert(self.nodes.index(before), node)
        return tuple(node.outputs)

    def add1(
        self,
        op: Operator,
        inputs: Sequence[Value | None],
        *,
        name: str | None = None,
        before: Node | None = None,
    ) -> Value:
        """`add` for an operator with one output."""
        (value,) = self.add(op, inputs, name=name, before=before)
        return value

    # -- changing ---------------------------------------------------------------------------------------------

    def replace(self, old: Value, new: Value) -> None:
        """Let every user of `old`, and every output that is `old`, use `new` instead."""
        for node in dict.fromkeys(old.users):
            for i, value in enumerate(node.inputs):
                if value is old:
                    node.set_input(i, new)
        for name, value in self.outputs.items():
            if value is old:
                self.outputs[name] = new

    def remove(self, node: Node) -> None:
        """Remove a node whose outputs nobody uses."""
        assert not any(v.users or self.is_output(v) for v in node.outputs), f"{node.name} is in use"
        for i in range(len(node.inputs)):
            node.set_input(i, None)
        self.nodes.remove(node)

    def prune(self) -> int:
        """Remove every node that no output needs; returns how many there were."""
        kept: list[Node] = []
        for node in reversed(self.nodes):
            if any(v.users or self.is_output(v) for v in node.outputs):
                kept.append(node)
                continue
            for i in range(len(node.inputs)):
                node.set_input(i, None)
        removed = len(self.nodes) - len(kept)
        self.nodes = kept[::-1]
        return removed

    def sort(self) -> None:
        """Put the nodes into topological order, keeping the present order where it is free.

        Raises:
            VerifyError: The graph has a cycle; names a node in it.
        """
        done: set[int] = set()
        order: list[Node] = []
        pending = {id(n): n for n in self.nodes}
        for root in self.nodes:
            stack = [root]
            path: set[int] = set()
            while stack:
                node = stack[-1]
                if id(node) in done:
                    stack.pop()
                    continue
                path.add(id(node))
                wanted = [
                    v.producer
                    for v in node.inputs
                    if v is not None and v.producer is not None and id(v.producer) not in done
                ]
                if not wanted:
                    stack.pop()
                    path.discard(id(node))
                    done.add(id(node))
                    order.append(node)
                    continue
                for other in reversed(wanted):
                    if id(other) in path:
                        raise VerifyError("the graph has a cycle", where=f"node {other.name!r}")
                    if id(other) not in pending:
                        raise VerifyError("reads a node that is not in the graph", where=f"node {node.name!r}")
                    stack.append(other)
        self.nodes = order

    # -- asking -----------------------------------------------------------------------------------------------

    def is_output(self, value: Value) -> bool:
        """Whether the value is an output of the model."""
        return any(v is value for v in self.outputs.values())

    def values(self) -> Iterable[Value]:
        """Every value once: inputs, then constants and node outputs in order of use."""
        seen: set[int] = set()
        for value in self._walk():
            if id(value) not in seen:
                seen.add(id(value))
                yield value

    def _walk(self) -> Iterable[Value]:
        yield from self.inputs.values()
        for node in self.nodes:
            for value in node.inputs:
                if value is not None:
                    yield value
            yield from node.outputs
        yield from self.outputs.values()


def _check_count(op: Operator, count: int, where: str) -> None:
    low, high = op.n_inputs
    if count < low or (high is not None and count > high):
        wanted = f"{low}" if low == high else f"{low} or more" if high is None else f"{low} to {high}"
        raise ShapeError(f"takes {wanted} inputs, not {count}", where=f"node {where!r} ({op.name})")
