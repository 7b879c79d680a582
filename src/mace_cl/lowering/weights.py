"""Packs constants into weight sets: each array once, aligned, no set larger than a device's largest buffer."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

import numpy as np

from mace_cl.errors import UnsupportedError
from mace_cl.lowering.arena import aligned


@dataclass
class WeightSets:
    """Collects arrays.

    Attributes:
        alignment: Bytes; every array starts at a multiple of it.
        max_bytes: Largest set.
        sets: The sets' bytes, each a list of pieces that follow one another.
    """

    alignment: int
    max_bytes: int
    sets: list[list[bytes]] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    _known: dict[tuple[bytes, int], tuple[int, int]] = field(default_factory=dict)

    def add(self, array: np.ndarray, where: str) -> tuple[int, int]:
        """Place an array; equal bytes are placed once.

        Returns:
            Index of the set and offset in it.

        Raises:
            UnsupportedError: The array alone is larger than the device's largest buffer.
        """
        data = np.ascontiguousarray(array).tobytes()
        key = (hashlib.sha256(data).digest(), len(data))
        if key in self._known:
            return self._known[key]
        if len(data) > self.max_bytes:
            raise UnsupportedError(
                f"a constant of {len(data)} bytes is larger than the device's largest buffer ({self.max_bytes})",
                where=where,
            )
        if not self.sets or self.sizes[-1] + len(data) > self.max_bytes:
            self.sets.append([])
            self.sizes.append(0)
        offset = self.sizes[-1]
        size = aligned(max(len(data), 1), self.alignment)
        self.sets[-1] += [data, bytes(size - len(data))]
        self.sizes[-1] += size
        self._known[key] = (len(self.sets) - 1, offset)
        return self._known[key]

    def blobs(self) -> list[bytes]:
        """Each set's bytes."""
        return [b"".join(pieces) for pieces in self.sets]
