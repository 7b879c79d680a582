"""Padding schemes and fused activations, which many operators share."""

from __future__ import annotations

from collections.abc import Sequence

import tflite

from mace_cl.errors import ImportModelError, ShapeError, UnsupportedError
from mace_cl.graph import Value
from mace_cl.graph.ops import Clip, Operator, Relu, Tanh
from mace_cl.importers.tflite.context import Context
from mace_cl.importers.tflite.records import Options

Pads = tuple[tuple[int, int], ...]

_ACTIVATIONS: dict[str, Operator] = {
    "RELU": Relu(),
    "RELU_N1_TO_1": Clip(-1.0, 1.0),
    "RELU6": Clip(0.0, 6.0),
    "TANH": Tanh(),
}


def activate(ctx: Context, value: Value, options: Options) -> Value:
    """The operator's fused activation applied to `value`.

    Raises:
        UnsupportedError: The activation has no counterpart (SIGN_BIT).
    """
    name = options.activation()
    if name == "NONE":
        return value
    if name not in _ACTIVATIONS:
        raise UnsupportedError(f"fused activation {name} is not supported")
    return ctx.emit(_ACTIVATIONS[name], value)


def is_same(padding: int) -> bool:
    """Whether a padding scheme is SAME; it is VALID else."""
    if padding not in (tflite.Padding.SAME, tflite.Padding.VALID):
        raise ImportModelError(f"unknown padding scheme {padding}")
    return bool(padding == tflite.Padding.SAME)


def window_pads(
    same: bool,
    size: Sequence[int],
    kernel: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
) -> Pads:
    """(before, after) of each spatial dimension; an odd element goes after."""
    if min(*strides, *dilations, *kernel, *size) < 1:
        raise ShapeError(
            f"sizes, strides and dilations must be positive: size {list(size)}, kernel {list(kernel)}, "
            f"strides {list(strides)}, dilations {list(dilations)}"
        )
    reach = [d * (k - 1) + 1 for d, k in zip(dilations, kernel, strict=True)]
    if not same:
        for n, r in zip(size, reach, strict=True):
            if n < r:
                raise ShapeError(f"a window of {r} does not fit into {n} without padding")
        return ((0, 0),) * len(reach)
    pads = []
    for n, r, s in zip(size, reach, strides, strict=True):
        total = max((-(-n // s) - 1) * s + r - n, 0)
        pads.append((total // 2, total - total // 2))
    return tuple(pads)
