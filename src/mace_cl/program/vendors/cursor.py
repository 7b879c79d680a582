"""Bounds-checked reading of little-endian bytes; every step beyond the end is a FormatError."""

from __future__ import annotations

import struct

from mace_cl.errors import FormatError


class Cursor:
    """A place in bytes that moves as they are read.

    Args:
        data: The bytes.
        where: For messages.
        offset: First place.
    """

    def __init__(self, data: memoryview, where: str, offset: int = 0) -> None:
        self.data = data
        self.where = where
        self.offset = offset

    @property
    def left(self) -> int:
        """Bytes behind the cursor."""
        return self.data.nbytes - self.offset

    def take(self, count: int) -> memoryview:
        """The next bytes.

        Raises:
            FormatError: There are fewer.
        """
        if not 0 <= count <= self.left:
            raise FormatError(f"{count} bytes wanted, {max(self.left, 0)} there", where=self.where, offset=self.offset)
        start, self.offset = self.offset, self.offset + count
        return self.data[start : self.offset]

    def unpack(self, layout: str) -> tuple[int, ...]:
        """Numbers by a struct layout, little-endian without padding."""
        full = struct.Struct("<" + layout)
        return full.unpack(self.take(full.size))

    def u32(self) -> int:
        """An unsigned 32-bit number."""
        return self.unpack("I")[0]

    def u64(self) -> int:
        """An unsigned 64-bit number."""
        return self.unpack("Q")[0]

    def sized(self) -> memoryview:
        """Bytes behind their 32-bit length."""
        return self.take(self.u32())

    def text(self) -> str:
        """Text behind its 32-bit length."""
        return decode(self.sized())


def decode(data: bytes | memoryview) -> str:
    """Text out of a binary, with marks where it is no UTF-8, without final NULs."""
    return bytes(data).decode("utf-8", "replace").rstrip("\0")


def c_string(data: memoryview, offset: int, where: str, limit: int = 4096) -> str:
    """The NUL-terminated text at a place.

    Raises:
        FormatError: The place is outside, or there is no NUL within the limit.
    """
    if not 0 <= offset < data.nbytes:
        raise FormatError("a text lies outside", where=where, offset=offset)
    raw = bytes(data[offset : offset + limit])
    end = raw.find(b"\0")
    if end < 0:
        raise FormatError("a text without an end", where=where, offset=offset)
    return raw[:end].decode("utf-8", "replace")
