"""Elementwise operators of two and three inputs, against ONNX's reference and Python's arithmetic."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mace_cl import errors
from mace_cl.graph import ops
from mace_cl.types import type_of
from support.onnx_reference import run_onnx

FLOAT_OPS = [
    "Add",
    "Sub",
    "Mul",
    "Div",
    "Pow",
    "Max",
    "Min",
    "Equal",
    "Greater",
    "GreaterOrEqual",
    "Less",
    "LessOrEqual",
]
INTEGER_OPS = ["Add", "Sub", "Mul", "Max", "Min", "Equal", "Greater", "Less", "BitwiseAnd", "BitwiseOr", "BitwiseXor"]
BOOL_OPS = ["And", "Or", "Xor", "Equal"]


def apply(op: ops.Operator, *arrays: np.ndarray) -> np.ndarray:
    """The operator's only result, which must have the inferred type."""
    (expected,) = op.infer([type_of(a) for a in arrays])
    (result,) = op.reference(arrays)
    assert type_of(result) == expected
    return result


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("name", FLOAT_OPS)
def test_floats_same_as_onnx(name: str, dtype: type) -> None:
    rng = np.random.default_rng(2)
    a, b = rng.uniform(0.5, 3, (2, 3, 4)).astype(dtype), rng.uniform(-3, 3, (3, 1)).astype(dtype)
    (expected,) = run_onnx(name, [a, b])
    result = apply(getattr(ops, name)(), a, b)
    assert result.dtype == expected.dtype
    np.testing.assert_allclose(result, expected, rtol=4 * np.finfo(dtype).eps)


@pytest.mark.parametrize("name", INTEGER_OPS)
def test_integers_same_as_onnx(name: str) -> None:
    rng = np.random.default_rng(3)
    a, b = rng.integers(-9, 9, (2, 3, 4)).astype(np.int32), rng.integers(-9, 9, (4,)).astype(np.int32)
    np.testing.assert_array_equal(apply(getattr(ops, name)(), a, b), run_onnx(name, [a, b])[0])


@pytest.mark.parametrize("name", BOOL_OPS)
def test_bools_same_as_onnx(name: str) -> None:
    a, b = np.array([[True], [False]]), np.array([True, False])
    np.testing.assert_array_equal(apply(getattr(ops, name)(), a, b), run_onnx(name, [a, b])[0])


shapes = st.lists(st.sampled_from([0, 1, 1, 2, 3]), max_size=3).map(tuple)


@settings(max_examples=50)
@given(shapes, shapes, st.sampled_from(["Add", "Div", "Pow", "Less", "Mod", "SquaredDifference"]))
def test_broadcasting_is_numpys(a: tuple[int, ...], b: tuple[int, ...], name: str) -> None:
    op = getattr(ops, name)()
    x, y = np.ones(a, np.float32), np.ones(b, np.float32)
    try:
        expected = np.broadcast_shapes(a, b)
    except ValueError:
        with pytest.raises(errors.ShapeError, match="do not broadcast"):
            op.infer([type_of(x), type_of(y)])
    else:
        assert apply(op, x, y).shape == expected


