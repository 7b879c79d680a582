"""Sampling at points of a grid against the reference on every runtime."""

from __future__ import annotations

import numpy as np
import pytest

from mace_cl.graph.ops import GridSample
from mace_cl.kernels import grid_sample
from support.kernel_runner import check_family, one_node

MODES = [
    (mode, padding, corners)
    for mode in ("nearest", "linear", "cubic")
    for padding in ("zeros", "border", "reflection")
    for corners in (True, False)
]


def inputs(x_shape: tuple[int, ...], points: tuple[int, ...]) -> list[np.ndarray]:
    rng = np.random.default_rng(1)
    grid = rng.uniform(-2.5, 2.5, (x_shape[0], *points, len(x_shape) - 2))
    return [rng.standard_normal(x_shape).astype(np.float32), grid.astype(np.float32)]


# Coordinates of up to 30 elements err by a few units in the last place, which weighs the difference of neighbours.
LIMIT = 30 * 2.0**-21


@pytest.mark.parametrize(("mode", "padding", "corners"), MODES)
def test_two_dimensions(mode: str, padding: str, corners: bool) -> None:
    op = GridSample(mode, padding, corners)
    check_family(grid_sample.FAMILY, *one_node(op, inputs((2, 3, 9, 11), (5, 7))), rtol=LIMIT)


@pytest.mark.parametrize(("mode", "padding", "corners"), [m for m in MODES if m[0] != "cubic"])
def test_one_and_three_dimensions(mode: str, padding: str, corners: bool) -> None:
    op = GridSample(mode, padding, corners)
    check_family(grid_sample.FAMILY, *one_node(op, inputs((2, 3, 9), (5,))), rtol=LIMIT)
    check_family(grid_sample.FAMILY, *one_node(op, inputs((1, 2, 4, 5, 6), (3, 2, 5))), rtol=LIMIT)


def test_one_element() -> None:
    for padding in ("zeros", "border", "reflection"):
        for corners in (True, False):
            op = GridSample("linear", padding, corners)
            check_family(grid_sample.FAMILY, *one_node(op, inputs((1, 1, 1, 1), (4, 4))), rtol=LIMIT)


def test_work_items_of_a_gpu() -> None:
    gpu = {"kind": "gpu", "max_work_group_size": 64}
    check_family(
        grid_sample.FAMILY, *one_node(GridSample(), inputs((2, 3, 9, 11), (5, 7))), rtol=LIMIT, facts_changes=gpu
    )
