"""Elementwise expressions as OpenCL C: one statement macro for scalars and vectors alike.

Every snippet uses OpenCL's componentwise operators and functions only, so that T may be float or any float vector.
Comparisons of vectors give integer vectors whose lanes are all ones or zeros; `?:` takes them lane by lane.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable

from mace_cl.errors import CodegenError
from mace_cl.graph.ops import (
    Abs,
    Acos,
    Acosh,
    Add,
    Asin,
    Asinh,
    Atan,
    Atan2,
    Atanh,
    Ceil,
    Celu,
    Clip,
    Cos,
    Cosh,
    Div,
    Elu,
    Erf,
    Exp,
    Expression,
    Floor,
    FloorDiv,
    Gelu,
    HardSigmoid,
    HardSwish,
    LeakyRelu,
    Literal,
    Log,
    Max,
    Min,
    Mish,
    Mod,
    Mul,
    Neg,
    Pow,
    PRelu,
    Reciprocal,
    Relu,
    Round,
    Rsqrt,
    Selu,
    Shrink,
    Sigmoid,
    Sign,
    Silu,
    Sin,
    Sinh,
    Softplus,
    Softsign,
    Sqrt,
    Square,
    SquaredDifference,
    Sub,
    Tan,
    Tanh,
    ThresholdedRelu,
)
from mace_cl.graph.ops.base import Operator

Snippet = Callable[[Operator, list[str]], str]


def literal(value: float) -> str:
    """A float32 number as OpenCL C, exactly; infinities and NaN too.

    Args:
        value: The number; it is rounded to float32.
    """
    if math.isnan(value):
        return "NAN"
    try:
        rounded = struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        rounded = math.copysign(math.inf, value)
    if math.isinf(rounded):
        return "INFINITY" if rounded > 0 else "(-INFINITY)"
    text = f"{rounded:.9g}"
    text = text if any(c in text for c in ".e") else f"{text}.0"
    return f"({text}f)" if rounded < 0 else f"{text}f"


def _n(value: float) -> str:
    """A literal of type T."""
    return f"(T)({literal(value)})"


def _call(name: str) -> Snippet:
    return lambda op, a: f"{name}({', '.join(a)})"


def _infix(symbol: str) -> Snippet:
    return lambda op, a: f"({a[0]} {symbol} {a[1]})"


def _of(template: str) -> Snippet:
    """A template with {0}, {1} for operands and {zero}, {one}, {half} for numbers."""
    numbers = {"zero": _n(0.0), "one": _n(1.0), "half": _n(0.5), "two": _n(2.0)}
    return lambda op, a: template.format(*a, **numbers)


def _clip(op: Operator, a: list[str]) -> str:
    assert isinstance(op, Clip)
    text = a[0]
    # Written with ?: since fmax and fmin drop a NaN, which the reference keeps.
    if op.low != -math.inf:
        text = f"({text} < {_n(op.low)} ? {_n(op.low)} : {text})"
    if op.high == math.inf:
        return text
    if op.low == -math.inf:
        return f"({text} > {_n(op.high)} ? {_n(op.high)} : {text})"
    return f"({a[0]} < {_n(op.low)} ? {_n(min(op.low, op.high))} : ({a[0]} > {_n(op.high)} ? {_n(op.high)} : {a[0]}))"


def _attributes(template: str, *names: str) -> Snippet:
    """A template whose {name} are the operator's attributes as numbers of type T."""

    def snippet(op: Operator, a: list[str]) -> str:
        values = {n: _n(getattr(op, n)) for n in names}
        return template.format(*a, zero=_n(0.0), one=_n(1.0), half=_n(0.5), **values)

    return snippet


def _celu(op: Operator, a: list[str]) -> str:
    assert isinstance(op, Celu)
    return f"({a[0]} > {_n(0.0)} ? {a[0]} : {_n(op.alpha)} * expm1({a[0]} * {_n(1.0 / op.alpha)}))"


def _gelu(op: Operator, a: list[str]) -> str:
    assert isinstance(op, Gelu)
    x = a[0]
    if op.approximate == "tanh":
        cubic = f"({x} + {_n(0.044715)} * {x} * {x} * {x})"
        return f"({_n(0.5)} * {x} * ({_n(1.0)} + tanh({_n(math.sqrt(2.0 / math.pi))} * {cubic})))"
    # erfc keeps the digits that 1 + erf loses for large negative x.
    return f"({_n(0.5)} * {x} * erfc({_n(-math.sqrt(0.5))} * {x}))"


