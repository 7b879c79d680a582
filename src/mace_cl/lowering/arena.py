"""Places tensors in one arena so that those alive at the same time do not overlap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Lifetime:
    """A tensor's need for memory.

    Attributes:
        size: Bytes.
        first, last: Steps that write it first and touch it last, both included.
    """

    size: int
    first: int
    last: int

    def overlaps(self, other: Lifetime) -> bool:
        """Whether both are alive at some step."""
        return self.first <= other.last and other.first <= self.last


def aligned(size: int, alignment: int) -> int:
    """The least multiple of the alignment that is at least `size`."""
    return -(-size // alignment) * alignment


def place(lifetimes: Sequence[Lifetime], alignment: int) -> tuple[list[int], int]:
    """Offsets for tensors, and the arena's size.

    Largest first, each at the lowest free offset among those placed that live at the same time (greedy by size; see
    Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020).

    Returns:
        Offsets in the order given, all multiples of the alignment, and the bytes needed in all.
    """
    offsets = [0] * len(lifetimes)
    placed: list[int] = []
    total = 0
    for i in sorted(range(len(lifetimes)), key=lambda i: (-lifetimes[i].size, lifetimes[i].first, i)):
        item = lifetimes[i]
        size = aligned(max(item.size, 1), alignment)
        taken = sorted(
            (offsets[j], aligned(max(lifetimes[j].size, 1), alignment)) for j in placed if lifetimes[j].overlaps(item)
        )
        offset = 0
        for start, length in taken:
            if offset + size <= start:
                break
            offset = max(offset, start + length)
        offsets[i] = offset
        placed.append(i)
        total = max(total, offset + size)
    return offsets, total
