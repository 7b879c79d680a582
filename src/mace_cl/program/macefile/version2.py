"""Version 2 (MACE 1.1.1 and later): a protobuf message PairContainer, then its CRC-32.

message KVPair        { optional string key = 1; optional bytes bytes_value = 2; repeated uint32 uint32s_value = 3; }
message PairContainer { repeated KVPair pairs = 1; }
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator

from mace_cl.errors import FormatError
from mace_cl.program.macefile.records import MaceFile, PairValue, Record

_CRC = struct.Struct("<I")
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


def read_version2(data: memoryview, where: str, *, check_crc: bool = True) -> MaceFile:
    """Read a version 2 file.

    Args:
        data: The file.
        where: Its name, for messages.
        check_crc: Whether a wrong checksum is an error; it is kept in the result either way.

    Raises:
        FormatError: The checksum is wrong, or the bytes are no such message.
    """
    if data.nbytes < _CRC.size:
        raise FormatError(f"has {data.nbytes} bytes, too few for version 2", where=where)
    body = data[: -_CRC.size]
    (stored,) = _CRC.unpack_from(data, body.nbytes)
    computed = zlib.crc32(body)
    if check_crc and stored != computed:
        raise FormatError(f"the stored CRC-32 is 0x{stored:08X}, the content's 0x{computed:08X}", where=where)
    records: list[Record] = []
    for number, wire, start, value_start, end in _fields(body, where):
        if (number, wire) == (1, _BYTES):
            records.append(_pair(body[value_start:end], body[start:end], f"{where}, pair {len(records)}"))
        else:
            records.append(Record(body[start:end], False))
    return MaceFile(2, tuple(records), stored, computed, b"", data.nbytes)


def _pair(message: memoryview, raw: memoryview, where: str) -> Record:
    """One KVPair; the last of several keys or values counts, as protobuf has it."""
    key, value = b"", None
    numbers: list[int] = []
    for number, wire, _, start, end in _fields(message, where):
        if (number, wire) == (1, _BYTES):
            key = bytes(message[start:end])
        elif (number, wire) == (2, _BYTES):
            value = message[start:end]
        elif (number, wire) == (3, _VARINT):
            numbers.append(_varint(message, start, where)[0] & 0xFFFFFFFF)
        elif (number, wire) == (3, _BYTES):  # packed: legal input for a protobuf parser
            numbers += _packed(message[start:end], where)
    return Record(raw, True, key, value, tuple(numbers))


def _packed(data: memoryview, where: str) -> Iterator[int]:
    offset = 0
    while offset < data.nbytes:
        value, offset = _varint(data, offset, where)
        yield value & 0xFFFFFFFF


def _fields(data: memoryview, where: str) -> Iterator[tuple[int, int, int, int, int]]:
    """(field number, wire type, start, start of the value, end) of each field of a message."""
    offset = 0
    while offset < data.nbytes:
        start = offset
        tag, offset = _varint(data, offset, where)
        number, wire = tag >> 3, tag & 7
        if not 1 <= number < 1 << 29:
            raise FormatError(f"field number {number}", where=where, offset=start)
        if wire == _BYTES:
            size, offset = _varint(data, offset, where)
        else:
            size = _size_of(data, offset, wire, where)
        if size > data.nbytes - offset:
            raise FormatError(f"a length of {size} does not fit the message", where=where, offset=start)
        yield number, wire, start, offset, offset + size
        offset += size


def _size_of(data: memoryview, offset: int, wire: int, where: str) -> int:
    if wire == _VARINT:
        return _varint(data, offset, where)[1] - offset
    if wire in (_FIXED32, _FIXED64):
        return 4 if wire == _FIXED32 else 8
    raise FormatError(f"wire type {wire}", where=where, offset=offset)


def _varint(data: memoryview, offset: int, where: str) -> tuple[int, int]:
    """(value, end) of a number of up to ten bytes."""
    value = 0
    for i in range(10):
        if offset + i >= data.nbytes:
            break
        byte = data[offset + i]
        value |= (byte & 0x7F) << (7 * i)
        if byte < 0x80:
            return value & (1 << 64) - 1, offset + i + 1
    raise FormatError("a number without an end", where=where, offset=offset)


def _to_varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _field(number: int, content: bytes) -> bytes:
    return bytes([number << 3 | _BYTES]) + _to_varint(len(content)) + content


def record_version2(key: bytes, value: PairValue) -> Record:
    """A pair as MACE writes it: bytes in field 2, numbers unpacked in field 3."""
    if isinstance(value, bytes):
        return Record(_field(1, _field(1, key) + _field(2, value)), True, key, value)
    numbers = tuple(int(v) for v in value)
    body = b"".join(b"\x18" + _to_varint(v) for v in numbers)
    return Record(_field(1, _field(1, key) + body), True, key, None, numbers)


def write_version2(records: Iterable[Record]) -> bytes:
    """The bytes of a file."""
    body = b"".join(bytes(r.raw) for r in records)
    return body + _CRC.pack(zlib.crc32(body))
