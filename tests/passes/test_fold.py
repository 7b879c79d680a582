"""Passes that fold constants, batch normalisation, scales and padding."""

from __future__ import annotations

import numpy as np
import pytest

from mace_cl.graph import Graph, Value
from mace_cl.graph.ops import (
    Add,
    AveragePool,
    BatchNormalization,
    Conv,
    ConvTranspose,
    Div,
    Identity,
    MatMul,
    MaxPool,
    Mul,
    Pad,
    Relu,
    Reshape,
    Sub,
    Transpose,
)
from mace_cl.passes.fold_batch_norm import FoldBatchNorm
from mace_cl.passes.fold_constants import FoldConstants
from mace_cl.passes.fold_scales import FoldScales
from mace_cl.passes.fuse_pads import FusePads
from mace_cl.passes.merge_equal import MergeEqual
from mace_cl.passes.remove_dead import RemoveDead
from mace_cl.passes.remove_identities import RemoveIdentities
from support.graphs import build, floats, operators, run_pass

PAD1 = ((1, 1), (1, 1))


def batch_norm(g: Graph, x: Value, channels: int) -> Value:
    parameters = [floats(channels), floats(channels), floats(channels), np.abs(floats(channels)) + 0.5]
    return g.add1(BatchNormalization(), [x, *(g.constant(p) for p in parameters)])


def test_batch_norm_goes_into_the_convolution() -> None:
    graph = build(
        (1, 3, 5, 5), lambda g, x: batch_norm(g, g.add1(Conv(pads=PAD1), [x, g.constant(floats(4, 3, 3, 3))]), 4)
    )
    run_pass(graph, FoldBatchNorm())
    assert operators(graph) == ["Conv"]


def test_batch_norm_goes_into_the_transposed_convolution_with_groups() -> None:
    op = ConvTranspose(strides=(2, 2), groups=2)
    graph = build((1, 4, 5, 5), lambda g, x: batch_norm(g, g.add1(op, [x, g.constant(floats(4, 3, 2, 2))]), 6))
    run_pass(graph, FoldBatchNorm())
    assert operators(graph) == ["ConvTranspose"]


def test_batch_norm_becomes_arithmetic_where_the_sum_is_used_elsewhere() -> None:
    def body(g: Graph, x: Value) -> tuple[Value, ...]:
        y = g.add1(Conv(pads=PAD1), [x, g.constant(floats(3, 3, 3, 3))])
        return batch_norm(g, y, 3), y

    graph = build((1, 3, 5, 5), body)
    report = run_pass(graph, FoldBatchNorm())
    assert operators(graph) == ["Conv", "Mul", "Add"]
    assert "used elsewhere" in report.refusals[0][1]


@pytest.mark.parametrize("op", [Add(), Sub(), Mul(), Div()])
@pytest.mark.parametrize("first", [True, False])
def test_scales_and_shifts_go_into_weights(op: Add | Sub | Mul | Div, first: bool) -> None:
    def body(g: Graph, x: Value) -> Value:
        y = g.add1(Conv(), [x, g.constant(floats(4, 3, 1, 1)), g.constant(floats(4))])
        c = g.constant(np.abs(floats(4, 1, 1)) + 0.5)
        return g.add1(op, [c, y] if first else [y, c])

    graph = build((1, 3, 5, 5), body)
    run_pass(graph, FoldScales())
    assert operators(graph) == (["Conv", "Div"] if first and isinstance(op, Div) else ["Conv"])


def test_scales_of_matrix_products() -> None:
    def body(g: Graph, x: Value) -> Value:
        y = g.add1(MatMul(transpose_b=True), [x, g.constant(floats(4, 6))])
        return g.add1(Add(), [g.add1(Mul(), [y, g.constant(floats(4))]), g.constant(floats(4))])

    graph = build((2, 6), body)
    run_pass(graph, FoldScales())
    assert operators(graph) == ["MatMul"]


def test_a_constant_over_space_stays() -> None:
    def body(g: Graph, x: Value) -> Value:
        return g.add1(Mul(), [g.add1(Conv(), [x, g.constant(floats(4, 3, 1, 1))]), g.constant(floats(5, 5))])

    graph = build((1, 3, 5, 5), body)
    report = run_pass(graph, FoldScales())
    assert operators(graph) == ["Conv", "Mul"]
    assert "other dimensions" in report.refusals[0][1]


