"""Indexed reads and writes. Indices are integers; negative ones count from the end."""

from __future__ import annotations

from dataclasses import dataclass

from mace_cl.graph.ops.base import Operator


@dataclass(frozen=True)
class Gather(Operator):
    """Slices of data along axis at indices; batch_dims leading dimensions are matched. Inputs: data, indices."""

    axis: int = 0
    batch_dims: int = 0

    n_inputs = (2, 2)


@dataclass(frozen=True)
class GatherElements(Operator):
    """data's element at indices along axis, elsewhere at its own place. Inputs: data, indices."""

    axis: int = 0

    n_inputs = (2, 2)


@dataclass(frozen=True)
class GatherND(Operator):
    """Slices of data at index tuples (last dimension of indices). Inputs: data, indices."""

    batch_dims: int = 0

    n_inputs = (2, 2)


@dataclass(frozen=True)
class ScatterElements(Operator):
    """data with updates written at indices along axis. Inputs: data, indices, updates. reduction: none add mul max min."""

    axis: int = 0
    reduction: str = 'none'

    n_inputs = (3, 3)


@dataclass(frozen=True)
class ScatterND(Operator):
    """data with updates written at index tuples. Inputs: data, indices, updates. reduction as ScatterElements."""

    reduction: str = 'none'

    n_inputs = (3, 3)


@dataclass(frozen=True)
class OneHot(Operator):
    """on at the index along a new axis, else off. Inputs: indices, values [off, on]."""

    depth: int = 1
    axis: int = -1

    n_inputs = (2, 2)
