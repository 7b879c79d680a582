"""Scaling and sampling of images and other tensors."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from mace_cl.errors import ShapeError
from mace_cl.graph.ops.base import Arrays, Cost, Operator, Types, need, need_array
from mace_cl.graph.ops.interpolation import (
    COORDINATE_MODES,
    NEAREST_MODES,
    input_coordinates,
    nearest_indices,
    weight_table,
)
from mace_cl.types import TensorType, type_of


@dataclass(frozen=True)
class Resize(Operator):
    """x scaled to `shape` (every dimension given). Source: ONNX Resize-19, whose words are used.

    TFLite: align_corners is coordinate_mode 'align_corners'; half_pixel_centers is 'half_pixel'; neither is
    'asymmetric'. Its nearest takes nearest_mode 'floor' (with half_pixel_centers after (x + 0.5) / scale, which is
    'tf_half_pixel_for_nn'), and 'round_away' (halves away from zero) with align_corners.

    Attributes:
        shape: Output shape.
        scales: Output over input size for each dimension, as the model gives them; they, not the shapes, map
            coordinates.
        mode: 'nearest', 'linear' or 'cubic'.
        coordinate_mode: 'half_pixel', 'half_pixel_symmetric', 'pytorch_half_pixel', 'align_corners', 'asymmetric',
            'tf_half_pixel_for_nn' ((x + 0.5) / scale) or 'tf_crop_and_resize'.
        nearest_mode: 'round_prefer_floor', 'round_prefer_ceil', 'floor', 'ceil' or 'round_away'.
        cubic_coeff_a: Coefficient of the cubic kernel.
        exclude_outside: Elements outside x weigh nothing (linear and cubic).
        antialias: Widen the kernel when shrinking.
        extrapolation_value: For coordinates outside (tf_crop_and_resize).
        roi: Start of each dimension, then end of each (tf_crop_and_resize), else empty.
    """

    shape: tuple[int, ...] = ()
    scales: tuple[float, ...] = ()
    mode: str = "nearest"
    coordinate_mode: str = "half_pixel"
    nearest_mode: str = "round_prefer_floor"
    cubic_coeff_a: float = -0.75
    exclude_outside: bool = False
    antialias: bool = False
    extrapolation_value: float = 0.0
    roi: tuple[float, ...] = ()

    def infer(self, inputs: Types) -> tuple[TensorType, ...]:
        """x's type in the new shape."""
        x = need(inputs, 0, self)
        if len(self.shape) != x.rank or len(self.scales) != x.rank or len(self.roi) not in (0, 2 * x.rank):
            raise ShapeError(f"shape, scales and roi do not fit the {x.rank} dimensions of {x}", where=self.name)
        if any(not s > 0 for s in self.scales) or any(d < 0 for d in self.shape):
            raise ShapeError(f"scales {self.scales} and shape {self.shape} must be positive", where=self.name)
        if any(d and not n for d, n in zip(self.shape, x.shape, strict=True)):
            raise ShapeError(f"{x} has no elements to make {self.shape} of", where=self.name)
        for value, known in (
            (self.mode, ("nearest", "linear", "cubic")),
            (self.coordinate_mode, COORDINATE_MODES),
            (self.nearest_mode, NEAREST_MODES),
        ):
            if value not in known:
                raise ShapeError(f"{value!r} is none of {', '.join(known)}", where=self.name)
        return (x.with_shape(self.shape),)

    def scaled_axes(self, x: TensorType) -> tuple[int, ...]:
        """The dimensions that interpolation changes."""
        crop = self.coordinate_mode == "tf_crop_and_resize"
        return tuple(
            d for d in range(x.rank) if x.shape[d] != self.shape[d] or self.scales[d] != 1.0 or (crop and self._cuts(d))
        )

    def _cuts(self, axis: int) -> bool:
        return bool(self.roi) and self.roi_of(axis) != (0.0, 1.0)

    def roi_of(self, axis: int) -> tuple[float, float]:
        """Start and end of a dimension's region."""
        return (self.roi[axis], self.roi[len(self.roi) // 2 + axis]) if self.roi else (0.0, 1.0)

    def coordinates(self, axis: int, size: int) -> np.ndarray:
        """Where each output element of a dimension lies in the input of `size` elements."""
        roi = self.roi_of(axis)
        return input_coordinates(self.coordinate_mode, size, self.shape[axis], self.scales[axis], roi)

    def table(self, axis: int, size: int) -> tuple[np.ndarray, np.ndarray]:
        """Indices and weights of a dimension, whatever the mode: nearest has one tap of weight 1."""
        where = self.coordinates(axis, size)
        if self.mode == "nearest":
            return nearest_indices(where, self.nearest_mode, size)[:, None], np.ones((len(where), 1))
        return weight_table(
            where,
            self.mode,
            size,
            self.scales[axis],
            cubic_a=self.cubic_coeff_a,
            exclude_outside=self.exclude_outside,
            antialias=self.antialias,
        )

    def outside(self, axis: int, size: int) -> np.ndarray:
        """[out] bool: output elements of a dimension that take the extrapolation value."""
        if self.coordinate_mode != "tf_crop_and_resize":
            return np.zeros(self.shape[axis], bool)
        where = self.coordinates(axis, size)
        return (where < 0) | (where > size - 1)

    def reference(self, inputs: Arrays) -> tuple[np.ndarray, ...]:
        """One dimension after another."""
        x = need_array(inputs, 0, self)
        whole = x.dtype.kind != "f"
        result = x if self.mode == "nearest" else x.astype(np.promote_types(x.dtype, np.float32), copy=False)
        axes = self.scaled_axes(type_of(x))
        for axis in axes:
            index, weights = self.table(axis, x.shape[axis])
            if self.mode == "nearest":
                result = np.take(result, index[:, 0], axis)
                continue
            matrix = np.zeros((len(index), x.shape[axis]), result.dtype)
            np.add.at(matrix, (np.arange(len(index))[:, None], index), weights)
            result = np.moveaxis(np.tensordot(matrix, result, (1, axis)), 0, axis)
        for axis in axes:
            mask = self.outside(axis, x.shape[axis])
            if mask.any():
                shape = [1] * x.ndim
                shape[axis] = -1
                result = np.where(mask.reshape(shape), np.asarray(self.extrapolation_value, result.dtype), result)
        if whole and self.mode != "nearest":
            limits = np.iinfo(x.dtype)
            result = np.clip(np.rint(result), limits.min, limits.max)
        return (np.ascontiguousarray(result).astype(x.dtype, copy=False),)

    def cost(self, inputs: Types, outputs: Types) -> Cost:
        """Two operations for each tap of each output element."""
        x, y = need(inputs, 0, self), need(outputs, 0, self)
        taps = {"nearest": 0, "linear": 2, "cubic": 4}[self.mode] ** len(self.scaled_axes(x))
        return Cost(2 * y.elements * taps, x.nbytes + y.nbytes)


@dataclass(frozen=True)
class GridSample(Operator):
    """x sampled at grid's points. Inputs: x [N, C, *S], grid [N, *T, len(S)] with values from -1 to 1 inside x.

    Attributes:
        mode: 'linear', 'nearest' or 'cubic' (cubic for two spatial dimensions).
        padding_mode: 'zeros', 'border' or 'reflection'.
        align_corners: Whether -1 and 1 are the centres of the corner elements, or their outer edges.
    """

    mode: str = "linear"
    padding_mode: str = "zeros"
    align_corners: bool = False

    n_inputs = (2, 2)

    def infer(self, inputs: Types) -> tuple[TensorType, ...]:
        """[N, C, *T]."""
        x, grid = need(inputs, 0, self), need(inputs, 1, self)
        if x.rank < 3 or grid.rank != x.rank or grid.shape[0] != x.shape[0] or grid.shape[-1] != x.rank - 2:
            raise ShapeError(f"grid {grid} does not fit x {x}", where=self.name)
        if self.mode not in ("linear", "nearest", "cubic") or self.padding_mode not in (
            "zeros",
            "border",
            "reflection",
        ):
            raise ShapeError(f"mode {self.mode!r} with padding {self.padding_mode!r} is not known", where=self.name)
        return (x.with_shape((*x.shape[:2], *grid.shape[1:-1])),)

    def reference(self, inputs: Arrays) -> tuple[np.ndarray, ...]:
        """A sum over the corners around each point."""
        x, grid = need_array(inputs, 0, self), need_array(inputs, 1, self)
        spatial = x.shape[2:]
        index, weight = [], []
        for d, size in enumerate(spatial):
            # The grid names x (the last dimension) first.
            where = self._pixel(grid[..., len(spatial) - 1 - d].astype(np.float64), size)
            i, w = self._taps(where, size)
            index.append(i)
            weight.append(w)
        batch = np.arange(x.shape[0]).reshape(-1, *(1,) * (grid.ndim - 2))
        total = np.zeros((*grid.shape[:-1], x.shape[1]), np.promote_types(x.dtype, np.float32))
        data = np.moveaxis(x, 1, -1)
        for corner in product(*(range(w.shape[-1]) for w in weight)):
            factor = np.ones(grid.shape[:-1])
            places = []
            for d, tap in enumerate(corner):
                places.append(index[d][..., tap])
                factor = factor * weight[d][..., tap]
            total += data[(batch, *places)] * factor[..., None]
        return (np.ascontiguousarray(np.moveaxis(total, -1, 1)).astype(x.dtype, copy=False),)

    def _pixel(self, grid: np.ndarray, size: int) -> np.ndarray:
        """Coordinates in elements."""
        return (grid + 1) / 2 * (size - 1) if self.align_corners else ((grid + 1) * size - 1) / 2

    def _taps(self, where: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
        """Indices and weights along one dimension, [..., taps]; padding is folded into both."""
        if self.padding_mode == "border" and self.mode != "cubic":
            where = np.clip(where, 0, size - 1)
        elif self.padding_mode == "reflection" and self.mode != "cubic":
            where = self._reflected(where, size)
        if self.mode == "nearest":
            index = np.rint(where)[..., None]
            weights = np.ones_like(index)
        elif self.mode == "linear":
            low = np.floor(where)
            index = low[..., None] + np.arange(2)
            weights = np.stack([1 - (where - low), where - low], -1)
        else:
            low = np.floor(where)
            index = low[..., None] + np.arange(-1, 3)
            weights = _cubic_weights(where - low)
        if self.mode == "cubic" and self.padding_mode == "reflection":
            index = self._reflected(index, size)
        inside = (index >= 0) & (index <= size - 1)
        if self.padding_mode == "zeros":
            weights = np.where(inside, weights, 0.0)
        return np.clip(np.rint(index), 0, size - 1).astype(np.int64), weights

    def _reflected(self, where: np.ndarray, size: int) -> np.ndarray:
        """Coordinates folded back into the input, at element centres or edges."""
        low, high = (0.0, size - 1.0) if self.align_corners else (-0.5, size - 0.5)
        span = high - low
        if span == 0:
            return np.zeros_like(where)
        folded = np.abs(where - low) % (2 * span)
        return np.clip(np.where(folded > span, 2 * span - folded, folded) + low, 0, size - 1)

    def cost(self, inputs: Types, outputs: Types) -> Cost:
        """Two operations for each corner of each output element."""
        x, y = need(inputs, 0, self), need(outputs, 0, self)
        corners = {"nearest": 1, "linear": 2, "cubic": 4}[self.mode] ** (x.rank - 2)
        moved = sum(t.nbytes for t in (*inputs, *outputs) if t is not None)
        return Cost(2 * y.elements * corners, moved)


def _cubic_weights(t: np.ndarray) -> np.ndarray:
    """Weights of the four elements around a point at fraction t, coefficient -0.75."""
    a = -0.75

    def near(d: np.ndarray) -> np.ndarray:
        return np.asarray(((a + 2) * d - (a + 3)) * d * d + 1)

    def far(d: np.ndarray) -> np.ndarray:
        return np.asarray(((a * d - 5 * a) * d + 8 * a) * d - 4 * a)

    return np.stack([far(1 + t), near(t), near(1 - t), far(2 - t)], -1)
