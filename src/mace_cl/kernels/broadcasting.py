"""Broadcast operands seen from the output: neighbouring dimensions joined, each operand with its strides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mace_cl.types import Shape


@dataclass(frozen=True)
class Broadcast:
    """Output dimensions after joining, and each operand's element stride along them (0 where it repeats).

    Attributes:
        dims: At least one; the last is walked by the inner loop.
        strides: For each operand one stride for each dimension.
    """

    dims: tuple[int, ...]
    strides: tuple[tuple[int, ...], ...]

    @property
    def inner(self) -> int:
        """Length of the last dimension."""
        return self.dims[-1]

    @property
    def rows(self) -> int:
        """Product of all the others."""
        total = 1
        for d in self.dims[:-1]:
            total *= d
        return total


def broadcast(output: Shape, operands: Sequence[Shape]) -> Broadcast:
    """Join dimensions of the output along which every operand is walked alike."""
    strides = [_strides(shape, len(output)) for shape in operands]
    dims: list[int] = []
    kept: list[list[int]] = [[] for _ in operands]
    for d, size in enumerate(output):
        if size == 1:
            continue
        here = [s[d] for s in strides]
        if dims and all(k[-1] == h * size for k, h in zip(kept, here, strict=True)):
            dims[-1] *= size
            for k, h in zip(kept, here, strict=True):
                k[-1] = h
        else:
            dims.append(size)
            for k, h in zip(kept, here, strict=True):
                k.append(h)
    if not dims:
        return Broadcast((1,), tuple((0,) for _ in operands))
    return Broadcast(tuple(dims), tuple(tuple(k) for k in kept))


def _strides(shape: Shape, rank: int) -> list[int]:
    """Element strides of a dense tensor, aligned to the output's end; 0 along dimensions of size 1."""
    full = (1,) * (rank - len(shape)) + shape
    strides, step = [0] * rank, 1
    for d in range(rank - 1, -1, -1):
        strides[d] = 0 if full[d] == 1 else step
        step *= full[d]
    return strides
