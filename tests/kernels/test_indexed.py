"""Elements and slices at indices, read and written, against the references on every runtime."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mace_cl.graph.ops import GatherElements, GatherND, ScatterElements, ScatterND
from mace_cl.kernels import gather_elements, gather_nd, scatter
from support.kernel_runner import check_family, one_node

GPU = {"kind": "gpu", "max_work_group_size": 64}


def numbers(shape: tuple[int, ...], dtype: str = "float32", seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 9, shape).astype(dtype)


def places(shape: tuple[int, ...], size: int, dtype: str = "int64") -> np.ndarray:
    return np.random.default_rng(2).integers(-size, size, shape).astype(dtype)


def tuples(shape: tuple[int, ...], dims: tuple[int, ...], seed: int = 3) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.stack([rng.integers(-d, d, shape) for d in dims], -1)


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("index_type", ["int32", "int64"])
def test_gathered_elements(axis: int, index_type: str) -> None:
    data = numbers((4, 5, 7))
    shape = tuple(9 if d == axis else n - 1 for d, n in enumerate(data.shape))
    indices = places(shape, data.shape[axis], index_type)
    check_family(gather_elements.FAMILY, *one_node(GatherElements(axis), [data, indices]), rtol=0.0)


@pytest.mark.parametrize("dtype", ["uint8", "float16", "int64", "bool"])
def test_gathered_elements_of_every_size(dtype: str) -> None:
    data = (numbers((30,)) % 2).astype(dtype)
    check_family(gather_elements.FAMILY, *one_node(GatherElements(0), [data, places((50,), 30)]), rtol=0.0)


@pytest.mark.parametrize(("batch", "depth"), [(0, 1), (0, 2), (0, 4), (1, 1), (1, 3), (2, 2)])
def test_gathered_slices(batch: int, depth: int) -> None:
    data = numbers((2, 3, 4, 5))
    shape = (*data.shape[:batch], 6)
    indices = tuples(shape, data.shape[batch : batch + depth])
    check_family(gather_nd.FAMILY, *one_node(GatherND(batch), [data, indices]), rtol=0.0)


@pytest.mark.parametrize("reduction", ["none", "add", "mul", "max", "min"])
@pytest.mark.parametrize("dtype", ["float32", "int64", "uint8"])
@pytest.mark.parametrize("axis", [0, 1])
def test_scattered_elements(reduction: str, dtype: str, axis: int) -> None:
    data = numbers((6, 7), dtype)
    shape = (9, 5) if axis == 0 else (4, 12)
    inputs = [data, places(shape, data.shape[axis]), numbers(shape, dtype, 5)]
    check_family(scatter.FAMILY, *one_node(ScatterElements(axis, reduction), inputs), rtol=1e-6)


@pytest.mark.parametrize("reduction", ["none", "add", "mul", "max", "min"])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_scattered_slices(reduction: str, depth: int) -> None:
    data = numbers((5, 3, 4))
    indices = tuples((2, 4), data.shape[:depth])
    inputs = [data, indices, numbers((2, 4, *data.shape[depth:]), seed=5)]
    check_family(scatter.FAMILY, *one_node(ScatterND(reduction), inputs), rtol=1e-6)
    check_family(scatter.FAMILY, *one_node(ScatterND(reduction), inputs), rtol=1e-6, facts_changes=GPU)


def test_many_scattered_slices() -> None:
    data = numbers((400, 50))
    inputs = [data, tuples((300,), (400,)), numbers((300, 50), seed=5)]
    check_family(scatter.FAMILY, *one_node(ScatterND(), inputs), rtol=0.0)


def test_a_not_a_number_wins() -> None:
    data = np.array([1, np.nan, 3], np.float32)
    updates = np.array([np.nan, 5, 6], np.float32)
    check_family(scatter.FAMILY, *one_node(ScatterElements(0, "max"), [data, np.array([0, 1, 2]), updates]))


@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_random_elements(data: st.DataObject) -> None:
    shape = tuple(data.draw(st.lists(st.integers(1, 6), min_size=1, max_size=6)))
    axis = data.draw(st.integers(0, len(shape) - 1))
    index_shape = tuple(data.draw(st.integers(1, 7 if d == axis else n)) for d, n in enumerate(shape))
    x, indices = numbers(shape), places(index_shape, shape[axis])
    check_family(gather_elements.FAMILY, *one_node(GatherElements(axis), [x, indices]), rtol=0.0, facts_changes=GPU)
    check_family(
        scatter.FAMILY,
        *one_node(ScatterElements(axis), [x, indices, numbers(index_shape, seed=7)]),
        rtol=0.0,
        facts_changes=GPU,
    )
