"""Activation functions."""

from __future__ import annotations

import math

from mace_cl.graph import Value, ops
from mace_cl.graph.ops import Operator
from mace_cl.importers.onnx.context import Context
from mace_cl.importers.onnx.registry import handles

_PLAIN: dict[str, Operator] = {
    op.name: op
    for op in (ops.HardSwish(), ops.Mish(), ops.Relu(), ops.Sigmoid(), ops.Softplus(), ops.Softsign(), ops.Tanh())
}


@handles(*_PLAIN)
def plain(ctx: Context) -> Value:
    """No attribute."""
    return ctx.emit(_PLAIN[ctx.node.op_type], ctx.value(0))


@handles("PRelu")
def prelu(ctx: Context) -> Value:
    """The slope broadcasts to x."""
    return ctx.emit(ops.PRelu(), ctx.value(0), ctx.value(1))


@handles("LeakyRelu")
def leaky_relu(ctx: Context) -> Value:
    """Slope alpha below 0."""
    return ctx.emit(ops.LeakyRelu(ctx.attr_float("alpha", 0.01)), ctx.value(0))


@handles("HardSigmoid")
def hard_sigmoid(ctx: Context) -> Value:
    """alpha x + beta, limited to 0 and 1."""
    op = ops.HardSigmoid(ctx.attr_float("alpha", 0.2), ctx.attr_float("beta", 0.5))
    return ctx.emit(op, ctx.value(0))


@handles("Elu")
def elu(ctx: Context) -> Value:
    """Exponential below 0."""
    return ctx.emit(ops.Elu(ctx.attr_float("alpha", 1.0)), ctx.value(0))


@handles("Celu")
def celu(ctx: Context) -> Value:
    """Elu with a continuous derivative."""
    return ctx.emit(ops.Celu(ctx.attr_float("alpha", 1.0)), ctx.value(0))


@handles("Selu")
def selu(ctx: Context) -> Value:
    """Scaled Elu."""
    given = ops.Selu()
    op = ops.Selu(ctx.attr_float("alpha", given.alpha), ctx.attr_float("gamma", given.gamma))
    return ctx.emit(op, ctx.value(0))


@handles("ThresholdedRelu")
def thresholded_relu(ctx: Context) -> Value:
    """0 up to alpha."""
    return ctx.emit(ops.ThresholdedRelu(ctx.attr_float("alpha", 1.0)), ctx.value(0))


@handles("Shrink")
def shrink(ctx: Context) -> Value:
    """0 around 0."""
    return ctx.emit(ops.Shrink(ctx.attr_float("bias", 0.0), ctx.attr_float("lambd", 0.5)), ctx.value(0))


@handles("Gelu")
def gelu(ctx: Context) -> Value:
    """Exact, or by tanh."""
    return ctx.emit(ops.Gelu(ctx.attr_text("approximate", "none")), ctx.value(0))


@handles("Swish")
def swish(ctx: Context) -> Value:
    """x sigmoid(alpha x)."""
    return ctx.emit(ops.Silu(ctx.attr_float("alpha", 1.0)), ctx.value(0))


@handles("Clip")
def clip_attributes(ctx: Context) -> Value:
    """Limits are attributes."""
    return ctx.emit(ops.Clip(ctx.attr_float("min", -math.inf), ctx.attr_float("max", math.inf)), ctx.value(0))


@handles("Clip", since=11)
def clip(ctx: Context) -> Value:
    """Limits are operands, which may be computed."""
    x, low, high = ctx.value(0), ctx.optional(1), ctx.optional(2)
    if all(v is None or (v.data is not None and v.type.elements == 1) for v in (low, high)):
        least = -math.inf if low is None else ctx.number(1, "min")
        greatest = math.inf if high is None else ctx.number(2, "max")
        return ctx.emit(ops.Clip(least, greatest), x)
    if low is not None:
        x = ctx.emit(ops.Max(), x, low)
    return x if high is None else ctx.emit(ops.Min(), x, high)
