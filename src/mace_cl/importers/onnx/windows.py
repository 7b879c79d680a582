"""Geometry that convolutions and pools share: ONNX's pads, auto_pad and ceil_mode."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from mace_cl.errors import ImportModelError, ShapeError
from mace_cl.importers.onnx.context import Context
from mace_cl.types import Shape

Pads: TypeAlias = tuple[tuple[int, int], ...]

AUTO_PADS = ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER")


def pairs(pads: Sequence[int], rank: int) -> Pads:
    """ONNX's list of pads, all begins before all ends, as a pair for each dimension.

    Raises:
        ShapeError: There is not a pair for each.
    """
    if len(pads) != 2 * rank:
        raise ShapeError(f"{len(pads)} pads are given for {rank} dimensions")
    return tuple((pads[i], pads[rank + i]) for i in range(rank))


def per_dimension(ctx: Context, name: str, rank: int, default: int = 1) -> Shape:
    """An attribute with one integer for each of `rank` dimensions, which must be positive where it is a step."""
    found = ctx.attr_ints(name, (default,) * rank)
    if len(found) != rank:
        raise ShapeError(f"{name} {list(found)} does not fit {rank} spatial dimensions")
    if default == 1 and any(v < 1 for v in found):
        raise ShapeError(f"{name} {list(found)} is not positive")
    return found


def auto_pad(ctx: Context) -> str:
    """How pads are found: one of AUTO_PADS."""
    found = ctx.attr_text("auto_pad", "NOTSET") or "NOTSET"
    if found not in AUTO_PADS:
        raise ImportModelError(f"auto_pad {found!r} is not one of {', '.join(AUTO_PADS)}")
    return found


def split_total(total: int, mode: str) -> tuple[int, int]:
    """A total amount before and after; an odd element goes after for SAME_UPPER, before otherwise."""
    small = total // 2
    return (small, total - small) if mode == "SAME_UPPER" else (total - small, small)


def window_pads(ctx: Context, size: Shape, kernel: Shape, strides: Shape, dilations: Shape) -> Pads:
    """The pads of a convolution or pool."""
    mode, rank = auto_pad(ctx), len(size)
    if mode == "NOTSET":
        return pairs(ctx.attr_ints("pads", (0,) * 2 * rank), rank)
    if mode == "VALID":
        return ((0, 0),) * rank
    reach = [d * (k - 1) + 1 for k, d in zip(kernel, dilations, strict=True)]
    totals = [max((-(-n // s) - 1) * s + r - n, 0) for n, r, s in zip(size, reach, strides, strict=True)]
    return tuple(split_total(t, mode) for t in totals)


def ceil_extra(size: Shape, kernel: Shape, strides: Shape, dilations: Shape, pads: Pads) -> tuple[int, ...]:
    """What each dimension's end needs beyond its pads, so that the output's size is rounded up.

    A window that would begin in the end's padding is left out.
    """
    extra = []
    for n, k, s, d, (begin, end) in zip(size, kernel, strides, dilations, pads, strict=True):
        reach = d * (k - 1) + 1
        out = -(-(n + begin + end - reach) // s) + 1
        if (out - 1) * s >= n + begin:
            out -= 1
        extra.append(max((out - 1) * s + reach - (n + begin + end), 0))
    return tuple(extra)
