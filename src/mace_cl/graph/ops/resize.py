"""Interpolation."""

from __future__ import annotations

from dataclasses import dataclass

from mace_cl.graph.ops.base import Operator


@dataclass(frozen=True)
class Resize(Operator):
    """x scaled to `shape` (every dimension given). Source: ONNX Resize-19, whose words are used.

    TFLite: align_corners is coordinate_mode 'align_corners'; half_pixel_centers is 'half_pixel'; neither is 'asymmetric';
    its nearest takes nearest_mode 'floor' (with half_pixel_centers likewise, after (x + 0.5) scale), and round_away
    (halves away from zero) with align_corners.

    Attributes:
        shape: Output shape.
        scales: Output over input size for each dimension, as the model gives them; they, not the shapes, map
            coordinates.
        mode: 'nearest', 'linear' or 'cubic'.
        coordinate_mode: 'half_pixel', 'half_pixel_symmetric', 'pytorch_half_pixel', 'align_corners', 'asymmetric',
            'tf_half_pixel_for_nn' ((x + 0.5) / scale) or 'tf_crop_and_resize'.
        nearest_mode: 'round_prefer_floor', 'round_prefer_ceil', 'floor', 'ceil' or 'round_away'.
        roi: Start of each dimension, then end of each (tf_crop_and_resize), else empty.
        extrapolation_value: For coordinates outside (tf_crop_and_resize).
    """

    shape: tuple[int, ...] = ()
    scales: tuple[float, ...] = ()
    mode: str = 'nearest'
    coordinate_mode: str = 'half_pixel'
    nearest_mode: str = 'round_prefer_floor'
    cubic_coeff_a: float = -0.75
    exclude_outside: bool = False
    antialias: bool = False
    extrapolation_value: float = 0.0
    roi: tuple[float, ...] = ()


@dataclass(frozen=True)
class GridSample(Operator):
    """x sampled at grid's points. Inputs: x [N, C, *S], grid [N, *T, len(S)] in [-1, 1]."""

    mode: str = 'linear'
    padding_mode: str = 'zeros'
    align_corners: bool = False

    n_inputs = (2, 2)
