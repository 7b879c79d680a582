"""The outer form of a version 3 file: 32 bytes, a JSON header, sections, signatures.

Its records are named tuples: a dataclass costs every start half a millisecond.

Every number is checked against the file before anything is allocated. What the header's entries mean is the reader's
business; docs/file-format.md describes both.
"""

from __future__ import annotations

import json
import mmap
import os
import struct
import zlib
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from mace_cl.errors import FormatError, UsageError
from mace_cl.program.records import Blob

MAGIC: Final = b"\x89MACECL\n"
VERSION: Final = 3
HEAD: Final = struct.Struct("<8sIIQII")
"""Magic, version, header length, length up to the end of the last section, CRC-32 of the header, zero."""

MAX_HEADER_BYTES: Final = 16 << 20
MAX_INT: Final = (1 << 63) - 1
ALIGN: Final = 64
WEIGHTS_ALIGN: Final = 16384
"""A page on new Android: weights can be mapped and used in place."""

SIGNATURE_MAGIC: Final = b"MACESIGN"
SIGNATURE_HEAD: Final = struct.Struct("<8sII")
"""Magic, length of the whole block, algorithm."""
ED25519: Final = 1
ED25519_BYTES: Final = SIGNATURE_HEAD.size + 32 + 64
MAX_SIGNATURES: Final = 1024


class Section(NamedTuple):
    """A row of the header's list of sections."""

    kind: str
    name: str
    offset: int
    size: int
    sha256: str


class Signature(NamedTuple):
    """A signature block. `public_key` and `signature` are empty where the algorithm is not known."""

    algorithm: int
    public_key: bytes
    signature: bytes


class Container(NamedTuple):
    """A file taken apart.

    Attributes:
        data: The whole file.
        where: Its name, for messages.
        header: The header's JSON.
        header_bytes: Length of the header as it stands in the file.
        crc32: Of the header, as stored (and checked).
        length: Bytes up to the end of the last section.
        sections: In the header's order.
        signatures: What stands behind the last section.
    """

    data: memoryview
    where: str
    header: dict[str, Any]
    header_bytes: int
    crc32: int
    length: int
    sections: tuple[Section, ...]
    signatures: tuple[Signature, ...]

    @property
    def signed_part(self) -> bytes:
        """The bytes that signatures cover: the 32 at the start and the header."""
        return bytes(self.data[: HEAD.size + self.header_bytes])

    def blob(self, index: int) -> Blob:
        """The content of a section; nothing is read."""
        s = self.sections[index]
        return Blob(s.kind, s.name, self.data[s.offset : s.offset + s.size], s.sha256)


def is_version3(head: bytes | memoryview) -> bool:
    """Whether a file that begins with these bytes is one of ours (of any version from 3 on)."""
    return bytes(head[: len(MAGIC)]) == MAGIC


def map_file(path: str | os.PathLike[str]) -> memoryview:
    """A read-only mapping of a file; the pages are read when they are used.

    Raises:
        UsageError: There is no such file, or it cannot be read.
    """
    try:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size == 0:
                return memoryview(b"")
            return memoryview(mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"cannot be read: {reason}", where=str(path)) from None


def align_of(kind: str) -> int:
    """The alignment of a section of a kind."""
    return WEIGHTS_ALIGN if kind == "weights" else ALIGN


def read_container(data: bytes | bytearray | memoryview, where: str = "file", *, check_crc: bool = True) -> Container:
    """Take a file apart and check its bounds, its header's CRC and its list of sections.

    Args:
        data: The whole file.
        where: Its name, for messages.
        check_crc: Whether a wrong CRC is an error (to say what can be said of a damaged file).

    Raises:
        FormatError: It is not a version 3 file, or a damaged one.
    """
    view = memoryview(data).cast("B")
    header_bytes, length, crc = _read_head(view, where)
    raw = bytes(view[HEAD.size : HEAD.size + header_bytes])
    if check_crc and zlib.crc32(raw) != crc:
        raise FormatError(f"the header is damaged: its CRC-32 is 0x{zlib.crc32(raw):08X}, not 0x{crc:08X}", where=where)
    header = parse_json(raw, where)
    if not isinstance(header, dict) or header.get("format") != "CL_PROGRAM_BINARY":
        raise FormatError("the header is no CL_PROGRAM_BINARY", where=where, field="format")
    sections = _read_sections(header.get("sections"), HEAD.size + header_bytes, length, where)
    signatures = _read_signatures(view, length, where)
    return Container(view, where, header, header_bytes, crc, length, sections, signatures)


