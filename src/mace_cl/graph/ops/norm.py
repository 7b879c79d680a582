"""Normalisation."""

from __future__ import annotations

from dataclasses import dataclass

from mace_cl.graph.ops.base import Operator


@dataclass(frozen=True)
class BatchNormalization(Operator):
    """(x - mean) / sqrt(var + epsilon) scale + bias for each channel. Inputs: x, scale, bias, mean, var, each [C]."""

    epsilon: float = 1e-5
    channels_last: bool = False

    n_inputs = (5, 5)


@dataclass(frozen=True)
class InstanceNormalization(Operator):
    """Normalised over the spatial dimensions of each sample and channel. Inputs: x, scale [C], bias [C]."""

    epsilon: float = 1e-5
    channels_last: bool = False

    n_inputs = (3, 3)


@dataclass(frozen=True)
class GroupNormalization(Operator):
    """Normalised over groups of channels and space. Inputs: x, scale [C], bias [C]."""

    groups: int = 1
    epsilon: float = 1e-5
    channels_last: bool = False

    n_inputs = (3, 3)


@dataclass(frozen=True)
class LayerNormalization(Operator):
    """Normalised over dimensions axis to the last. Inputs: x, scale or None, bias or None (broadcast)."""

    axis: int = -1
    epsilon: float = 1e-5

    n_inputs = (1, 3)


@dataclass(frozen=True)
class RMSNormalization(Operator):
    """x / sqrt(mean(x^2) + epsilon) over dimensions axis to the last. Inputs: x, scale or None."""

    axis: int = -1
    epsilon: float = 1e-5

    n_inputs = (1, 2)


@dataclass(frozen=True)
class LpNormalization(Operator):
    """x divided by its p-norm along an axis."""

    axis: int = -1
    p: int = 2
    epsilon: float = 0.0


@dataclass(frozen=True)
class LRN(Operator):
    """Local response normalisation across channels: x / (bias + alpha/size sum of squares)^beta."""

    size: int = 5
    alpha: float = 1e-4
    beta: float = 0.75
    bias: float = 1.0
    channels_last: bool = False


@dataclass(frozen=True)
class MeanVarianceNormalization(Operator):
    """(x - mean) / (sqrt(var) + 1e-9) over the axes."""

    axes: tuple[int, ...] = (0, 2, 3)