def _mod(op: Operator, a: list[str]) -> str:
    assert isinstance(op, Mod)
    if op.fmod:
        return f"fmod({a[0]}, {a[1]})"
    # fmod has the sign of a; where that is not b's, b is added.
    rest = f"fmod({a[0]}, {a[1]})"
    return f"({rest} != {_n(0.0)} && ({rest} < {_n(0.0)}) != ({a[1]} < {_n(0.0)}) ? {rest} + {a[1]} : {rest})"


def _pow(op: Operator, a: list[str]) -> str:
    x, exponent = a
    # The roots of -infinity are not those that sqrt gives.
    infinite = f"{x} == {_n(-math.inf)}"
    known = {
        _n(0.5): f"({infinite} ? {_n(math.inf)} : sqrt({x}))",
        _n(-0.5): f"({infinite} ? {_n(0.0)} : {_n(1.0)} / sqrt({x}))",
        _n(1.0): x,
        _n(2.0): f"({x} * {x})",
        _n(3.0): f"({x} * {x} * {x})",
        _n(-1.0): f"({_n(1.0)} / {x})",
    }
    return known.get(exponent, f"pow({x}, {exponent})")


_SIGMOID = "({one} / ({one} + exp(-{0})))"

SNIPPETS: dict[type[Operator], Snippet] = {
    Literal: lambda op, a: _n(getattr(op, "value")),  # noqa: B009  an attribute of this class alone
    Abs: _call("fabs"),
    Acos: _call("acos"),
    Acosh: _call("acosh"),
    Add: _infix("+"),
    Asin: _call("asin"),
    Asinh: _call("asinh"),
    Atan: _call("atan"),
    Atan2: _call("atan2"),
    Atanh: _call("atanh"),
    Ceil: _call("ceil"),
    Celu: _celu,
    Clip: _clip,
    Cos: _call("cos"),
    Cosh: _call("cosh"),
    Div: _infix("/"),
    Elu: _attributes("({0} >= {zero} ? {0} : {alpha} * expm1({0}))", "alpha"),
    Erf: _call("erf"),
    Exp: _call("exp"),
    Floor: _call("floor"),
    FloorDiv: _of("floor({0} / {1})"),
    Gelu: _gelu,
    HardSigmoid: _attributes("({0} != {0} ? {0} : clamp(fma({0}, {alpha}, {beta}), {zero}, {one}))", "alpha", "beta"),
    HardSwish: lambda op, a: f"({a[0]} * clamp(fma({a[0]}, {_n(1.0 / 6.0)}, {_n(0.5)}), {_n(0.0)}, {_n(1.0)}))",
    LeakyRelu: _attributes("({0} >= {zero} ? {0} : {alpha} * {0})", "alpha"),
    Log: _call("log"),
    Max: _of("({0} > {1} || {0} != {0} ? {0} : {1})"),
    Min: _of("({0} < {1} || {0} != {0} ? {0} : {1})"),
    Mish: _of("({0} * tanh(log1p(exp(-fabs({0}))) + fmax({0}, {zero})))"),
    Mod: _mod,
    Mul: _infix("*"),
    Neg: _of("(-{0})"),
    PRelu: _of("({0} >= {zero} ? {0} : {1} * {0})"),
    Pow: _pow,
    Reciprocal: _of("({one} / {0})"),
    Relu: _of("({0} < {zero} ? {zero} : {0})"),
    Round: _call("rint"),
    Rsqrt: _of("({one} / sqrt({0}))"),
    Selu: _attributes("({gamma} * ({0} > {zero} ? {0} : {alpha} * expm1({0})))", "alpha", "gamma"),
    Shrink: _attributes("({0} < -{lambd} ? {0} + {bias} : ({0} > {lambd} ? {0} - {bias} : {zero}))", "bias", "lambd"),
    Sigmoid: _of(_SIGMOID),
    Sign: _of("({0} != {0} ? {0} : sign({0}))"),
    Silu: _attributes("({0} / ({one} + exp(-{alpha} * {0})))", "alpha"),
    Sin: _call("sin"),
    Sinh: _call("sinh"),
    Softplus: _of("(log1p(exp(-fabs({0}))) + fmax({0}, {zero}))"),
    Softsign: _of("({0} / ({one} + fabs({0})))"),
    Sqrt: _call("sqrt"),
    Square: _of("({0} * {0})"),
    SquaredDifference: _of("(({0} - {1}) * ({0} - {1}))"),
    Sub: _infix("-"),
    Tan: _call("tan"),
    Tanh: _call("tanh"),
    ThresholdedRelu: _attributes("({0} > {alpha} ? {0} : {zero})", "alpha"),
}
"""Operator to its snippet; `a` holds names of operands of type T."""


