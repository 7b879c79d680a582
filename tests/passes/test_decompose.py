"""Operators written out in terms of others compute the same."""

from __future__ import annotations

import numpy as np
import pytest

from mace_cl.graph import Graph, Value
from mace_cl.graph.evaluate import evaluate_graph
from mace_cl.graph.ops import (
    LRN,
    Abs,
    BatchNormalization,
    DequantizeLinear,
    GroupNormalization,
    Hardmax,
    InstanceNormalization,
    LayerNormalization,
    LpNormalization,
    MeanVarianceNormalization,
    QuantizeLinear,
    ReduceLogSumExp,
    ReduceMax,
    RMSNormalization,
)
from mace_cl.graph.ops.base import Operator
from mace_cl.passes.base import Report
from mace_cl.passes.decompose import Decompose
from mace_cl.types import DataType
from support.graphs import build, floats, operators, run_pass

CASES: list[tuple[Operator, int]] = [
    (InstanceNormalization(), 2),
    (InstanceNormalization(channels_last=True), 2),
    (GroupNormalization(2), 2),
    (GroupNormalization(3, channels_last=True), 2),
    (LayerNormalization(-1), 2),
    (LayerNormalization(-1), 0),
    (RMSNormalization(-1), 1),
    (MeanVarianceNormalization((0, 2, 3)), 0),
    (LpNormalization(1, 1), 0),
    (LpNormalization(-1, 2), 0),
    (LpNormalization(-1, 2, 1e-6), 0),
    (LRN(3, 0.5, 0.75, 1.5), 0),
    (LRN(4, 0.5, 0.75, 1.5, True), 0),
    (ReduceLogSumExp((1, 3)), 0),
    (ReduceLogSumExp((2,), False), 0),
    (Hardmax(1), 0),
    (Hardmax(-1), 0),
]


@pytest.mark.parametrize(("op", "vectors"), CASES, ids=lambda c: c.describe() if isinstance(c, Operator) else str(c))
def test_same_result(op: Operator, vectors: int) -> None:
    graph = build((2, 6, 5, 6), lambda g, x: g.add1(op, [x, *(g.constant(floats(6)) for _ in range(vectors))]))
    run_pass(graph, Decompose(), rtol=1e-7)
    assert op.name not in operators(graph)


@pytest.mark.parametrize("to", [DataType.UINT8, DataType.INT8, DataType.INT16])
@pytest.mark.parametrize("axis", [None, 1])
def test_quantisation_there_and_back(to: DataType, axis: int | None) -> None:
    def body(g: Graph, x: Value) -> tuple[Value, ...]:
        shape = () if axis is None else (x.shape[axis],)
        scale = g.constant((np.abs(np.ones(shape) + 0.1 * floats(*shape)) * 0.02).astype(np.float32))
        zero = g.constant(np.full(shape, 7, to.numpy))
        q = g.add1(QuantizeLinear(axis or 0, to), [x, scale, zero])
        return q, g.add1(DequantizeLinear(axis or 0), [q, scale, zero])

    graph = build((2, 3, 4), body)
    run_pass(graph, Decompose(), rtol=1e-7)
    assert not {"QuantizeLinear", "DequantizeLinear"} & set(operators(graph))


@pytest.mark.parametrize("last", [False, True])
def test_batch_normalisation_with_parameters_that_are_computed(last: bool) -> None:
    def body(g: Graph, x: Value) -> Value:
        vectors = [g.add1(Abs(), [g.add1(ReduceMax(axes, False), [x])]) for axes in [(0, 1, 2)] * 4]
        return g.add1(BatchNormalization(channels_last=last), [x, *vectors])

    graph = build((2, 6, 5, 6), body)
    run_pass(graph, Decompose(), rtol=1e-7)
    assert "BatchNormalization" not in operators(graph)


def test_an_infinite_element_does_not_spoil_a_log_sum_exp() -> None:
    graph = build((2, 3), lambda g, x: g.add1(ReduceLogSumExp((1,)), [x]))
    Decompose().run(graph, Report())
    x = np.array([[-np.inf, 0.0, 1.0], [-np.inf, -np.inf, -np.inf]], np.float32)
    got = evaluate_graph(graph, {"x": x}, dtype=None)["y0"]
    assert np.isclose(got[0, 0], np.log(1 + np.e))
    assert got[1, 0] == -np.inf
