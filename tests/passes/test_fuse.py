"""Activations in primitive forms, epilogues, and elementwise chains."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from mace_cl.graph import Graph, Value
from mace_cl.graph.ops import (
    Add,
    Clip,
    Conv,
    Div,
    Erf,
    HardSigmoid,
    Max,
    Min,
    Mul,
    Neg,
    Relu,
    Sigmoid,
    Softplus,
    Sub,
    Tanh,
)
from mace_cl.passes.fuse_elementwise import FuseElementwise
from mace_cl.passes.fuse_epilogues import FuseEpilogues
from mace_cl.passes.recognise_activations import RecogniseActivations
from support.graphs import build, floats, operators, run_pass


def n(g: Graph, value: float) -> Value:
    return g.constant(np.asarray(value, np.float32))


def relu6(g: Graph, x: Value) -> Value:
    return g.add1(Clip(0.0, 6.0), [g.add1(Add(), [x, n(g, 3.0)])])


def prelu(g: Graph, x: Value) -> Value:
    slope = g.constant(np.abs(floats(4)))
    below = g.add1(Mul(), [g.add1(Neg(), [slope]), g.add1(Relu(), [g.add1(Neg(), [x])])])
    return g.add1(Add(), [g.add1(Relu(), [x]), below])


def gelu(g: Graph, x: Value) -> Value:
    erf = g.add1(Erf(), [g.add1(Div(), [x, n(g, math.sqrt(2.0))])])
    return g.add1(Mul(), [g.add1(Mul(), [x, g.add1(Add(), [erf, n(g, 1.0)])]), n(g, 0.5)])


FORMS: dict[str, tuple[Callable[[Graph, Value], Value], str]] = {
    "x * relu6(x + 3) / 6": (lambda g, x: g.add1(Div(), [g.add1(Mul(), [x, relu6(g, x)]), n(g, 6.0)]), "HardSwish"),
    "x * (relu6(x + 3) / 6)": (lambda g, x: g.add1(Mul(), [x, g.add1(Div(), [relu6(g, x), n(g, 6.0)])]), "HardSwish"),
    "x * hardsigmoid(x)": (lambda g, x: g.add1(Mul(), [g.add1(HardSigmoid(1 / 6, 0.5), [x]), x]), "HardSwish"),
    "relu6(x + 3) * (1 / 6)": (lambda g, x: g.add1(Mul(), [n(g, 1 / 6), relu6(g, x)]), "HardSigmoid"),
    "x * sigmoid(x)": (lambda g, x: g.add1(Mul(), [x, g.add1(Sigmoid(), [x])]), "Silu"),
    "x * sigmoid(1.702 x)": (
        lambda g, x: g.add1(Mul(), [x, g.add1(Sigmoid(), [g.add1(Mul(), [x, n(g, 1.702)])])]), "Silu",
    ),
    "x * tanh(softplus(x))": (
        lambda g, x: g.add1(Mul(), [x, g.add1(Tanh(), [g.add1(Softplus(), [x])])]), "Mish",
    ),
    "gelu": (gelu, "Gelu"),
    "min(max(x, -1), 2)": (lambda g, x: g.add1(Min(), [g.add1(Max(), [x, n(g, -1.0)]), n(g, 2.0)]), "Clip"),
    "max(x, 0.1 x)": (lambda g, x: g.add1(Max(), [x, g.add1(Mul(), [x, n(g, 0.1)])]), "LeakyRelu"),
    "relu(x) - a relu(-x)": (prelu, "PRelu"),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_activations_are_recognised(form: str) -> None:
    body, wanted = FORMS[form]
    graph = build((3, 4), body)
    run_pass(graph, RecogniseActivations(), rtol=1e-6)
    assert wanted in operators(graph)
    assert len(graph.nodes) <= 2  # PRelu keeps the node that computes its constant slope


NOT_FORMS: dict[str, Callable[[Graph, Value], Value]] = {
    "wrong bound": lambda g, x: g.add1(Div(), [g.add1(Mul(), [x, g.add1(Clip(0.0, 5.0), [x])]), n(g, 6.0)]),
    "other factor": lambda g, x: g.add1(Mul(), [g.add1(Tanh(), [x]), g.add1(Sigmoid(), [x])]),
    "constants over space": lambda g, x: g.add1(Max(), [x, g.constant(floats(4))]),
    "steep": lambda g, x: g.add1(Max(), [x, g.add1(Mul(), [x, n(g, 1.5)])]),
}


@pytest.mark.parametrize("form", NOT_FORMS)
def test_what_only_looks_like_an_activation_stays(form: str) -> None:
    graph = build((3, 4), NOT_FORMS[form])
    before = operators(graph)
    run_pass(graph, RecogniseActivations(), rtol=1e-6)
    assert operators(graph) == before


def conv(g: Graph, x: Value) -> Value:
    return g.add1(Conv(channels_last=True), [x, g.constant(floats(4, x.shape[-1], 1, 1)), g.constant(floats(4))])


def test_activation_residual_and_channel_operand_go_into_the_epilogue() -> None:
    def body(g: Graph, x: Value) -> Value:
        y = g.add1(Add(), [g.add1(Relu(), [conv(g, x)]), x])
        return g.add1(Sub(), [g.constant(floats(4)), g.add1(Mul(), [y, n(g, 0.5)])])

    graph = build((1, 3, 5, 4), body)
    run_pass(graph, FuseEpilogues())
    assert operators(graph) == ["Conv"]
    assert len(graph.nodes[0].inputs) == 5


def test_the_later_of_two_convolutions_takes_the_sum() -> None:
    def body(g: Graph, x: Value) -> Value:
        return g.add1(Relu(), [g.add1(Add(), [conv(g, x), conv(g, g.add1(Relu(), [conv(g, x)]))])])

    graph = build((1, 3, 5, 4), body)
    run_pass(graph, FuseEpilogues())
    assert operators(graph) == ["Conv", "Conv", "Conv"]


def test_a_result_that_is_used_elsewhere_is_kept() -> None:
    def body(g: Graph, x: Value) -> tuple[Value, ...]:
        y = conv(g, x)
        return g.add1(Relu(), [y]), y

    graph = build((1, 3, 5, 4), body)
    report = run_pass(graph, FuseEpilogues())
    assert operators(graph) == ["Conv", "Relu"]
    assert "used elsewhere" in report.refusals[0][1]


def test_an_operand_over_space_alone_stays_outside() -> None:
    graph = build((2, 3, 5, 4), lambda g, x: g.add1(Mul(), [conv(g, x), g.constant(floats(2, 3, 5, 1))]))
    run_pass(graph, FuseEpilogues())
    assert operators(graph) == ["Conv", "Mul"]


def test_chains_join_and_shared_operands_are_read_once() -> None:
    def body(g: Graph, x: Value) -> Value:
        y = g.add1(Sigmoid(), [g.add1(Mul(), [x, n(g, 2.0)])])
        return g.add1(Add(), [g.add1(Mul(), [y, x]), g.add1(Mul(), [x, x])])

    graph = build((3, 5), body)
    run_pass(graph, FuseElementwise())
    assert operators(graph) == ["FusedElementwise"]
    assert len(graph.nodes[0].inputs) == 1


def test_a_smaller_operand_is_not_computed_again_and_again() -> None:
    graph = build((1, 5), lambda g, x: g.add1(Add(), [g.constant(floats(3, 5)), g.add1(Tanh(), [x])]))
    run_pass(graph, FuseElementwise())
    assert operators(graph) == ["Tanh", "Add"]
