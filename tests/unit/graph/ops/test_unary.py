"""Elementwise operators of one input, against ONNX's reference and Python's math module."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mace_cl import errors
from mace_cl.graph import ops
from mace_cl.graph.ops.erf import erf
from mace_cl.types import DataType, type_of
from support.onnx_reference import run_onnx

SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 30.0, -30.0, np.inf, -np.inf, np.nan])
VALUES = np.concatenate([SPECIAL, np.linspace(-4, 4, 51)])

SAME_AS_ONNX = [
    "Abs", "Neg", "Exp", "Log", "Sqrt", "Reciprocal", "Floor", "Ceil", "Round", "Sign", "Sin", "Cos", "Tan", "Asin",
    "Acos", "Atan", "Sinh", "Cosh", "Asinh", "Acosh", "Atanh", "IsNaN", "IsInf",
]  # fmt: skip


def apply(op: ops.Operator, *arrays: np.ndarray) -> np.ndarray:
    """The operator's only result, which must have the inferred type."""
    (expected,) = op.infer([type_of(a) for a in arrays])
    (result,) = op.reference(arrays)
    assert type_of(result) == expected
    return result


@pytest.mark.parametrize("name", SAME_AS_ONNX)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_same_as_onnx(name: str, dtype: type) -> None:
    x = VALUES.astype(dtype)
    (expected,) = run_onnx(name, [x])
    np.testing.assert_allclose(apply(getattr(ops, name)(), x), expected, rtol=4 * np.finfo(dtype).eps)


@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (2, 3, 4, 5)])
def test_keeps_any_shape(shape: tuple[int, ...]) -> None:
    x = np.ones(shape, np.float32)
    for name in (*SAME_AS_ONNX, "Rsqrt", "Square", "Erf"):
        assert apply(getattr(ops, name)(), x).shape == shape


def test_erf_is_accurate_in_double_precision() -> None:
    x = np.concatenate([np.linspace(-7, 7, 20001), np.logspace(-300, 0, 300)])
    expected = np.array([math.erf(v) for v in x])
    np.testing.assert_allclose(apply(ops.Erf(), x), expected, rtol=1e-15)
    np.testing.assert_array_equal(erf(np.array([np.inf, -np.inf, np.nan])), [1, -1, np.nan])


def test_erf_of_float32_is_rounded_once() -> None:
    x = np.linspace(-5, 5, 1001, dtype=np.float32)
    expected = np.array([math.erf(v) for v in x.tolist()]).astype(np.float32)
    np.testing.assert_array_max_ulp(apply(ops.Erf(), x), expected, 1)


def test_rsqrt_and_square() -> None:
    x = np.array([0.25, 4.0, 0.0, np.inf])
    np.testing.assert_array_equal(apply(ops.Rsqrt(), x), [2, 0.5, np.inf, 0])
    assert apply(ops.Square(), np.array([-3, 4], np.int32)).tolist() == [9, 16]


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64"])
def test_integers_stay_integers_at_their_extremes(dtype: str) -> None:
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    x = np.array([low, -1, 0, high], dtype)
    assert apply(ops.Neg(), x).tolist() == [low, 1, 0, -high]
    assert apply(ops.Abs(), x).tolist() == [low, 1, 0, high]
    assert apply(ops.Sign(), x).tolist() == [-1, -1, 0, 1]
    assert apply(ops.BitwiseNot(), x).tolist() == [high, 0, -1, low]


def test_is_inf_by_sign() -> None:
    x = np.array([np.inf, -np.inf, np.nan, 1], np.float32)
    assert apply(ops.IsInf(detect_negative=False), x).tolist() == [True, False, False, False]
    assert apply(ops.IsInf(detect_positive=False), x).tolist() == [False, True, False, False]


def test_not() -> None:
    assert apply(ops.Not(), np.array([True, False])).tolist() == [False, True]


def test_cast_truncates_and_tests_for_zero() -> None:
    x = np.array([-1.9, -0.5, 0.0, 0.5, 1.9], np.float32)
    assert apply(ops.Cast(DataType.INT32), x).tolist() == [-1, 0, 0, 0, 1]
    assert apply(ops.Cast(DataType.BOOL), x).tolist() == [True, True, False, True, True]
    assert apply(ops.Cast(DataType.FLOAT16), np.array([True, False])).tolist() == [1, 0]


@pytest.mark.parametrize(
    ("op", "dtype"),
    [(ops.Exp(), "int32"), (ops.Floor(), "bool"), (ops.Not(), "float32"), (ops.BitwiseNot(), "float32")],
)
def test_other_types_are_refused(op: ops.Operator, dtype: str) -> None:
    with pytest.raises(errors.ShapeError, match=f"{op.name}: input 0 must be of (a|an|the) .* type, not {dtype}"):
        op.infer([type_of(np.zeros(2, dtype))])


def test_missing_input_is_refused() -> None:
    with pytest.raises(errors.ShapeError, match="input 0 is missing"):
        ops.Exp().infer([None])


def test_cost_counts_operations_and_bytes() -> None:
    t = type_of(np.zeros((4, 5), np.float32))
    assert ops.Abs().cost([t], [t]) == ops.Cost(20, 160)
    assert ops.Rsqrt().cost([t], [t]) == ops.Cost(40, 160)
