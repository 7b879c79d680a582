"""Small ONNX models for tests, and what ONNX Runtime computes for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from onnx import ModelProto, NodeProto, helper, numpy_helper

from mace_cl.graph import Graph
from mace_cl.graph.evaluate import evaluate_graph
from mace_cl.importers.onnx import import_proto
from mace_cl.importers.options import ImportOptions

IR_VERSION = 10
OPSET = 21


@dataclass(frozen=True)
class OneNode:
    """A model of one node, and arrays for its inputs."""

    model: ModelProto
    feeds: dict[str, np.ndarray]


def info(name: str, array: np.ndarray) -> Any:
    """A ValueInfoProto with the array's type and shape."""
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)


def model_of(
    nodes: Sequence[NodeProto],
    inputs: Mapping[str, np.ndarray],
    outputs: Sequence[str],
    constants: Mapping[str, np.ndarray] | None = None,
    *,
    opset: int = OPSET,
    **more: Any,
) -> ModelProto:
    """A model of several nodes; `inputs` give types and shapes."""
    graph = helper.make_graph(
        list(nodes),
        "model",
        [info(n, a) for n, a in inputs.items()],
        [helper.make_empty_tensor_value_info(n) for n in outputs],
        [numpy_helper.from_array(a, n) for n, a in (constants or {}).items()],
    )
    more.setdefault("opset_imports", [helper.make_opsetid("", opset)])
    return helper.make_model(graph, ir_version=IR_VERSION, **more)


def one_node(
    op_type: str,
    inputs: Sequence[np.ndarray | None],
    *,
    opset: int = OPSET,
    n_outputs: int = 1,
    n_fed: int = 1,
    **attributes: Any,
) -> OneNode:
    """A model of one node; the first `n_fed` inputs are inputs of the model, the others initialisers."""
    names = [f"x{i}" if a is not None else "" for i, a in enumerate(inputs)]
    outputs = [f"y{i}" for i in range(n_outputs)]
    node = helper.make_node(op_type, names, outputs, name="tested", **attributes)
    present = {n: a for n, a in zip(names, inputs, strict=True) if a is not None}
    fed = {n: present.pop(n) for n in names[:n_fed] if n}
    return OneNode(model_of([node], fed, outputs, present, opset=opset), fed)


def imported(case: OneNode, options: ImportOptions | None = None) -> Graph:
    """The graph of a model."""
    return import_proto(case.model, options)


def evaluated(case: OneNode) -> list[np.ndarray]:
    """What the imported graph's references compute, in the model's own types."""
    graph = imported(case)
    return [*evaluate_graph(graph, {n: case.feeds[n] for n in graph.inputs}, dtype=None).values()]
