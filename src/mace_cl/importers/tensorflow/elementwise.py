"""Elementwise arithmetic, comparisons and selections."""

from __future__ import annotations

from mace_cl.errors import ImportModelError
from mace_cl.graph import ops
from mace_cl.graph.core import Value
from mace_cl.importers.tensorflow.registry import NodeView, handles

_UNARY: dict[str, ops.Operator] = {
    "Abs": ops.Abs(),
    "Neg": ops.Neg(),
    "Exp": ops.Exp(),
    "Log": ops.Log(),
    "Sqrt": ops.Sqrt(),
    "Rsqrt": ops.Rsqrt(),
    "Reciprocal": ops.Reciprocal(),
    "Inv": ops.Reciprocal(),
    "Square": ops.Square(),
    "Floor": ops.Floor(),
    "Ceil": ops.Ceil(),
    "Round": ops.Round(),
    "Rint": ops.Round(),
    "Sign": ops.Sign(),
    "Erf": ops.Erf(),
    "Sin": ops.Sin(),
    "Cos": ops.Cos(),
    "Tan": ops.Tan(),
    "Asin": ops.Asin(),
    "Acos": ops.Acos(),
    "Atan": ops.Atan(),
    "Sinh": ops.Sinh(),
    "Cosh": ops.Cosh(),
    "Asinh": ops.Asinh(),
    "Acosh": ops.Acosh(),
    "Atanh": ops.Atanh(),
    "LogicalNot": ops.Not(),
    "Invert": ops.BitwiseNot(),
    "IsNan": ops.IsNaN(),
    "IsInf": ops.IsInf(),
}

_BINARY: dict[str, ops.Operator] = {
    "Add": ops.Add(),
    "AddV2": ops.Add(),
    "Sub": ops.Sub(),
    "Mul": ops.Mul(),
    "Div": ops.Div(),
    "RealDiv": ops.Div(),
    "TruncateDiv": ops.Div(),
    "FloorDiv": ops.FloorDiv(),
    "FloorMod": ops.Mod(fmod=False),
    "Mod": ops.Mod(fmod=True),
    "TruncateMod": ops.Mod(fmod=True),
    "Pow": ops.Pow(),
    "Maximum": ops.Max(),
    "Minimum": ops.Min(),
    "SquaredDifference": ops.SquaredDifference(),
    "Atan2": ops.Atan2(),
    "LogicalAnd": ops.And(),
    "LogicalOr": ops.Or(),
    "BitwiseAnd": ops.BitwiseAnd(),
    "BitwiseOr": ops.BitwiseOr(),
    "BitwiseXor": ops.BitwiseXor(),
    "Equal": ops.Equal(),
    "NotEqual": ops.NotEqual(),
    "Greater": ops.Greater(),
    "GreaterEqual": ops.GreaterOrEqual(),
    "Less": ops.Less(),
    "LessEqual": ops.LessOrEqual(),
}


@handles(*_UNARY)
def unary(view: NodeView) -> Value:
    """An operator of one input that we have under some name."""
    return view.add(_UNARY[view.node.op], view.input(0))


@handles(*_BINARY)
def binary(view: NodeView) -> Value:
    """An operator of two broadcast inputs that we have under some name."""
    return view.add(_BINARY[view.node.op], view.input(0), view.input(1))


@handles("Cast")
def cast(view: NodeView) -> Value:
    """To DstT."""
    x, to = view.input(0), view.attr_type("DstT")
    return x if x.dtype is to else view.add(ops.Cast(to), x)


@handles("AddN", "AccumulateNV2")
def add_n(view: NodeView) -> Value:
    """The sum of all inputs."""
    total = view.input(0)
    for value in view.inputs[1:]:
        total = view.add(ops.Add(), total, value)
    return total


@handles("DivNoNan", "MulNoNan")
def no_nan(view: NodeView) -> Value:
    """0 where the second input is 0."""
    a, b = view.input(0), view.input(1)
    zero = view.scalar(0, b)
    result = view.add(ops.Div() if view.node.op == "DivNoNan" else ops.Mul(), a, b)
    return view.add(ops.Where(), view.add(ops.Equal(), b, zero), zero, result)


@handles("Log1p")
def log1p(view: NodeView) -> Value:
    """log(1 + x)."""
    x = view.input(0)
    return view.add(ops.Log(), view.add(ops.Add(), x, view.scalar(1, x)))


@handles("Expm1")
def expm1(view: NodeView) -> Value:
    """exp(x) - 1."""
    x = view.input(0)
    return view.add(ops.Sub(), view.add(ops.Exp(), x), view.scalar(1, x))


@handles("Erfc")
def erfc(view: NodeView) -> Value:
    """1 - erf(x)."""
    x = view.input(0)
    return view.add(ops.Sub(), view.scalar(1, x), view.add(ops.Erf(), x))


@handles("IsFinite")
def is_finite(view: NodeView) -> Value:
    """Neither infinite nor NaN."""
    x = view.input(0)
    return view.add(ops.Not(), view.add(ops.Or(), view.add(ops.IsNaN(), x), view.add(ops.IsInf(), x)))


@handles("ClipByValue")
def clip_by_value(view: NodeView) -> Value:
    """x, least, greatest."""
    return view.add(ops.Min(), view.add(ops.Max(), view.input(0), view.input(1)), view.input(2))


@handles("SelectV2")
def select(view: NodeView) -> Value:
    """condition, then, else; broadcast."""
    return view.add(ops.Where(), view.input(0), view.input(1), view.input(2))


@handles("Select")
def select_v1(view: NodeView) -> Value:
    """As SelectV2, but a vector as the condition chooses along the first dimension."""
    condition, a, b = view.input(0), view.input(1), view.input(2)
    if len(condition.shape) == 1 and len(a.shape) > 1:
        condition = view.add(ops.Reshape((condition.shape[0], *(1,) * (len(a.shape) - 1))), condition)
    return view.add(ops.Where(), condition, a, b)


@handles("FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxArgs")
def fake_quant(view: NodeView) -> Value:
    """x rounded to the steps of a quantised type, as quantisation-aware training does."""
    if view.node.op.endswith("Vars"):
        low, high = (float(view.known(i, "the range").reshape(-1)[0]) for i in (1, 2))
    else:
        low, high = view.attr_float("min", -6.0), view.attr_float("max", 6.0)
    x, first = view.input(0), 1 if view.attr_bool("narrow_range", False) else 0
    last = 2 ** view.attr_int("num_bits", 8) - 1
    if high <= low or last <= first:
        raise ImportModelError(f"a range from {low} to {high} in {last - first} steps is empty", where=view.where)
    # The range is shifted so that 0 is one of the steps.
    scale = (high - low) / (last - first)
    zero = min(max(round(first - low / scale), first), last)
    low, high = (first - zero) * scale, (last - zero) * scale
    steps = view.add(ops.Sub(), view.add(ops.Clip(low, high), x), view.scalar(low, x))
    steps = view.add(ops.Mul(), steps, view.scalar(1 / scale, x))
    rounded = view.add(ops.Floor(), view.add(ops.Add(), steps, view.scalar(0.5, x)))
    return view.add(ops.Add(), view.add(ops.Mul(), rounded, view.scalar(scale, x)), view.scalar(low, x))
