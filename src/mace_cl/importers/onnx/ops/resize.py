"""Scaling and sampling."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias, TypeVar

from mace_cl.errors import ImportModelError, ShapeError
from mace_cl.graph import Value, ops
from mace_cl.importers.onnx.context import Context, axes_of
from mace_cl.importers.onnx.registry import handles
from mace_cl.types import Shape

Scales: TypeAlias = tuple[float, ...]

_N = TypeVar("_N", int, float)


@handles("Upsample")
def upsample_attribute(ctx: Context) -> Value:
    """Scales are an attribute."""
    return _asymmetric(ctx, ctx.attr_floats("scales"))


@handles("Upsample", since=9)
@handles("Resize", since=10)
def upsample(ctx: Context) -> Value:
    """Scales are an operand."""
    return _asymmetric(ctx, _floats(ctx, 1, "scales"))


def _asymmetric(ctx: Context, scales: Scales) -> Value:
    """Before operator set 11: coordinates are x / scale, and nearest rounds up where it shrinks, down elsewhere."""
    x = ctx.value(0)
    mode = ctx.attr_text("mode", "nearest")
    mode = "linear" if mode == "bilinear" else mode
    _check_scales(scales, x.type.rank)
    parts: list[tuple[Scales, str]] = [(scales, "floor")]
    if mode == "nearest" and min(scales) < 1:
        parts = [(tuple(min(s, 1.0) for s in scales), "ceil"), (tuple(max(s, 1.0) for s in scales), "floor")]
    for part, nearest in parts:
        if any(s != 1 for s in part):
            shape = _scaled(x.shape, part)
            op = ops.Resize(shape, part, mode, coordinate_mode="asymmetric", nearest_mode=nearest)
            x = ctx.emit(op, x)
    return x


@handles("Resize", since=11)
def resize(ctx: Context) -> Value:
    """Scales or sizes, for some of the dimensions or all."""
    x = ctx.value(0)
    rank = x.type.rank
    axes = axes_of(ctx.attr_ints("axes"), rank) if ctx.has("axes") else tuple(range(rank))
    coordinates = ctx.attr_text("coordinate_transformation_mode", "half_pixel")
    roi = _region(ctx, axes, rank) if coordinates == "tf_crop_and_resize" else ()
    shape, scales = _target(ctx, x.shape, axes, roi)
    op = ops.Resize(
        shape,
        scales,
        ctx.attr_text("mode", "nearest"),
        coordinates,
        ctx.attr_text("nearest_mode", "round_prefer_floor"),
        ctx.attr_float("cubic_coeff_a", -0.75),
        ctx.attr_bool("exclude_outside"),
        ctx.attr_bool("antialias"),
        ctx.attr_float("extrapolation_value", 0.0),
        roi,
    )
    return ctx.emit(op, x)


def _target(ctx: Context, shape: Shape, axes: Shape, roi: Scales) -> tuple[Shape, Scales]:
    """The output's shape, and the scale of each dimension."""
    if _is_given(ctx, 3):
        return _by_sizes(ctx, shape, axes)
    if not _is_given(ctx, 2):
        raise ImportModelError("gives neither scales nor sizes")
    given = dict(zip(axes, _checked(_floats(ctx, 2, "scales"), axes), strict=True))
    scales = tuple(given.get(i, 1.0) for i in range(len(shape)))
    _check_scales(scales, len(shape))
    if not roi:
        return _scaled(shape, scales), scales
    cut = tuple(s * (roi[len(shape) + i] - roi[i]) for i, s in enumerate(scales))
    out = _scaled(shape, cut)
    return out, tuple(o / n if n else 1.0 for o, n in zip(out, shape, strict=True))


def _by_sizes(ctx: Context, shape: Shape, axes: Shape) -> tuple[Shape, Scales]:
    sizes = dict(zip(axes, _checked(ctx.ints(3, "sizes"), axes), strict=True))
    if min(sizes.values(), default=1) < 0 or min(shape, default=1) < 1:
        raise ShapeError(f"sizes {list(sizes.values())} do not fit {list(shape)}")
    policy = ctx.attr_text("keep_aspect_ratio_policy", "stretch")
    ratios = {i: size / shape[i] for i, size in sizes.items()}
    if policy in ("not_larger", "not_smaller"):
        ratio = min(ratios.values()) if policy == "not_larger" else max(ratios.values())
        ratios = dict.fromkeys(ratios, ratio)
        sizes = {i: math.floor(ratio * shape[i] + 0.5) for i in sizes}
    elif policy != "stretch":
        raise ImportModelError(f"keep_aspect_ratio_policy {policy!r} is not known")
    out = tuple(sizes.get(i, d) for i, d in enumerate(shape))
    return out, tuple(ratios.get(i, 1.0) for i in range(len(shape)))


def _checked(values: Sequence[_N], axes: Shape) -> Sequence[_N]:
    if len(values) != len(axes):
        raise ShapeError(f"{len(values)} scales or sizes are given for {len(axes)} dimensions")
    return values


def _region(ctx: Context, axes: Shape, rank: int) -> Scales:
    """Starts and ends of all dimensions."""
    given = _floats(ctx, 1, "roi")
    if len(given) != 2 * len(axes):
        raise ShapeError(f"roi has {len(given)} numbers for {len(axes)} dimensions")
    starts, ends = [0.0] * rank, [1.0] * rank
    for i, axis in enumerate(axes):
        starts[axis], ends[axis] = given[i], given[len(axes) + i]
    return (*starts, *ends)


def _is_given(ctx: Context, index: int) -> bool:
    """Whether an operand is there; an empty tensor stands for none."""
    value = ctx.optional(index)
    return value is not None and value.type.elements > 0


def _floats(ctx: Context, index: int, what: str) -> Scales:
    return tuple(float(v) for v in ctx.array(index, what).reshape(-1))


def _check_scales(scales: Scales, rank: int) -> None:
    if len(scales) != rank or any(not 0 < s < math.inf for s in scales):
        raise ShapeError(f"scales {list(scales)} do not fit {rank} dimensions, or are not positive")


def _scaled(shape: Shape, scales: Scales) -> Shape:
    return tuple(math.floor(n * s) for n, s in zip(shape, scales, strict=True))


_SAMPLING = {"bilinear": "linear", "bicubic": "cubic"}
"""Names of operator set 16 to those since 20."""


@handles("GridSample")
def grid_sample(ctx: Context) -> Value:
    """x at the grid's points."""
    mode = ctx.attr_text("mode", "linear")
    op = ops.GridSample(
        _SAMPLING.get(mode, mode), ctx.attr_text("padding_mode", "zeros"), ctx.attr_bool("align_corners")
    )
    return ctx.emit(op, ctx.value(0), ctx.value(1))
