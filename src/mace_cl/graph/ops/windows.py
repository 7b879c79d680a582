"""Geometry that convolutions and pools share: windows over spatial dimensions, and how arrays are padded and cut."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np

from mace_cl.errors import ShapeError
from mace_cl.graph.ops.base import Operator
from mace_cl.types import Shape

Pads = tuple[tuple[int, int], ...]


def spatial_of(shape: Shape, channels_last: bool) -> Shape:
    """The spatial dimensions of [N, C, *S] or [N, *S, C]."""
    return shape[1:-1] if channels_last else shape[2:]


def join(batch: int, channels: int, spatial: Sequence[int], channels_last: bool) -> Shape:
    """[N, C, *S] or [N, *S, C]."""
    return (batch, *spatial, channels) if channels_last else (batch, channels, *spatial)


def check_lengths(op: Operator, rank: int, **attributes: Sequence[Any]) -> None:
    """Each attribute has one entry for each of `rank` spatial dimensions.

    Raises:
        ShapeError: One has not; names it.
    """
    for name, values in attributes.items():
        if len(values) != rank:
            raise ShapeError(f"{name} has {len(values)} entries for {rank} spatial dimensions", where=op.name)


def check_positive(op: Operator, **attributes: Sequence[int]) -> None:
    """Every entry is at least 1.

    Raises:
        ShapeError: One is not; names it.
    """
    for name, values in attributes.items():
        if any(v < 1 for v in values):
            raise ShapeError(f"{name} {tuple(values)} has an entry below 1", where=op.name)


def check_pads(op: Operator, pads: Pads) -> None:
    """Every pad is at least 0.

    Raises:
        ShapeError: One is negative.
    """
    if any(a < 0 or b < 0 for a, b in pads):
        raise ShapeError(f"pads {pads} are negative", where=op.name)


def output_sizes(
    op: Operator, spatial: Shape, kernel: Shape, strides: Shape, pads: Pads, dilations: Shape
) -> tuple[int, ...]:
    """(in + begin + end - dilation (kernel - 1) - 1) // stride + 1 in each dimension.

    Raises:
        ShapeError: A window is larger than the padded input.
    """
    sizes = []
    for i, size in enumerate(spatial):
        room = size + sum(pads[i]) - dilations[i] * (kernel[i] - 1) - 1
        if room < 0:
            raise ShapeError(
                f"a window of {dilations[i] * (kernel[i] - 1) + 1} is larger than dimension {i} ({size} + {pads[i]})",
                where=op.name,
            )
        sizes.append(room // strides[i] + 1)
    return tuple(sizes)


def to_channels_last(x: np.ndarray, channels_last: bool) -> np.ndarray:
    """A view [N, *S, C] of an array in either layout."""
    return x if channels_last else np.moveaxis(x, 1, -1)


def from_channels_last(x: np.ndarray, channels_last: bool) -> np.ndarray:
    """The array in its layout, from [N, *S, C]."""
    return np.ascontiguousarray(x if channels_last else np.moveaxis(x, -1, 1))


def pad_spatial(x: np.ndarray, pads: Pads, value: float) -> np.ndarray:
    """[N, *S, C] with its spatial dimensions padded."""
    if all(p == (0, 0) for p in pads):
        return x
    return np.pad(x, ((0, 0), *pads, (0, 0)), constant_values=value)


def taps(
    x: np.ndarray, kernel: Shape, strides: Shape, dilations: Shape, out: Shape
) -> Iterator[tuple[tuple[int, ...], np.ndarray]]:
    """For each place in the window its index and the view [N, *out, C] of the padded input [N, *S, C] there."""
    for place in product(*(range(k) for k in kernel)):
        cut = tuple(
            slice(p * d, p * d + s * (o - 1) + 1, s) for p, d, s, o in zip(place, dilations, strides, out, strict=True)
        )
        yield place, x[(slice(None), *cut, slice(None))]


def tap_of(weights: np.ndarray, place: tuple[int, ...]) -> np.ndarray:
    """The matrices at one place of a window, from weights whose last dimensions are the window's."""
    index: Any = (..., *place)
    return np.asarray(weights[index])
