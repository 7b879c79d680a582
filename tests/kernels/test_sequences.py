"""Sorting, running sums, one-hot lines, triangles and reversed sequences against the references on every runtime."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mace_cl.graph.ops import CumSum, OneHot, ReverseSequence, TopK, Trilu
from mace_cl.kernels import cum_sum, one_hot, reverse_sequence, top_k, triangle
from mace_cl.types import DataType
from support.kernel_runner import check_family, one_node

GPU = {"kind": "gpu", "max_work_group_size": 64}


def numbers(shape: tuple[int, ...], dtype: str = "float32") -> np.ndarray:
    return np.random.default_rng(1).integers(0, 9, shape).astype(dtype)


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("dtype", ["float32", "int64", "uint8"])
def test_top_k_with_ties(axis: int, largest: bool, dtype: str) -> None:
    for k, index in ((1, DataType.INT64), (4, DataType.INT32), ((4, 7, 30)[axis], DataType.INT64)):
        check_family(top_k.FAMILY, *one_node(TopK(k, axis, largest, index), [numbers((4, 7, 30), dtype)]), rtol=0.0)


@pytest.mark.parametrize("largest", [True, False])
def test_top_k_of_not_a_numbers(largest: bool) -> None:
    x = numbers((3, 12))
    x[0, 3] = x[0, 7] = x[2, 0] = np.nan
    x[1, 4], x[1, 5] = np.inf, -np.inf
    check_family(top_k.FAMILY, *one_node(TopK(5, 1, largest), [x]), rtol=0.0)


def test_top_k_of_many() -> None:
    x = np.random.default_rng(3).standard_normal((1, 9000)).astype(np.float32)
    check_family(top_k.FAMILY, *one_node(TopK(100), [x]), rtol=0.0)
    check_family(top_k.FAMILY, *one_node(TopK(3, 0), [x.reshape(90, 100)]), rtol=0.0, facts_changes=GPU)


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("exclusive", [True, False])
@pytest.mark.parametrize("reverse", [True, False])
def test_running_sums(axis: int, exclusive: bool, reverse: bool) -> None:
    for dtype in ("float32", "int32", "int64"):
        op = CumSum(axis, exclusive, reverse)
        check_family(cum_sum.FAMILY, *one_node(op, [numbers((3, 20, 30), dtype)]), rtol=1e-6)


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
@pytest.mark.parametrize("dtype", ["float32", "int64", "uint8", "bool"])
def test_one_hot(axis: int, dtype: str) -> None:
    indices = np.random.default_rng(2).integers(-8, 9, (3, 5))
    check_family(one_hot.FAMILY, *one_node(OneHot(6, axis), [indices, np.array([0, 1], dtype)]), rtol=0.0)
    check_family(
        one_hot.FAMILY,
        *one_node(OneHot(6, axis), [indices.astype(np.int32), np.array([0, 1], dtype)]),
        rtol=0.0,
        facts_changes=GPU,
    )


@pytest.mark.parametrize("upper", [True, False])
@pytest.mark.parametrize("k", [-(1 << 40), -9, -2, 0, 1, 6, 1 << 40])
def test_triangles(upper: bool, k: int) -> None:
    for shape, dtype in (((5, 7), "float32"), ((2, 3, 7, 4), "int64"), ((1, 9), "uint8")):
        check_family(triangle.FAMILY, *one_node(Trilu(upper, k), [numbers(shape, dtype)]), rtol=0.0)


@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_random_reversed_sequences(data: st.DataObject) -> None:
    shape = tuple(data.draw(st.lists(st.integers(1, 7), min_size=2, max_size=5)))
    batch, time = data.draw(st.permutations(range(len(shape))))[:2]
    length = st.integers(0, shape[time])
    lengths = np.array([data.draw(length) for _ in range(shape[batch])], data.draw(st.sampled_from(["int32", "int64"])))
    x = np.arange(np.prod(shape)).reshape(shape).astype(data.draw(st.sampled_from(["float32", "uint8", "int64"])))
    facts = GPU if data.draw(st.booleans()) else {}
    op = ReverseSequence(batch, time)
    check_family(reverse_sequence.FAMILY, *one_node(op, [x, lengths]), rtol=0.0, facts_changes=facts)
