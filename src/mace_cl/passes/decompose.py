"""Operators without kernels of their own become operators that have them.

Normalisations become means and elementwise arithmetic, quantisation becomes arithmetic and casts, ReduceLogSumExp is
shifted by its maximum, Hardmax compares indices, local response normalisation is an average pool over the channels. The
elementwise chains are fused again afterwards.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mace_cl.graph import Graph, Node, Value
from mace_cl.graph.ops import (
    LRN,
    Add,
    ArgMax,
    AveragePool,
    BatchNormalization,
    Cast,
    Clip,
    DequantizeLinear,
    Div,
    Equal,
    Exp,
    GroupNormalization,
    Hardmax,
    InstanceNormalization,
    LayerNormalization,
    Log,
    LpNormalization,
    Max,
    MeanVarianceNormalization,
    Mul,
    Pow,
    QuantizeLinear,
    ReduceLogSumExp,
    ReduceMax,
    ReduceMean,
    ReduceSum,
    Reshape,
    RMSNormalization,
    Round,
    Rsqrt,
    Sqrt,
    Square,
    Sub,
    Transpose,
)
from mace_cl.graph.ops.base import Operator
from mace_cl.passes.base import Pass, Report
from mace_cl.types import DataType, Shape


@dataclass(frozen=True)
class Decompose(Pass):
    """Write operators in terms of others."""

    name = "decompose"

    def run(self, graph: Graph, report: Report) -> None:
        """Every node once."""
        for node in list(graph.nodes):
            rule = _RULES.get(type(node.op))
            if rule is None or (isinstance(node.op, BatchNormalization) and _has_constant_parameters(node)):
                continue  # constant batch normalisation goes into weights: `fold-batch-norm`
            graph.replace(node.output, rule(_Builder(graph, node)))
            graph.remove(node)
            report.changed(f"{node.name} ({node.op.name}) written out")


class _Builder:
    """Adds nodes in front of the one that goes."""

    def __init__(self, graph: Graph, node: Node) -> None:
        self.graph = graph
        self.node = node

    @property
    def x(self) -> Value:
        """The first input."""
        return self.node.input(0)

    def make(self, op: Operator, *inputs: Value) -> Value:
        """A node."""
        return self.graph.add1(op, inputs, name=f"{self.node.name}.{op.name}", before=self.node)

    def number(self, value: float, like: Value) -> Value:
        """A constant without dimensions, in another value's type."""
        return self.graph.constant(np.asarray(value, like.dtype.numpy), f"{self.node.name}.number")

    def reshape(self, value: Value, shape: Shape) -> Value:
        """The value in another shape."""
        return value if value.shape == shape else self.make(Reshape(shape), value)

    def along(self, index: int, axis: int) -> Value | None:
        """Input `index`, a vector, shaped to broadcast along a dimension of x; None where it is absent."""
        value = self.node.inputs[index] if index < len(self.node.inputs) else None
        if value is None:
            return None
        shape = [1] * self.x.type.rank
        shape[axis] = value.type.elements
        return self.reshape(value, tuple(shape))

    def normalised(self, x: Value, axes: tuple[int, ...], epsilon: float) -> Value:
        """(x - mean) / sqrt(variance + epsilon)."""
        centred = self.make(Sub(), x, self.make(ReduceMean(axes), x))
        variance = self.make(ReduceMean(axes), self.make(Square(), centred))
        return self.make(Mul(), centred, self.make(Rsqrt(), self.make(Add(), variance, self.number(epsilon, x))))

    def affine(self, x: Value, scale: Value | None, bias: Value | None) -> Value:
        """x scale + bias, where they are given."""
        scaled = x if scale is None else self.make(Mul(), x, scale)
        return scaled if bias is None else self.make(Add(), scaled, bias)


def _has_constant_parameters(node: Node) -> bool:
    return all(v is not None and v.is_constant for v in node.inputs[1:])


