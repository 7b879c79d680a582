"""Channels last, and the transposes that it leaves."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mace_cl.graph import Graph, Value
from mace_cl.graph.ops import (
    Add,
    ArgMax,
    AveragePool,
    Concat,
    Conv,
    Mul,
    Pad,
    ReduceMean,
    Relu,
    Reshape,
    Resize,
    Sigmoid,
    Slice,
    Softmax,
    Split,
    Tile,
    Transpose,
)
from mace_cl.passes.channels_last import ChannelsLast
from mace_cl.passes.merge_equal import MergeEqual
from mace_cl.passes.sink_transposes import SinkTransposes
from support.graphs import build, floats, operators, run_pass


def conv(g: Graph, x: Value, channels: int = 4) -> Value:
    return g.add1(Conv(pads=((1, 1), (1, 1))), [x, g.constant(floats(channels, x.shape[1], 3, 3))])


def squeeze_excite(g: Graph, x: Value) -> Value:
    y = conv(g, x)
    gate = g.add1(Sigmoid(), [conv(g, g.add1(ReduceMean((2, 3)), [y]))])
    return conv(g, g.add1(Mul(), [y, gate]))


def classifier(g: Graph, x: Value) -> Value:
    return g.add1(Reshape((2, 4)), [g.add1(ReduceMean((2, 3)), [conv(g, x)])])


BODIES: dict[str, tuple[Callable[[Graph, Value], Value], int]] = {
    "chain": (lambda g, x: conv(g, g.add1(Relu(), [conv(g, x)])), 2),
    "residual": (lambda g, x: (lambda y: conv(g, g.add1(Add(), [conv(g, y), y])))(conv(g, x)), 2),
    "bias of another rank": (lambda g, x: conv(g, g.add1(Add(), [conv(g, x), g.constant(floats(4, 1, 1))])), 2),
    "squeeze and excite": (squeeze_excite, 2),
    "classifier": (classifier, 1),
    "concat": (lambda g, x: conv(g, g.add1(Concat(1), [conv(g, x), conv(g, x, 3)])), 2),
    "slice": (lambda g, x: conv(g, g.add1(Slice((0, 1, 0, 2), (2, 3, 5, 4), (1, 1, 1, 1)), [conv(g, x)])), 2),
    "pad": (lambda g, x: conv(g, g.add1(Pad(((0, 0), (0, 2), (1, 0), (0, 0))), [conv(g, x)])), 2),
    "tile": (lambda g, x: conv(g, g.add1(Tile((1, 2, 1, 3)), [conv(g, x)])), 2),
    "resize": (lambda g, x: conv(g, g.add1(Resize((2, 4, 10, 6), (1.0, 1.0, 2.0, 1.0)), [conv(g, x)])), 2),
    "softmax": (lambda g, x: conv(g, g.add1(Softmax(1), [conv(g, x)])), 2),
    "mean without keeping": (lambda g, x: g.add1(ReduceMean((2, 3), keepdims=False), [conv(g, x)]), 1),
    "argmax": (lambda g, x: g.add1(ArgMax(1, keepdims=False), [conv(g, x)]), 1),
    "pool": (lambda g, x: conv(g, g.add1(AveragePool((2, 2), (2, 2)), [conv(g, x)])), 2),
}


@pytest.mark.parametrize("name", BODIES)
def test_transposes_stay_at_the_ends_only(name: str) -> None:
    body, limit = BODIES[name]
    graph = build((2, 3, 5, 6), body)
    for item in (ChannelsLast(), SinkTransposes(), MergeEqual()):
        run_pass(graph, item)
    assert operators(graph).count("Transpose") <= limit, operators(graph)
    assert all(getattr(n.op, "channels_last", True) for n in graph.nodes)


def test_split_sinks_with_each_of_its_outputs() -> None:
    def body(g: Graph, x: Value) -> Value:
        a, b = g.add(Split(1, (1, 3)), [conv(g, x)])
        return g.add1(Concat(1), [conv(g, a), conv(g, b)])

    graph = build((2, 3, 5, 6), body)
    for item in (ChannelsLast(), SinkTransposes(), MergeEqual()):
        run_pass(graph, item)
    assert operators(graph).count("Transpose") <= 2


def test_a_reshape_that_drops_a_dimension_of_one_lets_it_through() -> None:
    def body(g: Graph, x: Value) -> Value:
        y = g.add1(Reshape((2, 4, 6)), [conv(g, x)])
        return g.add1(Transpose((0, 2, 1)), [y])

    graph = build((2, 3, 1, 6), body)
    for item in (ChannelsLast(), SinkTransposes()):
        run_pass(graph, item)
    assert operators(graph).count("Transpose") <= 1


def test_a_reshape_that_merges_dimensions_stops_it() -> None:
    graph = build((2, 3, 5, 6), lambda g, x: g.add1(Reshape((2, 4, 30)), [conv(g, x)]))
    run_pass(graph, ChannelsLast())
    report = run_pass(graph, SinkTransposes())
    assert operators(graph)[-2:] == ["Transpose", "Reshape"]
    assert any("merges or splits" in reason for _, reason in report.refusals)