def _read_head(view: memoryview, where: str) -> tuple[int, int, int]:
    """(header length, length up to the last section's end, CRC), checked against the file's size."""
    if view.nbytes < HEAD.size:
        raise FormatError(f"has {view.nbytes} bytes, too few for a compiled program", where=where)
    magic, version, header_bytes, length, crc, reserved = HEAD.unpack_from(view)
    if magic != MAGIC:
        hint = "it was sent as text; send it as binary" if _is_text_damage(bytes(view[:16])) else None
        raise FormatError("is not a mace-cl compiled program", where=where, offset=0, hint=hint)
    if version != VERSION:
        raise FormatError(
            f"has format version {version}, this mace-cl reads {VERSION}",
            where=where,
            offset=8,
            hint="use a newer mace-cl" if version > VERSION else None,
        )
    if header_bytes > MAX_HEADER_BYTES:
        raise FormatError(f"its header of {header_bytes} bytes is longer than 16 MiB", where=where, offset=12)
    if HEAD.size + header_bytes > length or length > view.nbytes:
        raise FormatError(
            f"is cut short: it has {view.nbytes} bytes, its header speaks of {length}", where=where, offset=16
        )
    if reserved:
        raise FormatError("a field that must be 0 is not", where=where, offset=28)
    return header_bytes, length, crc


def _is_text_damage(head: bytes) -> bool:
    """Whether the start is ours after a transfer in text mode."""
    return head.startswith((b"\x89MACECL\r\n", b"\x09MACECL", b"\xc2\x89MACECL", b"\xef\xbf\xbdMACECL", b"?MACECL"))


def parse_json(raw: bytes, where: str) -> Any:
    """Strict JSON: UTF-8, no NaN, no key twice, no lone surrogates.

    Raises:
        FormatError: It is not that.
    """
    try:
        text = raw.decode("utf-8")
        value = json.loads(text, object_pairs_hook=_object, parse_constant=_no_constant)
        if "\\ud" in text or "\\uD" in text:
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError) as error:
        raise FormatError(f"its JSON cannot be read: {str(error)[:200]}", where=where) from None
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a key stands in an object twice")
    return made


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _read_sections(raw: Any, start: int, length: int, where: str) -> tuple[Section, ...]:
    """The list of sections: inside the file, aligned, without overlaps, up to the stated length."""
    if not isinstance(raw, list):
        raise FormatError("is no list", where=where, field="sections")
    sections = tuple(_read_section(row, start, length, where, f"sections[{i}]") for i, row in enumerate(raw))
    end = start
    for section in sorted((s for s in sections if s.size), key=lambda s: s.offset):
        if section.offset < end:
            raise FormatError(f"section {section.name!r} overlaps the one before", where=where, offset=section.offset)
        end = section.offset + section.size
    if end != length:
        raise FormatError(f"the last section ends at {end}, not at {length}", where=where, offset=16)
    return sections


def _read_section(raw: Any, start: int, length: int, where: str, field: str) -> Section:
    if not isinstance(raw, dict):
        raise FormatError("is no object", where=where, field=field)
    for key, wanted in (("kind", str), ("name", str), ("offset", int), ("size", int), ("sha256", str)):
        if type(raw.get(key)) is not wanted:
            raise FormatError(f"is no {wanted.__name__}", where=where, field=f"{field}.{key}")
    section = Section(raw["kind"], raw["name"], raw["offset"], raw["size"], raw["sha256"])
    outside = section.size < 0 or section.offset < start or section.offset > length - section.size
    if outside and (section.size or section.offset):  # an empty section has offset 0
        raise FormatError("lies outside the file", where=where, field=field)
    if section.offset % align_of(section.kind):
        raise FormatError(f"does not lie at a multiple of {align_of(section.kind)}", where=where, field=field)
    if len(section.sha256) != 64 or not set(section.sha256) <= set("0123456789abcdef"):
        raise FormatError("is no SHA-256 in lower-case hexadecimal", where=where, field=f"{field}.sha256")
    return section


def _read_signatures(view: memoryview, start: int, where: str) -> tuple[Signature, ...]:
    """The blocks behind the last section; one of an unknown algorithm is kept without content."""
    found: list[Signature] = []
    offset = start
    while offset < view.nbytes:
        left = view.nbytes - offset
        if left < SIGNATURE_HEAD.size or len(found) >= MAX_SIGNATURES:
            raise FormatError(f"{left} bytes too many at the end", where=where, offset=offset)
        magic, size, algorithm = SIGNATURE_HEAD.unpack_from(view, offset)
        if magic != SIGNATURE_MAGIC or not SIGNATURE_HEAD.size <= size <= left:
            raise FormatError(f"{left} bytes at the end are no signature", where=where, offset=offset)
        if algorithm == ED25519 and size != ED25519_BYTES:
            raise FormatError(f"an Ed25519 signature of {size} bytes", where=where, offset=offset)
        body = bytes(view[offset + SIGNATURE_HEAD.size : offset + size]) if algorithm == ED25519 else b""
        found.append(Signature(algorithm, body[:32], body[32:]))
        offset += size
    return tuple(found)


def signature_block(public_key: bytes, signature: bytes) -> bytes:
    """An Ed25519 signature as it stands in the file."""
    return SIGNATURE_HEAD.pack(SIGNATURE_MAGIC, ED25519_BYTES, ED25519) + public_key + signature


def signature_blocks(container: Container) -> Sequence[bytes]:
    """All signature blocks of a file, as they stand there (unknown algorithms as well)."""
    blocks, offset = [], container.length
    while offset < container.data.nbytes:
        _, size, _ = SIGNATURE_HEAD.unpack_from(container.data, offset)
        blocks.append(bytes(container.data[offset : offset + size]))
        offset += size
    return blocks
