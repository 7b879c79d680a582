"""Pooling over windows. Pooling over everything is a reduction (`reduce.py`)."""

from __future__ import annotations

from dataclasses import dataclass

from mace_cl.graph.ops.base import Operator


@dataclass(frozen=True)
class MaxPool(Operator):
    """Greatest element of each window; padding never wins.

    Output size: (in + begin + end - dilation (kernel - 1) - 1) // stride + 1; importers express ceil_mode by a larger end pad.
    """

    kernel: tuple[int, ...] = (1, 1)
    strides: tuple[int, ...] = (1, 1)
    pads: tuple[tuple[int, int], ...] = ((0, 0), (0, 0))
    dilations: tuple[int, ...] = (1, 1)
    channels_last: bool = False


@dataclass(frozen=True)
class AveragePool(Operator):
    """Mean of each window.

    Attributes:
        count_include_pad: Whether padding counts as zeros; where not, the divisor is the number of real elements.
        uncounted: Elements at each dimension's end that belong to `pads` but never count (from ceil_mode).
    """

    kernel: tuple[int, ...] = (1, 1)
    strides: tuple[int, ...] = (1, 1)
    pads: tuple[tuple[int, int], ...] = ((0, 0), (0, 0))
    dilations: tuple[int, ...] = (1, 1)
    count_include_pad: bool = False
    uncounted: tuple[int, ...] = (0, 0)
    channels_last: bool = False


@dataclass(frozen=True)
class LpPool(Operator):
    """(sum of |x|^p)^(1/p) of each window; padding counts as zeros."""

    p: int = 2
    kernel: tuple[int, ...] = (1, 1)
    strides: tuple[int, ...] = (1, 1)
    pads: tuple[tuple[int, int], ...] = ((0, 0), (0, 0))
    dilations: tuple[int, ...] = (1, 1)
    channels_last: bool = False


@dataclass(frozen=True)
class MaxPoolWithIndices(Operator):
    """MaxPool with a second output: int64 indices of the winners in x flattened (ONNX MaxPool's Indices)."""

    kernel: tuple[int, ...] = (1, 1)
    strides: tuple[int, ...] = (1, 1)
    pads: tuple[tuple[int, int], ...] = ((0, 0), (0, 0))
    dilations: tuple[int, ...] = (1, 1)
    column_major: bool = False

    n_outputs = (2, 2)
