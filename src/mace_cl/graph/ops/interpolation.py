"""Interpolation along one dimension: where output elements lie in the input, and the weights of its elements there.

Source: ONNX operator Resize-19 (coordinate modes, nearest modes, cubic coefficients, antialiasing).
"""

from __future__ import annotations

import math

import numpy as np

COORDINATE_MODES = (
    "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_half_pixel_for_nn",
    "tf_crop_and_resize",
)  # fmt: skip
NEAREST_MODES = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "round_away")


def input_coordinates(
    mode: str, size: int, out: int, scale: float, roi: tuple[float, float] = (0.0, 1.0)
) -> np.ndarray:
    """Where each output element lies in the input.

    Args:
        mode: One of COORDINATE_MODES.
        size: Input elements.
        out: Output elements.
        scale: Output over input size, as the model gives it.
        roi: Start and end, as fractions, for tf_crop_and_resize.

    Returns:
        [out] float64 coordinates; they may lie outside the input.
    """
    x = np.arange(out, dtype=np.float64)
    # The length that the scale stands for, which the output's size rounds down.
    length = size * scale
    if mode == "half_pixel":
        return (x + 0.5) / scale - 0.5
    if mode == "half_pixel_symmetric":
        adjustment = out / length
        centre = size / 2
        return centre * (1 - adjustment) + (x + 0.5) / scale - 0.5
    if mode == "pytorch_half_pixel":
        return (x + 0.5) / scale - 0.5 if length > 1 else np.zeros(out)
    if mode == "align_corners":
        return x * (size - 1) / (length - 1) if length != 1 and out > 1 else np.zeros(out)
    if mode == "asymmetric":
        return x / scale
    if mode == "tf_half_pixel_for_nn":
        return (x + 0.5) / scale
    start, end = roi
    if out > 1:
        return start * (size - 1) + x * (end - start) * (size - 1) / (length - 1)
    return np.full(out, 0.5 * (start + end) * (size - 1))


def nearest_indices(coordinates: np.ndarray, mode: str, size: int) -> np.ndarray:
    """The input element for each coordinate, clamped to the input."""
    if mode == "round_prefer_floor":
        index = np.ceil(coordinates - 0.5)
    elif mode == "round_prefer_ceil":
        index = np.floor(coordinates + 0.5)
    elif mode == "floor":
        index = np.floor(coordinates)
    elif mode == "ceil":
        index = np.ceil(coordinates)
    else:
        index = np.copysign(np.floor(np.abs(coordinates) + 0.5), coordinates)
    return np.clip(index, 0, size - 1).astype(np.int64)


def weight_table(
    coordinates: np.ndarray,
    mode: str,
    size: int,
    scale: float,
    *,
    cubic_a: float = -0.75,
    exclude_outside: bool = False,
    antialias: bool = False,
) -> tuple[np.ndarray, np.ndarray]:
    """Input elements and their weights for each output element.

    Args:
        coordinates: [out] from `input_coordinates`.
        mode: 'linear' or 'cubic'.
        size: Input elements.
        scale: Output over input size; below 1 it widens the kernel under `antialias`.
        cubic_a: The cubic kernel's coefficient.
        exclude_outside: Elements outside the input weigh nothing and the others are scaled to a sum of 1; otherwise the
            edge stands for them.
        antialias: Widen the kernel when shrinking.

    Returns:
        Indices [out, taps] int64 within the input and weights [out, taps] float64; an index may stand there twice.
    """
    stretch = min(scale, 1.0) if antialias else 1.0
    radius = (1 if mode == "linear" else 2) / stretch
    low = np.floor(coordinates).astype(np.int64)
    reach = math.ceil(radius)
    offsets = np.arange(1 - reach, reach + 1)
    index = low[:, None] + offsets
    distance = np.abs(index - coordinates[:, None]) * stretch
    weights = np.maximum(0.0, 1.0 - distance) if mode == "linear" else _cubic(distance, cubic_a)
    if exclude_outside or antialias:
        if exclude_outside:
            weights = np.where((index >= 0) & (index < size), weights, 0.0)
        total = weights.sum(axis=1, keepdims=True)
        weights = weights / np.where(total == 0, 1.0, total)
    return np.clip(index, 0, size - 1), weights


def _cubic(distance: np.ndarray, a: float) -> np.ndarray:
    """Keys' cubic kernel at distances of at least 0."""
    near = ((a + 2) * distance - (a + 3)) * distance * distance + 1
    far = ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a
    return np.where(distance <= 1, near, np.where(distance < 2, far, 0.0))