def _batch(b: _Builder) -> Value:
    op = b.node.op
    assert isinstance(op, BatchNormalization)
    axis = b.x.type.rank - 1 if op.channels_last else 1
    scale, bias, mean, variance = (b.along(i, axis) for i in range(1, 5))
    assert mean is not None
    assert variance is not None
    spread = b.make(Rsqrt(), b.make(Add(), variance, b.number(op.epsilon, b.x)))
    return b.affine(b.make(Mul(), b.make(Sub(), b.x, mean), spread), scale, bias)


def _instance(b: _Builder) -> Value:
    op = b.node.op
    assert isinstance(op, InstanceNormalization)
    rank = b.x.type.rank
    axes = tuple(range(1, rank - 1) if op.channels_last else range(2, rank))
    axis = rank - 1 if op.channels_last else 1
    return b.affine(b.normalised(b.x, axes, op.epsilon), b.along(1, axis), b.along(2, axis))


def _group(b: _Builder) -> Value:
    op = b.node.op
    assert isinstance(op, GroupNormalization)
    shape, rank = b.x.shape, b.x.type.rank
    axis = rank - 1 if op.channels_last else 1
    grouped = (*shape[:axis], op.groups, shape[axis] // op.groups, *shape[axis + 1 :])
    axes = tuple(d for d in range(1, rank + 1) if d != axis)
    split = b.reshape(b.x, grouped)
    joined = b.reshape(b.normalised(split, axes, op.epsilon), shape)
    return b.affine(joined, b.along(1, axis), b.along(2, axis))


def _layer(b: _Builder) -> Value:
    op = b.node.op
    assert isinstance(op, LayerNormalization)
    axes = tuple(range(op.axis % b.x.type.rank, b.x.type.rank))
    inputs = [*b.node.inputs, None, None]
    return b.affine(b.normalised(b.x, axes, op.epsilon), inputs[1], inputs[2])


def _rms(b: _Builder) -> Value:
    op = b.node.op
    assert isinstance(op, RMSNormalization)
    axes = tuple(range(op.axis % b.x.type.rank, b.x.type.rank))
    power = b.make(ReduceMean(axes), b.make(Square(), b.x))
    scaled = b.make(Mul(), b.x, b.make(Rsqrt(), b.make(Add(), power, b.number(op.epsilon, b.x))))
    return b.affine(scaled, b.node.inputs[1] if len(b.node.inputs) > 1 else None, None)


def _mean_variance(b: _Builder) -> Value:
    op = b.node.op
    assert isinstance(op, MeanVarianceNormalization)
    centred = b.make(Sub(), b.x, b.make(ReduceMean(op.axes), b.x))
    deviation = b.make(Sqrt(), b.make(ReduceMean(op.axes), b.make(Square(), centred)))
    return b.make(Div(), centred, b.make(Add(), deviation, b.number(1e-9, b.x)))


def _lp(b: _Builder) -> Value:
    op = b.node.op
    assert isinstance(op, LpNormalization)
    axes = (op.axis % b.x.type.rank,)
    if op.p == 1:
        negative = b.make(Sub(), b.number(0.0, b.x), b.x)
        total = b.make(ReduceSum(axes), b.make(Max(), b.x, negative))
    else:
        total = b.make(ReduceSum(axes), b.make(Square(), b.x))
    # A norm of 0 belongs to a vector of zeros, which stays one.
    least = max(op.epsilon, float(np.finfo(np.float32).tiny))
    bounded = b.make(Max(), total, b.number(least, b.x))
    return b.make(Div(), b.x, bounded) if op.p == 1 else b.make(Mul(), b.x, b.make(Rsqrt(), bounded))


def _lrn(b: _Builder) -> Value:
    op = b.node.op
    assert isinstance(op, LRN)
    rank = b.x.type.rank
    last = op.channels_last
    to_last = tuple(range(rank)) if last else (0, *range(2, rank), 1)
    x = b.x if last else b.make(Transpose(to_last), b.x)
    channels = x.shape[-1]
    # The channels become the one spatial dimension of a pool.
    rows = b.reshape(b.make(Square(), x), (math.prod(x.shape[:-1]), channels, 1))
    pads = (((op.size - 1) // 2, op.size // 2),)
    pool = AveragePool((op.size,), (1,), pads, (1,), count_include_pad=True, uncounted=(0,), channels_last=True)
    mean = b.reshape(b.make(pool, rows), x.shape)
    base = b.make(Add(), b.make(Mul(), mean, b.number(op.alpha, x)), b.number(op.bias, x))
    result = b.make(Mul(), x, b.make(Pow(), base, b.number(-op.beta, x)))
    if last:
        return result
    return b.make(Transpose((0, rank - 1, *range(1, rank - 1))), result)


def _log_sum_exp(b: _Builder) -> Value:
    op = b.node.op
    assert isinstance(op, ReduceLogSumExp)
    peak = b.make(ReduceMax(op.axes), b.x)
    # An infinite peak would give inf - inf.
    limit = float(np.finfo(b.x.dtype.value).max)
    bounded = b.make(Clip(-limit, limit), peak)
    total = b.make(ReduceSum(op.axes), b.make(Exp(), b.make(Sub(), b.x, bounded)))
    result = b.make(Add(), b.make(Log(), total), bounded)
    return b.reshape(result, b.node.output.shape)


def _hardmax(b: _Builder) -> Value:
    op = b.node.op
    assert isinstance(op, Hardmax)
    axis = op.axis % b.x.type.rank
    best = b.make(ArgMax(axis), b.x)
    shape = [1] * b.x.type.rank
    shape[axis] = b.x.shape[axis]
    places = b.graph.constant(np.arange(b.x.shape[axis], dtype=np.int64).reshape(shape), f"{b.node.name}.places")
    return b.make(Cast(b.x.dtype), b.make(Equal(), places, best))


def _parameters(b: _Builder, axis: int) -> tuple[Value, Value | None]:
    """Scale and zero point, shaped to broadcast along x's axis."""
    rank = max(b.x.type.rank, 1)
    shaped: list[Value | None] = []
    for value in (b.node.inputs[1], b.node.inputs[2] if len(b.node.inputs) > 2 else None):
        shape = [1] * b.x.type.rank
        if value is not None and value.type.elements > 1:
            shape[axis % rank] = value.type.elements
        shaped.append(None if value is None else b.reshape(value, tuple(shape)))
    scale = shaped[0]
    assert scale is not None
    return scale, shaped[1]


def _quantize(b: _Builder) -> Value:
    op = b.node.op
    assert isinstance(op, QuantizeLinear)
    scale, zero = _parameters(b, op.axis)
    x = b.make(Round(), b.make(Div(), b.x, scale))
    if zero is not None:
        x = b.make(Add(), x, b.make(Cast(x.dtype), zero))
    limits = np.iinfo(op.to.value)
    return b.make(Cast(op.to), b.make(Clip(float(limits.min), float(limits.max)), x))


def _dequantize(b: _Builder) -> Value:
    op = b.node.op
    assert isinstance(op, DequantizeLinear)
    scale, zero = _parameters(b, op.axis)
    # Differences of bytes are taken as wider integers; those of int32 may need 33 bits.
    wide = DataType.INT64 if b.x.dtype.itemsize >= 4 else DataType.INT32
    x = b.x
    if zero is not None:
        x = b.make(Sub(), b.make(Cast(wide), x), b.make(Cast(wide), zero))
    return b.make(Mul(), b.make(Cast(scale.dtype), x), scale)


_RULES: dict[type[Operator], Callable[[_Builder], Value]] = {
    BatchNormalization: _batch,
    InstanceNormalization: _instance,
    GroupNormalization: _group,
    LayerNormalization: _layer,
    RMSNormalization: _rms,
    MeanVarianceNormalization: _mean_variance,
    LpNormalization: _lp,
    LRN: _lrn,
    ReduceLogSumExp: _log_sum_exp,
    Hardmax: _hardmax,
    QuantizeLinear: _quantize,
    DequantizeLinear: _dequantize,
}


def decomposed_operators() -> frozenset[str]:
    """Names of the operators that are written out."""
    return frozenset(op.__name__ for op in _RULES)
