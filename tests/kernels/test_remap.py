"""Padding, nearest scaling and constant gathering against the references, exactly, on every runtime."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mace_cl.graph.ops import Gather, Pad, Resize
from mace_cl.graph.ops.interpolation import COORDINATE_MODES, NEAREST_MODES
from mace_cl.kernels.remap import FAMILY
from support.kernel_runner import check_family, one_node


def numbers(shape: tuple[int, ...], dtype: str = "float32") -> np.ndarray:
    return np.random.default_rng(1).integers(1, 100, shape).astype(dtype)


@pytest.mark.parametrize("mode", ["constant", "reflect", "symmetric", "edge", "wrap"])
@pytest.mark.parametrize(
    ("shape", "pads"),
    [
        ((1, 6, 5, 24), ((0, 0), (0, 0), (0, 0), (0, 4))),
        ((1, 6, 5, 9), ((0, 0), (1, 2), (3, 0), (0, 0))),
        ((2, 3, 4), ((1, 0), (2, 2), (3, 1))),
        ((4, 5), ((-1, 2), (1, -2))),
        ((7,), ((3, 3),)),
    ],
)
def test_pads(mode: str, shape: tuple[int, ...], pads: tuple[tuple[int, int], ...]) -> None:
    check_family(FAMILY, *one_node(Pad(pads, mode, 2.5), [numbers(shape)]), rtol=0.0)


@pytest.mark.parametrize("dtype", ["uint8", "int16", "int64", "float64", "float16"])
def test_every_size_of_element(dtype: str) -> None:
    check_family(FAMILY, *one_node(Pad(((1, 1), (0, 3)), value=7.0), [numbers((3, 20), dtype)]), rtol=0.0)


@pytest.mark.parametrize("coordinates", [m for m in COORDINATE_MODES if m != "tf_crop_and_resize"])
@pytest.mark.parametrize("rounding", NEAREST_MODES)
def test_nearest(coordinates: str, rounding: str) -> None:
    op = Resize((1, 7, 10, 9), (1.0, 7 / 5, 10 / 4, 1.0), "nearest", coordinates, rounding)
    check_family(FAMILY, *one_node(op, [numbers((1, 5, 4, 9))]), rtol=0.0)


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("indices", [np.array([2, 0, -1, 1]), np.array(1), np.array([0], np.int32)])
def test_constant_gather(axis: int, indices: np.ndarray) -> None:
    check_family(FAMILY, *one_node(Gather(axis), [numbers((3, 4, 5)), indices], constants=[1]), rtol=0.0)


@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_random_pads(data: st.DataObject) -> None:
    shape = tuple(data.draw(st.lists(st.integers(1, 9), min_size=1, max_size=5)))
    amount = st.integers(0, 3)
    pads = tuple((data.draw(amount), data.draw(amount)) for _ in shape)
    check_family(FAMILY, *one_node(Pad(pads, value=-1.5), [numbers(shape)]), rtol=0.0)


def test_work_items_of_a_gpu() -> None:
    gpu = {"kind": "gpu", "max_work_group_size": 64}
    check_family(FAMILY, *one_node(Pad(((0, 0), (1, 2), (3, 0))), [numbers((2, 5, 9))]), rtol=0.0, facts_changes=gpu)
