"""The whole network computed with the operators' NumPy references: the truth that every device is tested on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from mace_cl.errors import InputError
from mace_cl.graph.core import Graph, Node, Value
from mace_cl.graph.fold import evaluate
from mace_cl.graph.ops import Cast
from mace_cl.graph.ops.base import Operator
from mace_cl.types import DataType

Watcher = Callable[[Node, tuple[np.ndarray, ...]], None]


def evaluate_graph(
    graph: Graph,
    inputs: Mapping[str, np.ndarray],
    *,
    dtype: type[np.floating] | None = np.float64,
    watch: Watcher | None = None,
) -> dict[str, np.ndarray]:
    """Outputs of the network by name.

    Args:
        graph: The network.
        inputs: An array for each input.
        dtype: Type that every floating-point tensor is computed in; None for the network's own types.
        watch: Called with each node and its results.

    Raises:
        InputError: An input is missing, unknown or of the wrong shape.
    """
    _check_inputs(graph, inputs)
    known: dict[int, np.ndarray] = {id(v): widened(inputs[n], dtype) for n, v in graph.inputs.items()}
    uses = _uses(graph)

    def array(value: Value) -> np.ndarray:
        if value.data is not None:
            return widened(value.data, dtype)
        return known[id(value)]

    for node in graph.nodes:
        operands = [None if v is None else array(v) for v in node.inputs]
        results = tuple(widened(a, dtype) for a in evaluate(_widened_op(node.op, dtype), operands))
        known.update((id(v), a) for v, a in zip(node.outputs, results, strict=True))
        if watch is not None:
            watch(node, results)
        # Arrays go when their last reader has run, so that a large network fits into memory.
        for value in node.inputs:
            if value is not None and value.data is None:
                uses[id(value)] -= 1
                if not uses[id(value)]:
                    known.pop(id(value), None)
    return {name: array(value) for name, value in graph.outputs.items()}


def widened(array: np.ndarray, dtype: type[np.floating] | None) -> np.ndarray:
    """A floating-point array in the type of the computation."""
    return array.astype(dtype) if dtype is not None and array.dtype.kind == "f" and array.dtype != dtype else array


def _widened_op(op: Operator, dtype: type[np.floating] | None) -> Operator:
    """Casts between floating-point types would round in the middle of the computation."""
    if dtype is not None and isinstance(op, Cast) and op.to.is_float:
        return replace(op, to=DataType(np.dtype(dtype).name))
    return op


def _uses(graph: Graph) -> dict[int, int]:
    uses: dict[int, int] = {}
    for node in graph.nodes:
        for value in node.inputs:
            if value is not None:
                uses[id(value)] = uses.get(id(value), 0) + 1
    for value in graph.outputs.values():
        uses[id(value)] = uses.get(id(value), 0) + 1
    return uses


def _check_inputs(graph: Graph, inputs: Mapping[str, np.ndarray]) -> None:
    odd = [n for n in inputs if n not in graph.inputs] + [n for n in graph.inputs if n not in inputs]
    if odd:
        raise InputError(f"input {odd[0]!r} is unknown or missing; the network reads {', '.join(graph.inputs)}")
    for name, value in graph.inputs.items():
        if tuple(inputs[name].shape) != value.shape:
            raise InputError(f"input {name!r} has shape {inputs[name].shape}, not {value.shape}")
