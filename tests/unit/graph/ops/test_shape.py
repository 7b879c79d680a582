"""Operators on whole shapes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mace_cl import errors
from mace_cl.graph import ops
from mace_cl.types import type_of
from support.onnx_reference import run_onnx


def apply(op: ops.Operator, x: np.ndarray) -> np.ndarray:
    """The operator's only result, which must have the inferred type."""
    (expected,) = op.infer([type_of(x)])
    (result,) = op.reference([x])
    assert type_of(result) == expected
    return result


def counted(*shape: int) -> np.ndarray:
    """0, 1, 2 ... in the shape."""
    return np.arange(int(np.prod(shape)), dtype=np.int32).reshape(shape)


def test_identity_and_reshape_cost_nothing() -> None:
    x = counted(2, 6)
    assert apply(ops.Identity(), x) is x
    t = type_of(x)
    assert ops.Reshape((3, 4)).cost([t], [t]) == ops.Identity().cost([t], [t]) == ops.Cost(0, 0)


@pytest.mark.parametrize(("before", "after"), [((2, 6), (3, 4)), ((1,), ()), ((), (1, 1)), ((2, 0), (0, 5))])
def test_reshape(before: tuple[int, ...], after: tuple[int, ...]) -> None:
    x = counted(*before)
    assert apply(ops.Reshape(after), x).ravel().tolist() == x.ravel().tolist()


def test_reshape_to_another_count_is_refused() -> None:
    with pytest.raises(errors.ShapeError, match=r"\[2, 3\] has 6 elements, \[5\] has 5"):
        ops.Reshape((5,)).infer([type_of(counted(2, 3))])
    with pytest.raises(errors.ShapeError, match="negative"):
        ops.Reshape((-2, -3)).infer([type_of(counted(2, 3))])


@settings(max_examples=40)
@given(st.permutations(range(4)))
def test_transpose_moves_each_element(perm: list[int]) -> None:
    x = counted(2, 3, 1, 4)
    y = apply(ops.Transpose(tuple(perm)), x)
    for place in np.ndindex(y.shape):
        source = [0] * 4
        for i, axis in enumerate(perm):
            source[axis] = place[i]
        assert y[place] == x[tuple(source)]


@pytest.mark.parametrize("perm", [(0, 0), (0,), (0, 2), (1, -2)])
def test_transpose_by_no_permutation_is_refused(perm: tuple[int, ...]) -> None:
    with pytest.raises(errors.ShapeError, match="is no order of 2 dimensions"):
        ops.Transpose(perm).infer([type_of(counted(2, 3))])


@pytest.mark.parametrize(("before", "after"), [((3, 1), (2, 3, 4)), ((), (2,)), ((1,), (0,)), ((2, 3), (2, 3))])
def test_expand(before: tuple[int, ...], after: tuple[int, ...]) -> None:
    x = counted(*before)
    np.testing.assert_array_equal(apply(ops.Expand(after), x), run_onnx("Expand", [x, np.array(after, np.int64)])[0])


@pytest.mark.parametrize("shape", [(3,), (2, 1), (4, 3)])
def test_expand_to_less_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(errors.ShapeError, match="broadcast"):
        ops.Expand(shape).infer([type_of(counted(2, 3))])


@pytest.mark.parametrize("repeats", [(1, 1), (2, 3), (0, 2)])
def test_tile(repeats: tuple[int, ...]) -> None:
    x = counted(2, 3)
    np.testing.assert_array_equal(apply(ops.Tile(repeats), x), run_onnx("Tile", [x, np.array(repeats, np.int64)])[0])


def test_tile_of_another_rank_is_refused() -> None:
    with pytest.raises(errors.ShapeError, match="repeats has 1 entries for 2 dimensions"):
        ops.Tile((2,)).infer([type_of(counted(2, 3))])


def test_transpose_of_a_scalar() -> None:
    assert apply(ops.Transpose(()), counted()).shape == ()
