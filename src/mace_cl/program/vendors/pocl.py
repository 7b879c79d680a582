"""Binaries of PoCL: formats 8 (to 3.0), 9 (3.1), 10 to 12."""

from __future__ import annotations

from collections.abc import Iterator

from mace_cl.errors import FormatError
from mace_cl.program.vendors.cursor import Cursor, decode
from mace_cl.program.vendors.description import (
    MAX_KERNELS,
    MAX_PARTS,
    BinaryDescription,
    DescribePart,
    FieldValue,
    KernelInfo,
)

MAGIC = b"poclbin\0"
_RELEASES = {8: "1.8 to 3.0", 9: "3.1", 10: "4.0 (development)", 11: "4.0 to 7.1", 12: "7.2 and later"}
_TYPES = {1: "compiled object", 2: "library", 4: "executable"}
_ADDRESS = {0x119B: "__global", 0x119C: "__local", 0x119D: "__constant", 0x119E: ""}
_HASH_BYTES = 41
_META_WORK_GROUP, _META_SUB_GROUP, _META_REQD_SUB_GROUP = 2, 4, 8


def matches(data: memoryview) -> bool:
    """Whether this is a PoCL binary."""
    return bytes(data[:8]) == MAGIC


def describe(data: memoryview, part: DescribePart) -> BinaryDescription:
    """Kernels with arguments, and the files inside.

    Raises:
        FormatError: It is damaged, or of a format that is not known.
    """
    cursor = Cursor(data, "PoCL binary", 8)
    device, version, n_kernels, flags = cursor.unpack("QIIQ")
    if version not in _RELEASES:
        raise FormatError(f"format {version} is not known", where="PoCL binary", offset=16)
    kind = flags >> 1 & 0x7FFFFFFF if version <= 8 else flags >> 32
    fields: dict[str, FieldValue] = {
        "format": version,
        "PoCL": _RELEASES[version],
        "device": f"0x{device:016x}",
        "program type": _TYPES.get(kind, str(kind)),
        "flush denormals": "yes" if flags & 1 else "no",
    }
    roots = 1 if version <= 8 else cursor.u32()
    fields["source hash"] = decode(cursor.take(_HASH_BYTES)).split("\0")[0]
    if version >= 10 and flags & 2:
        fields["program-scope variables"] = cursor.u64()
    files = list(_root_files(cursor, version, roots))
    if n_kernels > MAX_KERNELS:
        raise FormatError(f"{n_kernels} kernels", where="PoCL binary", offset=20)
    kernels = []
    for _ in range(n_kernels):
        kernel, inside = _kernel(cursor, version)
        kernels.append(kernel)
        files += inside
    parts = tuple((name, part(content)) for name, content in files[:MAX_PARTS])
    damage = f"{cursor.left} bytes too many at the end" if cursor.left else ""
    return BinaryDescription("pocl", "PoCL", fields, tuple(kernels), parts, damage)


def _root_files(cursor: Cursor, version: int, roots: int) -> Iterator[tuple[str, memoryview]]:
    """Files that belong to the program as a whole."""
    if version <= 8:
        yield cursor.text(), cursor.sized()
        return
    for _ in range(min(roots, MAX_PARTS)):
        yield from _files(cursor, cursor.u64())


def _files(cursor: Cursor, size: int) -> Iterator[tuple[str, memoryview]]:
    """Files in the next `size` bytes."""
    inner = Cursor(cursor.take(size), cursor.where)
    while inner.left:
        yield inner.text(), inner.sized()


def _kernel(cursor: Cursor, version: int) -> tuple[KernelInfo, list[tuple[str, memoryview]]]:
    _, binaries_size, _ = cursor.unpack("QQI")
    name = cursor.text()
    n_args, n_locals = cursor.unpack("II")
    required = cursor.unpack("QQQ")
    fields: dict[str, FieldValue] = {}
    if any(required):
        fields["required work-group size"] = "x".join(map(str, required))
    local = sum(cursor.u64() for _ in range(_bounded(n_locals, cursor, 8)))
    if local:
        fields["local memory"] = local
    attributes = cursor.text()
    if attributes:
        fields["attributes"] = attributes
    _, flags = cursor.unpack("II")
    if version >= 11:
        _skip_metadata(cursor, flags)
    args = tuple(_argument(cursor) for _ in range(_bounded(n_args, cursor, 28)))
    files = list(_files(cursor, binaries_size))
    return KernelInfo(name, args, fields), files


def _skip_metadata(cursor: Cursor, flags: int) -> None:
    """Sizes that newer formats store, in the order sub-group, work-group, required sub-group."""
    for bit, words in ((_META_SUB_GROUP, 2), (_META_WORK_GROUP, 5), (_META_REQD_SUB_GROUP, 1)):
        if flags & bit:
            cursor.take(4 * words)


def _bounded(count: int, cursor: Cursor, each: int) -> int:
    if count * each > cursor.left:
        raise FormatError(f"{count} records do not fit", where=cursor.where, offset=cursor.offset)
    return count


def _argument(cursor: Cursor) -> tuple[str, str]:
    _, address, _, _, _ = cursor.unpack("IIQII")
    name, type_name = cursor.text(), cursor.text()
    return name, f"{_ADDRESS.get(address, '')} {type_name}".strip()
