"""Reductions and softmax against the references, on every runtime."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mace_cl.graph import ops
from mace_cl.graph.ops import LogSoftmax, ReduceMax, ReduceMean, ReduceMin, ReduceSum, Softmax
from mace_cl.kernels import reduce, softmax
from support.kernel_runner import check_family, one_node

NAMES = list(reduce.FAMILY.operators)


def positive(shape: tuple[int, ...]) -> np.ndarray:
    return np.random.default_rng(1).uniform(0.5, 1.5, shape).astype(np.float32)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("shape", "axes"),
    [
        ((2, 5, 6, 24), (1, 2)),
        ((2, 3, 5, 7), (2, 3)),
        ((3, 4, 5), (0, 2)),
        ((2, 3, 4, 5, 2), (0, 2, 4)),
        ((7, 30), (1,)),
        ((7, 30), (0,)),
        ((5,), (0,)),
        ((3, 1, 4), (1,)),
        ((2, 3), ()),
    ],
)
def test_axes(name: str, shape: tuple[int, ...], axes: tuple[int, ...]) -> None:
    check_family(reduce.FAMILY, *one_node(getattr(ops, name)(axes, True), [positive(shape)]), rtol=1e-5)


def test_a_long_sum_keeps_its_digits() -> None:
    x = np.full((1, 1 << 20), 0.1, np.float32)
    # Pieces of 512 err by 512 half units in the last place at most; one plain sum by a thousand times as much.
    limit = 512 * 2.0**-24
    check_family(reduce.FAMILY, *one_node(ReduceSum((1,), False), [x]), rtol=limit)
    check_family(reduce.FAMILY, *one_node(ReduceMean((0,), False), [x.T.copy()]), rtol=limit)


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8"])
@pytest.mark.parametrize("op", [ReduceSum((1,)), ReduceMax((0,)), ReduceMin((0, 1))])
def test_integers(op: ReduceSum, dtype: str) -> None:
    x = np.random.default_rng(2).integers(0, 10, (4, 9)).astype(dtype)
    check_family(reduce.FAMILY, *one_node(op, [x]))


def test_a_not_a_number_wins() -> None:
    x = positive((4, 20))
    x[1, 3] = np.nan
    check_family(reduce.FAMILY, *one_node(ReduceMax((1,)), [x]))
    check_family(reduce.FAMILY, *one_node(ReduceMin((0,)), [x]))


@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_random_reductions(data: st.DataObject) -> None:
    shape = tuple(data.draw(st.lists(st.integers(1, 9), min_size=1, max_size=6)))
    axes = tuple(d for d in range(len(shape)) if data.draw(st.booleans()))
    name = data.draw(st.sampled_from(NAMES))
    op = getattr(ops, name)(axes, data.draw(st.booleans()))
    check_family(reduce.FAMILY, *one_node(op, [positive(shape)]), rtol=1e-4 if name == "ReduceProd" else 1e-5)


@pytest.mark.parametrize("op", [Softmax(0), Softmax(1), Softmax(2, 2.5), LogSoftmax(1), LogSoftmax(2)])
@pytest.mark.parametrize("shape", [(2, 5, 7), (1, 40, 6625), (3, 2, 1), (4, 3, 33)])
def test_softmax(op: Softmax, shape: tuple[int, ...]) -> None:
    x = 10 * np.random.default_rng(3).standard_normal(shape).astype(np.float32)
    check_family(softmax.FAMILY, *one_node(op, [x]), rtol=4e-6)


def test_softmax_of_large_numbers() -> None:
    check_family(softmax.FAMILY, *one_node(Softmax(1), [np.array([[1e30, -1e30, 1e30, 0.0]], np.float32)]), rtol=1e-6)


def test_work_items_of_a_gpu() -> None:
    gpu = {"kind": "gpu", "max_work_group_size": 64}
    check_family(reduce.FAMILY, *one_node(ReduceMean((1, 2)), [positive((2, 5, 6, 20))]), facts_changes=gpu)
    check_family(softmax.FAMILY, *one_node(Softmax(1), [positive((5, 9))]), facts_changes=gpu)
