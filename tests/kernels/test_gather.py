"""Gathering and searching against the references, exactly, on every runtime."""

from __future__ import annotations

import numpy as np
import pytest

from mace_cl.graph.ops import ArgMax, ArgMin, Gather
from mace_cl.kernels import gather, search
from mace_cl.types import DataType
from support.kernel_runner import check_family, one_node


def numbers(shape: tuple[int, ...], dtype: str = "float32") -> np.ndarray:
    return np.random.default_rng(1).integers(0, 9, shape).astype(dtype)


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (1, 1, 4)])
@pytest.mark.parametrize("index_type", ["int32", "int64"])
def test_axes(axis: int, shape: tuple[int, ...], index_type: str) -> None:
    data = numbers((4, 5, 17))
    size = data.shape[axis]
    indices = np.random.default_rng(2).integers(-size, size, shape).astype(index_type)
    check_family(gather.FAMILY, *one_node(Gather(axis), [data, indices]), rtol=0.0)


@pytest.mark.parametrize("dtype", ["uint8", "int64", "float16", "bool"])
def test_every_size_of_element(dtype: str) -> None:
    data = (numbers((40, 12), "int64") % 2).astype(dtype)
    check_family(gather.FAMILY, *one_node(Gather(0), [data, np.array([[3, 39], [0, -1]])]), rtol=0.0)


def test_batch_dimensions() -> None:
    indices = np.random.default_rng(2).integers(0, 6, (2, 3, 4))
    check_family(gather.FAMILY, *one_node(Gather(2, 1), [numbers((2, 5, 6, 3)), indices]), rtol=0.0)


@pytest.mark.parametrize("op", [ArgMax, ArgMin])
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "int32", "int64", "uint8"])
def test_searches_with_ties(op: type[ArgMax], axis: int, last: bool, dtype: str) -> None:
    check_family(
        search.FAMILY, *one_node(op(axis, axis == 1, last, DataType.INT32), [numbers((3, 7, 9), dtype)]), rtol=0.0
    )


def test_the_first_not_a_number_wins() -> None:
    x = numbers((2, 9))
    x[0, 3] = x[0, 6] = np.nan
    check_family(search.FAMILY, *one_node(ArgMax(1), [x]))
    check_family(search.FAMILY, *one_node(ArgMin(1), [x]))


def test_work_items_of_a_gpu() -> None:
    gpu = {"kind": "gpu", "max_work_group_size": 64}
    check_family(search.FAMILY, *one_node(ArgMax(1), [numbers((3, 7, 9))]), rtol=0.0, facts_changes=gpu)
    check_family(
        gather.FAMILY, *one_node(Gather(1), [numbers((3, 7, 9)), np.array([1, 5])]), rtol=0.0, facts_changes=gpu
    )
