"""Softmax and its relatives along one axis (at least 0)."""

from __future__ import annotations

from dataclasses import dataclass

from mace_cl.graph.ops.base import Operator


@dataclass(frozen=True)
class Softmax(Operator):
    """exp(scale x) / sum along axis, stable for large x."""

    axis: int = 0
    beta: float = 1.0


@dataclass(frozen=True)
class LogSoftmax(Operator):
    """log of softmax, stable."""

    axis: int = 0


@dataclass(frozen=True)
class Hardmax(Operator):
    """1 at the first greatest element along axis, else 0."""

    axis: int = 0
