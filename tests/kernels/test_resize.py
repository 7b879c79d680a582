"""Scaling kernels against the references, on every runtime."""

from __future__ import annotations

import numpy as np
import pytest

from mace_cl.graph.ops import Resize
from mace_cl.graph.ops.interpolation import COORDINATE_MODES
from mace_cl.kernels.resize import FAMILY
from support.kernel_runner import check_family, one_node


def floats(shape: tuple[int, ...]) -> np.ndarray:
    return np.random.default_rng(1).standard_normal(shape).astype(np.float32)


def scaled(
    shape: tuple[int, ...], out: tuple[int, ...], mode: str, coordinates: str = "half_pixel", **more: object
) -> Resize:
    scales = tuple(o / n for o, n in zip(out, shape, strict=True))
    return Resize(out, scales, mode, coordinates, **more)  # type: ignore[arg-type]


SHAPES = [
    ((1, 6, 5, 24), (1, 12, 10, 24)),
    ((2, 7, 9, 3), (2, 4, 20, 3)),
    ((1, 3, 6, 5), (1, 3, 9, 4)),
    ((1, 5, 8), (1, 11, 8)),
    ((6,), (13,)),
    ((2, 4, 5, 6, 3), (2, 6, 7, 4, 3)),
    ((3, 4), (3, 4)),
]


@pytest.mark.parametrize("mode", ["linear", "cubic", "nearest"])
@pytest.mark.parametrize(("shape", "out"), SHAPES)
def test_shapes(shape: tuple[int, ...], out: tuple[int, ...], mode: str) -> None:
    check_family(FAMILY, *one_node(scaled(shape, out, mode), [floats(shape)]), rtol=4e-6)


@pytest.mark.parametrize("mode", ["linear", "cubic"])
@pytest.mark.parametrize("coordinates", [m for m in COORDINATE_MODES if m != "tf_crop_and_resize"])
@pytest.mark.parametrize("antialias", [False, True])
def test_modes(mode: str, coordinates: str, antialias: bool) -> None:
    shape, out = (1, 9, 8, 5), (1, 4, 19, 5)
    op = scaled(shape, out, mode, coordinates, antialias=antialias, exclude_outside=mode == "cubic")
    check_family(FAMILY, *one_node(op, [floats(shape)]), rtol=4e-6)


def test_crop_with_extrapolation() -> None:
    roi = (0.0, -0.2, 0.1, 0.0, 1.0, 1.3, 0.8, 1.0)
    op = scaled((1, 6, 7, 4), (1, 9, 5, 4), "linear", "tf_crop_and_resize", roi=roi, extrapolation_value=10.0)
    check_family(FAMILY, *one_node(op, [floats((1, 6, 7, 4))]), rtol=4e-6)


def test_work_items_of_a_gpu() -> None:
    gpu = {"kind": "gpu", "max_work_group_size": 64}
    op = scaled((1, 6, 5, 24), (1, 12, 10, 24), "linear")
    check_family(FAMILY, *one_node(op, [floats((1, 6, 5, 24))]), rtol=4e-6, facts_changes=gpu)
