"""Small graphs for tests of passes and lowering."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mace_cl.graph import Graph, Value
from mace_cl.graph.check import check
from mace_cl.graph.evaluate import evaluate_graph
from mace_cl.passes.base import Pass, Report
from mace_cl.types import DataType, TensorType

RNG = np.random.default_rng(11)


def floats(*shape: int) -> np.ndarray:
    """Seeded float32 numbers around 0."""
    return RNG.standard_normal(shape).astype(np.float32)


def build(shape: tuple[int, ...], body: Callable[[Graph, Value], Value | tuple[Value, ...]]) -> Graph:
    """A graph with one float32 input `x` and the outputs that `body` makes of it."""
    graph = Graph("test")
    x = graph.add_input("x", TensorType(DataType.FLOAT32, shape))
    made = body(graph, x)
    for i, value in enumerate(made if isinstance(made, tuple) else (made,)):
        graph.add_output(f"y{i}", value)
    return graph


def operators(graph: Graph) -> list[str]:
    """Names of the operators, in order."""
    return [node.op.name for node in graph.nodes]


def run_pass(graph: Graph, item: Pass, rtol: float = 1e-5) -> Report:
    """Run a pass; the graph must be legal and compute the same before and after."""
    check(graph)
    feeds = {n: RNG.standard_normal(v.shape) for n, v in graph.inputs.items()}
    before = evaluate_graph(graph, feeds)
    report = Report()
    item.run(graph, report)
    check(graph)
    after = evaluate_graph(graph, feeds)
    for name, wanted in before.items():
        scale = np.abs(wanted).max(initial=1e-30)
        assert np.abs(after[name] - wanted).max(initial=0.0) <= rtol * scale, name
    return report