def _function(name: str, argument: str) -> str:
    """A call of a function of `functions.clh` for type T."""
    return f"MACE_PASTE(mace_{name}, T)({argument})"


def _fast(template: str, function: str, *names: str) -> Snippet:
    """A template with {f} for the function of {0}, and {name} for attributes."""

    def snippet(op: Operator, a: list[str]) -> str:
        values = {n: _n(getattr(op, n)) for n in names}
        return template.format(a[0], f=_function(function, a[0]), zero=_n(0.0), half=_n(0.5), **values)

    return snippet


def _fast_celu(op: Operator, a: list[str]) -> str:
    assert isinstance(op, Celu)
    return f"({a[0]} > {_n(0.0)} ? {a[0]} : {_n(op.alpha)} * {_function('expm1', f'{a[0]} * {_n(1.0 / op.alpha)}')})"


def _fast_gelu(op: Operator, a: list[str]) -> str:
    assert isinstance(op, Gelu)
    if op.approximate == "none":
        return f"({_n(0.5)} * {a[0]} * {_function('normal2', a[0])})"
    # (1 + tanh(u)) / 2 is sigmoid(2 u).
    cubic = f"({a[0]} + {_n(0.044715)} * {a[0]} * {a[0]} * {a[0]})"
    return f"({a[0]} * {_function('sigmoid', f'{_n(2 * math.sqrt(2.0 / math.pi))} * {cubic}')})"


def _fast_silu(op: Operator, a: list[str]) -> str:
    assert isinstance(op, Silu)
    return f"({a[0]} * {_function('sigmoid', f'{_n(op.alpha)} * {a[0]}')})"


FAST: dict[type[Operator], Snippet] = {
    Celu: _fast_celu,
    Elu: _fast("({0} >= {zero} ? {0} : {alpha} * {f})", "expm1", "alpha"),
    Erf: _fast("{f}", "erf"),
    Exp: _fast("{f}", "exp"),
    Gelu: _fast_gelu,
    Mish: _fast("({0} * {f})", "tanh_softplus"),
    Selu: _fast("({gamma} * ({0} > {zero} ? {0} : {alpha} * {f}))", "expm1", "alpha", "gamma"),
    Sigmoid: _fast("{f}", "sigmoid"),
    Silu: _fast_silu,
    Softplus: _fast("{f}", "softplus"),
    Tanh: _fast("{f}", "tanh"),
}
"""Snippets for float32 that are quicker than the built-in functions on some devices, and nowhere slower by much."""


def supports(op: Operator) -> bool:
    """Whether the operator has a snippet for float32 operands."""
    return type(op) in SNIPPETS


def expression_macro(name: str, expression: Expression) -> tuple[str, str]:
    """Head and text of the statement macro name(T, r, x0, x1 ...).

    Args:
        name: The macro's name.
        expression: The steps; an empty one copies operand 0.

    Raises:
        CodegenError: A step has no snippet.
    """
    operands = [f"x{i}" for i in range(expression.n_inputs)]
    statements = []
    for k, (op, used) in enumerate(expression.steps):
        snippet = FAST.get(type(op), SNIPPETS.get(type(op)))
        if snippet is None:
            raise CodegenError(f"no OpenCL C for {op.name} in an expression")
        if any(i is None for i in used):
            raise CodegenError(f"an operand of {op.name} is absent")
        text = snippet(op, [operands[i] for i in used if i is not None])
        if isinstance(op, Literal):
            operands.append(text)
            continue
        statements.append(f"const T t{k}_ = {text};")
        operands.append(f"t{k}_")
    result = operands[-1] if expression.steps else "x0"
    body = f"{{ {' '.join(statements)} r = {result}; }}"
    return f"{name}({', '.join(['T', 'r', *operands[: expression.n_inputs]])})", body
