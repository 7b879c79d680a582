"""Reductions over axes (sorted, at least 0; none listed: the identity), searches and scans along an axis."""

from __future__ import annotations

from dataclasses import dataclass

from mace_cl.graph.ops.base import Operator
from mace_cl.types import DataType


@dataclass(frozen=True)
class ReduceSum(Operator):
    """Sum."""

    axes: tuple[int, ...] = ()
    keepdims: bool = True


@dataclass(frozen=True)
class ReduceMean(Operator):
    """Mean."""

    axes: tuple[int, ...] = ()
    keepdims: bool = True


@dataclass(frozen=True)
class ReduceMax(Operator):
    """Greatest; bools by or."""

    axes: tuple[int, ...] = ()
    keepdims: bool = True


@dataclass(frozen=True)
class ReduceMin(Operator):
    """Least; bools by and."""

    axes: tuple[int, ...] = ()
    keepdims: bool = True


@dataclass(frozen=True)
class ReduceProd(Operator):
    """Product."""

    axes: tuple[int, ...] = ()
    keepdims: bool = True


@dataclass(frozen=True)
class ReduceL1(Operator):
    """Sum of |x|."""

    axes: tuple[int, ...] = ()
    keepdims: bool = True


@dataclass(frozen=True)
class ReduceL2(Operator):
    """Square root of the sum of squares."""

    axes: tuple[int, ...] = ()
    keepdims: bool = True


@dataclass(frozen=True)
class ReduceLogSum(Operator):
    """log of the sum."""

    axes: tuple[int, ...] = ()
    keepdims: bool = True


@dataclass(frozen=True)
class ReduceLogSumExp(Operator):
    """log of the sum of exp, stable."""

    axes: tuple[int, ...] = ()
    keepdims: bool = True


@dataclass(frozen=True)
class ReduceSumSquare(Operator):
    """Sum of squares."""

    axes: tuple[int, ...] = ()
    keepdims: bool = True


@dataclass(frozen=True)
class ArgMax(Operator):
    """Index of the greatest element along axis; of equals the first, or the last."""

    axis: int = 0
    keepdims: bool = True
    select_last_index: bool = False
    to: DataType = DataType.INT64


@dataclass(frozen=True)
class ArgMin(Operator):
    """Index of the least element along axis."""

    axis: int = 0
    keepdims: bool = True
    select_last_index: bool = False
    to: DataType = DataType.INT64


@dataclass(frozen=True)
class CumSum(Operator):
    """Running sum along axis."""

    axis: int = 0
    exclusive: bool = False
    reverse: bool = False


@dataclass(frozen=True)
class TopK(Operator):
    """The k greatest (or least) along axis, sorted, equals by lower index first; outputs values and int64 indices."""

    k: int = 1
    axis: int = -1
    largest: bool = True
    to: DataType = DataType.INT64

    n_outputs = (2, 2)
