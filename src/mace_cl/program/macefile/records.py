"""What a MACE file holds: key-value pairs, with the bytes that they were read from."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

PLATFORM_KEY: Final = b"mace_opencl_precompiled_platform_info_key"
DEVICE_KEY: Final = b"mace_opencl_precompiled_device_name_key"
HASH_PREFIX: Final = b"program_hash_ "
"""The space belongs to it."""
QUEUE_WINDOW_KEY: Final = b"MACE_OPENCL_QUEUE_WINDOW_SIZE"

MAX_PARAMETERS = 4
"""Numbers of a tuned kernel: three work sizes and a block."""


@dataclass(frozen=True, slots=True)
class Record:
    """One record of a file.

    Attributes:
        raw: Its bytes as they stand in the file.
        is_pair: False for a field that MACE does not define (kept, otherwise ignored).
        key: Raw bytes of the key.
        value: The bytes value, or None.
        numbers: The unsigned 32-bit numbers (version 2 only).
    """

    raw: bytes | memoryview
    is_pair: bool = True
    key: bytes = b""
    value: bytes | memoryview | None = None
    numbers: tuple[int, ...] = ()

    def parameters(self) -> tuple[int, ...]:
        """The value as tuned parameters; empty where it cannot be one."""
        if self.value is None:
            return self.numbers
        size = len(self.value)
        if size % 4 or size > 4 * MAX_PARAMETERS:
            return ()
        return struct.unpack(f"<{size // 4}I", self.value)


@dataclass(frozen=True)
class MaceFile:
    """A whole file.

    Attributes:
        version: 1 or 2.
        records: In the file's order.
        stored_crc32, computed_crc32: Of version 2; None in version 1, which has none.
        tail: Bytes behind the last pair of a version 1 file: left over from a longer one that was overwritten.
        size: Bytes of the whole file.
    """

    version: int
    records: tuple[Record, ...]
    stored_crc32: int | None
    computed_crc32: int | None
    tail: bytes
    size: int

    @property
    def pairs(self) -> Mapping[bytes, Record]:
        """Key to record; of equal keys MACE takes the first."""
        found: dict[bytes, Record] = {}
        for record in self.records:
            if record.is_pair:
                found.setdefault(record.key, record)
        return found

    @property
    def kind(self) -> str:
        """'programs', 'parameters' (tuned work sizes) or 'empty'."""
        pairs = self.pairs
        if not pairs:
            return "empty"
        if PLATFORM_KEY in pairs or DEVICE_KEY in pairs or any(k.startswith(HASH_PREFIX) or b" -" in k for k in pairs):
            return "programs"
        return "parameters" if all(r.parameters() for r in pairs.values()) else "programs"


PairValue = bytes | Sequence[int]
