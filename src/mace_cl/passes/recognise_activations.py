"""Activations written out in primitive operators become one operator.

    clip(a x + b, 0, h) s, with s h = 1       HardSigmoid(a s, b s)
    x HardSigmoid(1/6, 1/2)                   HardSwish       (also with the 1/6 outside the product)
    x sigmoid(a x)                            Silu(a)
    x tanh(softplus(x))                       Mish
    x (1 + erf(x / sqrt 2)) / 2               Gelu
    min(max(x, l), h), and Relu for a bound   Clip(l, h)
    max(x, a x), 0 <= a <= 1                  LeakyRelu(a)
    relu(x) - a relu(-x)                      PRelu(a)

Constants are compared to one part in a million: exporters round them in float32. Must not fire where a product's two
factors come from different tensors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from mace_cl.graph import Graph, Node, Value
from mace_cl.graph.ops import (
    Add,
    Clip,
    Div,
    Erf,
    Gelu,
    HardSigmoid,
    HardSwish,
    LeakyRelu,
    Max,
    Min,
    Mish,
    Mul,
    Neg,
    PRelu,
    Relu,
    Sigmoid,
    Silu,
    Softplus,
    Sub,
    Tanh,
)
from mace_cl.graph.ops.base import Operator
from mace_cl.passes.base import Pass, Report, sweep
from mace_cl.passes.rewrite import replace_node, scalar_of

_TOLERANCE = 1e-6

Found = tuple[Operator, tuple[Value, ...]]


@dataclass(frozen=True)
class RecogniseActivations(Pass):
    """Find activations in their primitive forms."""

    name = "recognise-activations"

    def run(self, graph: Graph, report: Report) -> None:
        """Repeat: one form may be part of another."""

        def visit(node: Node) -> bool:
            if not node.outputs[0].dtype.is_float or not isinstance(node.op, _ROOTS):
                return False
            for form in _FORMS:
                found = form(node.output)
                if found is None or found[0] == node.op or found[1][0].type != node.output.type:
                    continue
                op, inputs = found
                report.changed(f"{node.name} is {op.describe()}")
                replace_node(graph, node, op, inputs)
                graph.prune()
                return True
            return False

        sweep(graph, visit)


_ROOTS = (Mul, Div, Add, Sub, Min, Max, Clip, Relu)


# -- taking values apart ----------------------------------------------------------------------------------------


def _same(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=_TOLERANCE)


def _op(value: Value) -> Operator | None:
    return None if value.producer is None else value.producer.op


def _pairs(value: Value, kind: type[Operator]) -> Iterator[tuple[Value, Value]]:
    """(first, second) and (second, first) of a commutative node of that kind."""
    node = value.producer
    if node is not None and isinstance(node.op, kind):
        yield node.input(0), node.input(1)
        yield node.input(1), node.input(0)


def _affine(value: Value) -> tuple[Value, float, float]:
    """(x, a, b) with value = a x + b, followed through sums and products with numbers."""
    node = value.producer
    if node is None or not isinstance(node.op, Add | Sub | Mul | Div | Neg):
        return value, 1.0, 0.0
    if isinstance(node.op, Neg):
        x, a, b = _affine(node.input(0))
        return x, -a, -b
    left, right = scalar_of(node.input(0)), scalar_of(node.input(1))
    if (left is None) == (right is None) or (isinstance(node.op, Div) and not right):
        return value, 1.0, 0.0
    number = right if left is None else left
    assert number is not None
    other = node.input(0) if left is None else node.input(1)
    if other.type != value.type:
        return value, 1.0, 0.0
    x, a, b = _affine(other)
    if isinstance(node.op, Mul):
        return x, a * number, b * number
    if isinstance(node.op, Div):
        return x, a / number, b / number
    if isinstance(node.op, Add):
        return x, a, b + number
    return (x, a, b - number) if left is None else (x, -a, number - b)


def _scaled(value: Value) -> tuple[Value, float]:
    """(x, a) with value = a x, where nothing is added."""
    x, a, b = _affine(value)
    return (x, a) if b == 0.0 else (value, 1.0)


def _limits(value: Value) -> tuple[Value, float, float] | None:
    """(x, low, high) with value = min(max(x, low), high)."""
    node = value.producer
    if node is None:
        return None
    if isinstance(node.op, Relu):
        low, high = 0.0, math.inf
    elif isinstance(node.op, Clip):
        low, high = node.op.low, node.op.high
    elif isinstance(node.op, Min | Max):
        number = next((n for v in node.inputs if (n := scalar_of(v)) is not None), None)
        if number is None:
            return None
        low, high = (number, math.inf) if isinstance(node.op, Max) else (-math.inf, number)
    else:
        return None
    x = next((v for v in node.inputs if v is not None and scalar_of(v) is None), None)
    if x is None or x.type != value.type:
        return None
    inner = _limits(x)
    if inner is None:
        return x, low, high
    x, inner_low, inner_high = inner
    return x, min(max(inner_low, low), high), min(max(inner_high, low), high)


def _hard_sigmoid_parts(value: Value) -> tuple[Value, float, float, float] | None:
    """(x, a, b, h) with value = clip(a x + b, 0, h)."""
    op = _op(value)
    if isinstance(op, HardSigmoid):
        assert value.producer is not None
        return value.producer.input(0), op.alpha, op.beta, 1.0
    found = _limits(value)
    if found is None or found[1] != 0.0 or not math.isfinite(found[2]) or found[2] <= 0:
        return None
    x, a, b = _affine(found[0])
    return x, a, b, found[2]


# -- forms ------------------------------------------------------------------------------------------------------


def _clip(value: Value) -> Found | None:
    node = value.producer
    found = _limits(value)
    if node is None or found is None:
        return None
    x, low, high = found
    # A lone Relu or Clip is as good as it gets; Min and Max of numbers, and chains, are not.
    if isinstance(node.op, Relu | Clip) and x is node.input(0):
        return None
    return Clip(low, high), (x,)


def _hard_sigmoid(value: Value) -> Found | None:
    inner, s = _scaled(value)
    found = _hard_sigmoid_parts(inner)
    if found is None or not _same(s * found[3], 1.0) or isinstance(_op(inner), HardSigmoid):
        return None
    x, a, b, _ = found
    if (a, b) == (1.0, 0.0):
        return None
    return HardSigmoid(a * s, b * s), (x,)


def _hard_swish(value: Value) -> Found | None:
    product, s = _scaled(value)
    for left, right in _pairs(product, Mul):
        x, s_left = _scaled(left)
        gate, s_right = _scaled(right)
        found = _hard_sigmoid_parts(gate)
        if found is None or found[0] is not x:
            continue
        scale = s * s_left * s_right
        _, a, b, h = found
        if _same(scale * h, 1.0) and _same(a * scale, 1 / 6) and _same(b * scale, 0.5):
            return HardSwish(), (x,)
    return None


def _silu(value: Value) -> Found | None:
    for x, gate in _pairs(value, Mul):
        if isinstance(_op(gate), Sigmoid):
            assert gate.producer is not None
            inner, a = _scaled(gate.producer.input(0))
            if inner is x:
                return Silu(a), (x,)
    return None


def _mish(value: Value) -> Found | None:
    for x, gate in _pairs(value, Mul):
        if isinstance(_op(gate), Tanh):
            assert gate.producer is not None
            soft = gate.producer.input(0).producer
            if soft is not None and isinstance(soft.op, Softplus) and soft.input(0) is x:
                return Mish(), (x,)
    return None


def _gelu(value: Value) -> Found | None:
    product, s = _scaled(value)
    for left, right in _pairs(product, Mul):
        x, s_left = _scaled(left)
        erf, a, b = _affine(right)
        if not isinstance(_op(erf), Erf):
            continue
        assert erf.producer is not None
        inner, slope = _scaled(erf.producer.input(0))
        scale = s * s_left
        if inner is x and _same(scale * a, 0.5) and _same(scale * b, 0.5) and _same(slope, math.sqrt(0.5)):
            return Gelu(), (x,)
    return None


def _leaky_relu(value: Value) -> Found | None:
    for x, other in _pairs(value, Max):
        inner, a = _scaled(other)
        if inner is x and other is not x and 0.0 <= a <= 1.0:
            return LeakyRelu(a), (x,)
    return None


def _prelu(value: Value) -> Found | None:
    """relu(x) + (-a) relu(-x), as Keras writes it; also relu(x) - a relu(-x)."""
    node = value.producer
    if node is None or not isinstance(node.op, Add | Sub):
        return None
    pairs = [(node.input(0), node.input(1))]
    if isinstance(node.op, Add):
        pairs.append((node.input(1), node.input(0)))
    for positive, scaled in pairs:
        if not isinstance(_op(positive), Relu) or positive.producer is None:
            continue
        x = positive.producer.input(0)
        for negative, slope in _pairs(scaled, Mul):
            if isinstance(node.op, Sub) and _relu_of_negated(negative) is x and slope.is_constant:
                return PRelu(), (x, slope)
            found = slope.producer
            if (
                isinstance(node.op, Add)
                and _relu_of_negated(negative) is x
                and found is not None
                and isinstance(found.op, Neg)
            ):
                return PRelu(), (x, found.input(0))
    return None


def _relu_of_negated(value: Value) -> Value | None:
    node = value.producer
    if node is None or not isinstance(node.op, Relu):
        return None
    inner = node.input(0).producer
    return inner.input(0) if inner is not None and isinstance(inner.op, Neg) else None


_FORMS: tuple[Callable[[Value], Found | None], ...] = (
    _hard_swish,
    _hard_sigmoid,
    _silu,
    _mish,
    _gelu,
    _leaky_relu,
    _prelu,
    _clip,
)
