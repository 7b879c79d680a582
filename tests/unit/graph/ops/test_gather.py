"""Indexed reads and writes, against ONNX's reference and plain loops."""

from __future__ import annotations

import numpy as np
import pytest

from mace_cl import errors
from mace_cl.graph import ops
from mace_cl.types import type_of
from support.onnx_reference import run_onnx


def apply(op: ops.Operator, *arrays: np.ndarray) -> np.ndarray:
    """The operator's only result, which must have the inferred type."""
    (expected,) = op.infer([type_of(a) for a in arrays])
    (result,) = op.reference(arrays)
    assert type_of(result) == expected
    return result


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(4)


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("shape", [(), (3,), (2, 2), (0,)])
def test_gather(axis: int, shape: tuple[int, ...], rng: np.random.Generator) -> None:
    data = rng.standard_normal((3, 4, 5))
    dim = data.shape[axis]
    indices = rng.integers(-dim, dim, shape)
    np.testing.assert_array_equal(
        apply(ops.Gather(axis), data, indices), run_onnx("Gather", [data, indices], axis=axis)[0]
    )


@pytest.mark.parametrize(("axis", "batch_dims"), [(1, 1), (2, 1), (2, 2)])
def test_gather_with_matched_dimensions(axis: int, batch_dims: int, rng: np.random.Generator) -> None:
    data = rng.standard_normal((2, 3, 4))
    indices = rng.integers(-3, 3, (*data.shape[:batch_dims], 2, 2))
    result = apply(ops.Gather(axis, batch_dims), data, indices)
    for matched in np.ndindex(*data.shape[:batch_dims]):
        expected = np.take(data[matched], indices[matched], axis - batch_dims, mode="wrap")
        np.testing.assert_array_equal(result[matched], expected)


@pytest.mark.parametrize("index", [3, -4])
def test_indices_outside_are_refused(index: int) -> None:
    data, at = np.zeros((3, 3)), np.array([[index]])
    for op, inputs in [
        (ops.Gather(), [data, at]),
        (ops.GatherElements(), [data, at]),
        (ops.GatherND(), [data, at]),
        (ops.ScatterElements(), [data, at, np.zeros((1, 1))]),
        (ops.ScatterND(), [data, at, np.zeros((1, 3))]),
    ]:
        with pytest.raises(errors.ShapeError, match=f"{op.name}: index {index} is outside of a dimension of 3"):
            op.reference(inputs)


@pytest.mark.parametrize("axis", [0, 1])
def test_gather_elements(axis: int, rng: np.random.Generator) -> None:
    data = rng.standard_normal((3, 4))
    indices = rng.integers(-data.shape[axis], data.shape[axis], (2, 6) if axis else (7, 3))
    result = apply(ops.GatherElements(axis), data, indices)
    for i, j in np.ndindex(indices.shape):
        assert result[i, j] == (data[i, indices[i, j]] if axis else data[indices[i, j], j])


@pytest.mark.parametrize(
    ("batch_dims", "length", "middle"), [(0, 1, (2,)), (0, 2, ()), (0, 3, (2, 2)), (1, 1, (3,)), (1, 2, ()), (2, 1, ())]
)
def test_gather_nd(batch_dims: int, length: int, middle: tuple[int, ...], rng: np.random.Generator) -> None:
    data = rng.standard_normal((2, 3, 4))
    indices = rng.integers(-2, 2, (*data.shape[:batch_dims], *middle, length))
    result = apply(ops.GatherND(batch_dims), data, indices)
    for place in np.ndindex(indices.shape[:-1]):
        expected = data[(*place[:batch_dims], *indices[place])]
        np.testing.assert_array_equal(result[place], expected)