@settings(max_examples=50)
@given(st.integers(-(2**63), 2**63 - 1), st.integers(-(2**63), 2**63 - 1).filter(bool))
def test_integer_division_truncates(a: int, b: int) -> None:
    x, y = np.array([a], np.int64), np.array([b], np.int64)
    exact = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    wrapped = (exact + 2**63) % 2**64 - 2**63
    assert apply(ops.Div(), x, y).tolist() == [wrapped]
    if (a, b) != (-(2**63), -1):
        assert apply(ops.FloorDiv(), x, y).tolist() == [a // b]
        assert apply(ops.Mod(), x, y).tolist() == [a % b]
        assert apply(ops.Mod(fmod=True), x, y).tolist() == [a - exact * b]


def test_division_by_zero_is_silent() -> None:
    zero = np.array([0, 0], np.int32)
    for op in (ops.Div(), ops.FloorDiv(), ops.Mod(), ops.Mod(fmod=True)):
        assert apply(op, np.array([5, -5], np.int32), zero).tolist() == [0, 0]
    np.testing.assert_array_equal(apply(ops.Div(), np.array([1.0, -1, 0]), np.zeros(3)), [np.inf, -np.inf, np.nan])


def test_floor_division_of_floats_is_the_quotients_floor() -> None:
    assert apply(ops.FloorDiv(), np.array([1.0, -7.0]), np.array([0.1, 2.0])).tolist() == [10, -4]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_mod_of_floats(dtype: type) -> None:
    a, b = np.array([5.5, -5.5, 5.5, -5.5], dtype), np.array([2, 2, -2, -2], dtype)
    assert apply(ops.Mod(), a, b).tolist() == [1.5, 0.5, -0.5, -1.5]
    assert apply(ops.Mod(fmod=True), a, b).tolist() == [1.5, -1.5, 1.5, -1.5]


@pytest.mark.parametrize("exponent", [-3, -2, -1, 0, 1, 2, 3, 5])
def test_integer_power(exponent: int) -> None:
    bases = [-3, -2, -1, 0, 1, 2, 3]
    b = np.array(exponent, np.int64)
    expected = [math.trunc(float(a) ** exponent) if a or exponent >= 0 else 0 for a in bases]
    assert apply(ops.Pow(), np.array(bases, np.int32), b).tolist() == expected


def test_power_keeps_the_type_of_a() -> None:
    for a, b in itertools.product(["float16", "float32", "int32", "int64"], ["float32", "float64", "int32", "int64"]):
        assert apply(ops.Pow(), np.array([2, 3], a), np.array([3, 2], b)).tolist() == [8, 9]
    exact = apply(ops.Pow(), np.array([3], np.int64), np.array([39], np.int64))
    assert exact.tolist() == [3**39]


def test_nan_wins() -> None:
    a, b = np.array([np.nan, 1, 2]), np.array([1, np.nan, 3])
    np.testing.assert_array_equal(apply(ops.Max(), a, b), [np.nan, np.nan, 3])
    np.testing.assert_array_equal(apply(ops.Min(), a, b), [np.nan, np.nan, 2])


def test_remaining_formulas() -> None:
    a, b = np.array([1.0, -2.0]), np.array([3.0, 0.5])
    assert apply(ops.SquaredDifference(), a, b).tolist() == [4, 6.25]
    assert apply(ops.Atan2(), a, b).tolist() == [math.atan2(1, 3), math.atan2(-2, 0.5)]
    assert apply(ops.NotEqual(), a, b).tolist() == [True, True]


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32", "uint64", "int8", "int32", "int64"])
def test_shifts(dtype: str) -> None:
    bits = np.dtype(dtype).itemsize * 8
    ones = np.array([-1]).astype(dtype) if dtype[0] == "i" else np.array([2**bits - 1], dtype)
    kept = dtype[0] == "i"
    assert apply(ops.BitShift(left=False), ones, np.array([bits - 3], dtype)).tolist() == [-1 if kept else 7]
    assert apply(ops.BitShift(left=False), ones, np.array([bits], dtype)).tolist() == [-1 if kept else 0]
    assert apply(ops.BitShift(left=True), np.array([3], dtype), np.array([2], dtype)).tolist() == [12]
    assert apply(ops.BitShift(left=True), ones, np.array([bits], dtype)).tolist() == [0]


def test_where_broadcasts_three() -> None:
    condition = np.array([[True], [False]])
    result = apply(ops.Where(), condition, np.array([1, 2, 3], np.int64), np.array(9, np.int64))
    assert result.tolist() == [[1, 2, 3], [9, 9, 9]]


@pytest.mark.parametrize("op", [ops.Add(), ops.Equal(), ops.Max(), ops.Mod()])
def test_different_types_are_refused(op: ops.Operator) -> None:
    with pytest.raises(errors.ShapeError, match=r"same element type \(input 0 is float32, input 1 is int32\)"):
        op.infer([type_of(np.zeros(2, np.float32)), type_of(np.zeros(2, np.int32))])


def test_wrong_kinds_are_refused() -> None:
    f, b = type_of(np.zeros(2, np.float32)), type_of(np.zeros(2, bool))
    for op, types in [(ops.And(), [f, f]), (ops.Add(), [b, b]), (ops.BitShift(), [f, f]), (ops.Where(), [f, f, f])]:
        with pytest.raises(errors.ShapeError, match="input 0 must be of"):
            op.infer(types)