@pytest.mark.parametrize(
    ("pad", "user", "fuses"),
    [
        (Pad(((0, 0), (0, 0), (1, 2), (0, 3))), Conv(), True),
        (Pad(((0, 0), (0, 0), (1, 2), (0, 3)), value=1.0), Conv(), False),
        (Pad(((0, 0), (0, 0), (1, 2), (0, 3)), mode="reflect"), Conv(), False),
        (Pad(((0, 0), (0, 0), (-1, 2), (0, 3))), Conv(), False),
        (Pad(((0, 1), (0, 0), (1, 2), (0, 3))), Conv(), False),
    ],
)
def test_pads_of_convolutions(pad: Pad, user: Conv, fuses: bool) -> None:
    graph = build((1, 3, 6, 6), lambda g, x: g.add1(user, [g.add1(pad, [x]), g.constant(floats(4, 3, 3, 3))]))
    run_pass(graph, FusePads())
    assert operators(graph) == (["Conv"] if fuses else ["Pad", "Conv"])


@pytest.mark.parametrize(("counts", "fuses"), [(True, True), (False, False)])
def test_pads_of_average_pools(counts: bool, fuses: bool) -> None:
    pool = AveragePool((3, 3), count_include_pad=counts)
    graph = build((1, 3, 6, 6), lambda g, x: g.add1(pool, [g.add1(Pad(((0, 0), (0, 0), (1, 1), (1, 1))), [x])]))
    run_pass(graph, FusePads())
    assert operators(graph) == (["AveragePool"] if fuses else ["Pad", "AveragePool"])


def test_pads_of_max_pools_stay() -> None:
    graph = build(
        (1, 3, 6, 6), lambda g, x: g.add1(MaxPool((3, 3)), [g.add1(Pad(((0, 0), (0, 0), (1, 1), (1, 1))), [x])])
    )
    run_pass(graph, FusePads())
    assert operators(graph) == ["Pad", "MaxPool"]


def test_constants_fold_through_chains_and_dead_nodes_go() -> None:
    def body(g: Graph, x: Value) -> Value:
        c = g.add1(Reshape((2, 2)), [g.add1(Relu(), [g.constant(floats(4))])])
        g.add1(Relu(), [x])
        return g.add1(Add(), [x, c])

    graph = build((2, 2), body)
    run_pass(graph, RemoveDead())
    run_pass(graph, FoldConstants())
    assert operators(graph) == ["Add"]


def test_a_large_result_is_not_folded() -> None:
    graph = build((2, 2), lambda g, x: g.add1(Add(), [x, g.add1(Relu(), [g.constant(floats(2, 2))])]))
    report = run_pass(graph, FoldConstants(max_bytes=15))
    assert operators(graph) == ["Relu", "Add"]
    assert report.refusals


def test_identities_vanish() -> None:
    def body(g: Graph, x: Value) -> Value:
        y = g.add1(Transpose((0, 1)), [g.add1(Identity(), [x])])
        y = g.add1(Pad(((0, 0), (0, 0))), [g.add1(Reshape((3, 2)), [g.add1(Reshape((6,)), [y])])])
        return g.add1(Relu(), [y])

    graph = build((2, 3), body)
    run_pass(graph, RemoveIdentities())
    assert operators(graph) == ["Reshape", "Relu"]


def test_an_output_that_is_the_input_stays_one() -> None:
    graph = build((2, 3), lambda g, x: g.add1(Identity(), [x]))
    run_pass(graph, RemoveIdentities())
    assert graph.outputs["y0"] is graph.inputs["x"]


def test_equal_nodes_become_one() -> None:
    def body(g: Graph, x: Value) -> Value:
        a, b = (g.add1(Relu(), [g.add1(Transpose((1, 0)), [x])]) for _ in range(2))
        return g.add1(Add(), [a, b])

    graph = build((2, 3), body)
    run_pass(graph, MergeEqual())
    assert operators(graph) == ["Transpose", "Relu", "Add"]