@pytest.mark.parametrize("reduction", ["none", "add", "mul", "max", "min"])
@pytest.mark.parametrize("axis", [0, 1])
def test_scatter_elements(axis: int, reduction: str, rng: np.random.Generator) -> None:
    data, updates = rng.standard_normal((3, 4)), rng.standard_normal((2, 3))
    indices = np.array([[0, -1, 1], [2, 1, 0]])
    (expected,) = run_onnx("ScatterElements", [data, indices, updates], axis=axis, reduction=reduction)
    np.testing.assert_array_equal(apply(ops.ScatterElements(axis, reduction), data, indices, updates), expected)


@pytest.mark.parametrize("reduction", ["none", "add", "mul", "max", "min"])
@pytest.mark.parametrize(("length", "count"), [(1, 3), (2, 5), (3, 4)])
def test_scatter_nd(length: int, count: int, reduction: str, rng: np.random.Generator) -> None:
    data = rng.standard_normal((2, 3, 4)).astype(np.float32)
    indices = rng.integers(-2, 2, (count, length))
    updates = rng.standard_normal((count, *data.shape[length:])).astype(np.float32)
    combine = {"none": lambda _, u: u, "add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}
    expected = data.copy()
    for place, update in zip(indices, updates, strict=True):
        expected[tuple(place)] = combine[reduction](expected[tuple(place)], update)
    np.testing.assert_array_equal(apply(ops.ScatterND(reduction), data, indices, updates), expected)


def test_scatter_leaves_its_input_alone() -> None:
    data = np.zeros(3)
    apply(ops.ScatterND(), data, np.array([[1]]), np.ones(1))
    assert data.tolist() == [0, 0, 0]


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -3])
def test_one_hot(axis: int) -> None:
    indices = np.array([[0, -1, 2], [5, -7, 4]])
    values = np.array([-1, 1], np.float32)
    result = apply(ops.OneHot(5, axis), indices, values)
    lines = np.moveaxis(result, axis, -1)
    for place in np.ndindex(indices.shape):
        index = int(indices[place])
        on = index if index >= 0 else index + 5
        assert lines[place].tolist() == [1 if i == on else -1 for i in range(5)]


T = type_of
DATA, AT = T(np.zeros((2, 3))), T(np.zeros((2, 2), np.int64))


@pytest.mark.parametrize(
    ("op", "types", "why"),
    [
        (ops.Gather(2), [DATA, AT], r"axis 2 is outside of \[0, 2\)"),
        (ops.Gather(), [DATA, DATA], "input 1 must be of an integer type, not float64"),
        (ops.Gather(0, 1), [DATA, AT], "axis 0 is one of the 1 matched"),
        (ops.Gather(1, 3), [DATA, AT], "batch_dims 3 is more"),
        (ops.Gather(1, 1), [DATA, T(np.zeros((3, 2), np.int64))], "differ in their first 1 dimensions"),
        (ops.GatherElements(), [DATA, T(np.zeros(2, np.int64))], "indices has 1 dimensions, data 2"),
        (ops.GatherElements(), [DATA, T(np.zeros((1, 4), np.int64))], "dimension 1 of indices is 4"),
        (ops.GatherND(), [DATA, T(np.zeros((2, 3), np.int64))], "index tuples have 3 numbers"),
        (ops.GatherND(), [DATA, T(np.zeros((), np.int64))], "no dimension of index tuples"),
        (ops.ScatterND(), [DATA, AT, DATA], r"updates is \[2, 3\], not \[2\]"),
        (ops.ScatterND("sum"), [DATA, AT, T(np.zeros(2))], "reduction is 'sum'"),
        (ops.ScatterElements(), [DATA, AT, T(np.zeros((2, 2), np.float32))], "same element type"),
        (ops.OneHot(3), [AT, DATA], r"values is \[2, 3\], not \[2\]"),
        (ops.OneHot(3, 3), [AT, T(np.zeros(2))], "axis 3 is outside"),
        (ops.OneHot(-1), [AT, T(np.zeros(2))], "depth -1 is negative"),
    ],
)
def test_what_does_not_fit_is_refused(op: ops.Operator, types: list, why: str) -> None:
    with pytest.raises(errors.ShapeError, match=why):
        op.infer(types)
