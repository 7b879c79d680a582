"""Reads and writes MACE files; which version a file is, its content says."""

from __future__ import annotations

from collections.abc import Iterable

from mace_cl.errors import FormatError
from mace_cl.program.macefile.records import MaceFile, PairValue
from mace_cl.program.macefile.version1 import read_version1, record_version1, write_version1
from mace_cl.program.macefile.version2 import read_version2, record_version2, write_version2


def read_mace_file(data: bytes | memoryview, where: str = "file", *, check_crc: bool = True) -> MaceFile:
    """Read a file of MACE, of either version.

    Args:
        data: The file.
        where: Its name, for messages.
        check_crc: Whether a version 2 file with a wrong checksum is an error.

    Raises:
        FormatError: It is neither.
    """
    view = memoryview(data).cast("B")
    try:
        return read_version2(view, where)
    except FormatError as error:
        second = error
    try:
        return read_version1(view, where)
    except FormatError:
        pass
    damaged = _damaged_version2(view, where)
    if damaged is None:
        raise FormatError("is no file of MACE", where=where)
    if check_crc:
        raise second
    return damaged


def _damaged_version2(view: memoryview, where: str) -> MaceFile | None:
    """A version 2 file whose checksum alone is wrong."""
    try:
        found = read_version2(view, where, check_crc=False)
    except FormatError:
        return None
    return found if found.pairs and all(r.is_pair for r in found.records) else None


def write_mace_file(file: MaceFile) -> bytes:
    """The bytes of a file: those that it was read from, for every record that was kept."""
    return write_version1(file.records, file.tail) if file.version == 1 else write_version2(file.records)


def make_mace_file(version: int, pairs: Iterable[tuple[bytes, PairValue]]) -> bytes:
    """The bytes of a file with these pairs, in their order, as MACE would write them."""
    if version == 1:
        return write_version1(record_version1(k, v) for k, v in pairs)
    return write_version2(record_version2(k, v) for k, v in pairs)
