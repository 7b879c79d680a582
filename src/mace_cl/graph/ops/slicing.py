"""Joining, cutting, padding."""

from __future__ import annotations

from dataclasses import dataclass

from mace_cl.graph.ops.base import Operator


@dataclass(frozen=True)
class Concat(Operator):
    """The inputs one after another along axis."""

    axis: int = 0

    n_inputs = (1, None)


@dataclass(frozen=True)
class Split(Operator):
    """Cut along axis into pieces of the sizes."""

    axis: int = 0
    sizes: tuple[int, ...] = ()

    n_outputs = (1, None)


@dataclass(frozen=True)
class Slice(Operator):
    """Element i of dimension d is element starts[d] + i steps[d] of x; every dimension is listed, steps may be negative."""

    starts: tuple[int, ...] = ()
    sizes: tuple[int, ...] = ()
    steps: tuple[int, ...] = ()


@dataclass(frozen=True)
class Pad(Operator):
    """(before, after) elements added to every dimension; negative amounts cut.

    Attributes:
        mode: 'constant', 'reflect' (edge not repeated), 'symmetric' (edge repeated), 'edge' or 'wrap'.
        value: The constant.
    """

    pads: tuple[tuple[int, int], ...] = ()
    mode: str = 'constant'
    value: float = 0.0


@dataclass(frozen=True)
class Trilu(Operator):
    """Upper (lower) triangle of the last two dimensions, the rest 0."""

    upper: bool = True
    k: int = 0


@dataclass(frozen=True)
class ReverseSequence(Operator):
    """Along time_axis the first lengths[b] elements reversed, b along batch_axis. Inputs: x, lengths (integers)."""

    batch_axis: int = 1
    time_axis: int = 0

    n_inputs = (2, 2)
