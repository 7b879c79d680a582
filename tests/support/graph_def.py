"""A builder of GraphDefs, node by node."""

from __future__ import annotations

from typing import Any

import numpy as np

from mace_cl.graph.core import Graph, Node
from mace_cl.graph.evaluate import evaluate_graph
from mace_cl.importers.options import ImportOptions
from mace_cl.importers.tensorflow.importer import import_graph_def
from mace_cl.importers.tensorflow.schema import GraphDef, TensorShapeProto
from mace_cl.importers.tensorflow.tensors import TYPE_NUMBERS
from mace_cl.types import DataType, type_of

Shape = tuple[int, ...] | None


def shape_proto(shape: Shape) -> Any:
    """A TensorShapeProto; None for an unknown rank, -1 for an unknown size."""
    proto = TensorShapeProto(unknown_rank=shape is None)
    for size in shape or ():
        proto.dim.add(size=size)
    return proto


class GraphDefBuilder:
    """Adds nodes; each method returns the node's name."""

    def __init__(self) -> None:
        self.proto = GraphDef()

    def placeholder(self, name: str, shape: Shape, dtype: DataType = DataType.FLOAT32) -> str:
        """An input."""
        return self.node("Placeholder", name, dtype=dtype, shape=shape_proto(shape))

    def const(self, name: str, array: np.ndarray) -> str:
        """A constant with its bytes in tensor_content."""
        node = self.proto.node.add(name=name, op="Const")
        tensor = node.attr["value"].tensor
        tensor.dtype = TYPE_NUMBERS[DataType.of(array)]
        tensor.tensor_shape.CopyFrom(shape_proto(array.shape))
        tensor.tensor_content = array.tobytes()
        node.attr["dtype"].type = tensor.dtype
        return name

    def node(self, op: str, name: str, *inputs: str | np.ndarray, **attributes: Any) -> str:
        """Any node; an array as input becomes a constant."""
        names = [i if isinstance(i, str) else self.const(f"{name}/const{k}", i) for k, i in enumerate(inputs)]
        node = self.proto.node.add(name=name, op=op, input=names)
        for key, value in attributes.items():
            _set(node.attr[key], value)
        return name

    def bytes(self) -> bytes:
        """The file."""
        return bytes(self.proto.SerializeToString())

    def graph(self, **options: Any) -> Graph:
        """The imported graph."""
        return import_graph_def(self.proto, "test", ImportOptions(**options), "test.pb")


def _set(attr: Any, value: Any) -> None:
    if isinstance(value, bool):
        attr.b = value
    elif isinstance(value, int):
        attr.i = value
    elif isinstance(value, float):
        attr.f = value
    elif isinstance(value, str):
        attr.s = value.encode()
    elif isinstance(value, DataType):
        attr.type = TYPE_NUMBERS[value]
    elif isinstance(value, TensorShapeProto):
        attr.shape.CopyFrom(value)
    elif value and isinstance(value[0], str):
        attr.list.s.extend(v.encode() for v in value)
    elif value and isinstance(value[0], TensorShapeProto):
        attr.list.shape.extend(value)
    else:
        attr.list.i.extend(value)


def run_graph(graph: Graph, feeds: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The outputs of a graph by its operators' references, whose results must have the inferred types."""

    def check(node: Node, results: tuple[np.ndarray, ...]) -> None:
        assert [type_of(r) for r in results] == [v.type for v in node.outputs], node

    return evaluate_graph(graph, feeds, dtype=None, watch=check)


def run_node(op: str, *inputs: np.ndarray, known: tuple[int, ...] = (), **attributes: Any) -> np.ndarray:
    """One operator's first output; inputs whose number is in `known` are constants, the others placeholders."""
    builder = GraphDefBuilder()
    names: list[str | np.ndarray] = []
    feeds = {}
    for i, array in enumerate(inputs):
        if i in known:
            names.append(array)
        else:
            names.append(builder.placeholder(f"x{i}", array.shape, DataType.of(array)))
            feeds[f"x{i}"] = array
    builder.node(op, "y", *names, **attributes)
    graph = builder.graph(input_names=tuple(feeds), output_names=("y",))
    return run_graph(graph, feeds)["y"]
