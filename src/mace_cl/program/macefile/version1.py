"""Version 1 (MACE 0.8.1 to 1.0.4): a count, then pairs with 32-bit lengths. No checksum."""

from __future__ import annotations

import struct
from collections.abc import Iterable

from mace_cl.errors import FormatError
from mace_cl.program.macefile.records import MaceFile, PairValue, Record

_COUNT = struct.Struct("<q")
_LENGTH = struct.Struct("<i")


def read_version1(data: memoryview, where: str) -> MaceFile:
    """Read a version 1 file.

    Raises:
        FormatError: A count or length does not fit the bytes.
    """
    if data.nbytes < _COUNT.size:
        raise FormatError(f"has {data.nbytes} bytes, too few for version 1", where=where)
    (count,) = _COUNT.unpack_from(data)
    if not 0 <= count <= (data.nbytes - _COUNT.size) // (2 * _LENGTH.size):
        raise FormatError(f"{count} pairs cannot lie in {data.nbytes} bytes", where=where, offset=0)
    offset, records = _COUNT.size, []
    for index in range(count):
        start = offset
        key, offset = _sized(data, offset, where, f"pairs[{index}].key")
        value, offset = _sized(data, offset, where, f"pairs[{index}].value")
        records.append(Record(data[start:offset], True, bytes(key), value))
    if not count and offset < data.nbytes:
        # Eight zero bytes begin many files: an overwritten store goes on with a pair.
        _sized(data, _sized(data, offset, where, "tail.key")[1], where, "tail.value")
    return MaceFile(1, tuple(records), None, None, bytes(data[offset:]), data.nbytes)


def _sized(data: memoryview, offset: int, where: str, field: str) -> tuple[memoryview, int]:
    """Bytes behind a 32-bit length, and where they end."""
    if data.nbytes - offset < _LENGTH.size:
        raise FormatError("the file ends here", where=where, field=field, offset=offset)
    (size,) = _LENGTH.unpack_from(data, offset)
    start = offset + _LENGTH.size
    if not 0 <= size <= data.nbytes - start:
        raise FormatError(f"a length of {size} does not fit the file", where=where, field=field, offset=offset)
    return data[start : start + size], start + size


def record_version1(key: bytes, value: PairValue) -> Record:
    """A pair as version 1 writes it; numbers become unsigned 32-bit words."""
    content = bytes(value) if isinstance(value, bytes) else struct.pack(f"<{len(value)}I", *value)
    raw = _LENGTH.pack(len(key)) + key + _LENGTH.pack(len(content)) + content
    return Record(raw, True, key, content)


def write_version1(records: Iterable[Record], tail: bytes = b"") -> bytes:
    """The bytes of a file."""
    kept = [bytes(r.raw) for r in records]
    return _COUNT.pack(len(kept)) + b"".join(kept) + tail
