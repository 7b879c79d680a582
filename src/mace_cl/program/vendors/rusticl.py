"""Binaries of Mesa's rusticl: SPIR-V behind a short header. The driver's version is not in them."""

from __future__ import annotations

from mace_cl.program.vendors.cursor import Cursor, decode
from mace_cl.program.vendors.description import BinaryDescription, DescribePart, FieldValue, clip

_MAGIC = b"rusticl\0"
_SPIRV = b"\x03\x02\x23\x07"
_TYPES = {0: "none", 1: "compiled object", 2: "library", 4: "executable"}


def matches(data: memoryview) -> bool:
    """Whether this is one with a signature."""
    return bytes(data[:8]) == _MAGIC


def matches_old(data: memoryview) -> bool:
    """Whether this is one of the older form: three numbers, then SPIR-V."""
    if data.nbytes < 32 or bytes(data[12:16]) != _SPIRV:
        return False
    version, size = Cursor(data, "rusticl binary").unpack("II")
    return version == 1 and size % 4 == 0 and size <= data.nbytes - 12


def describe(data: memoryview, part: DescribePart) -> BinaryDescription:
    """The SPIR-V inside, as kernels.

    Raises:
        FormatError: It is damaged.
    """
    fields: dict[str, FieldValue] = {}
    if bytes(data[:8]) == _MAGIC:
        cursor = Cursor(data, "rusticl binary", 8)
        version, name_size, size, kind = cursor.unpack("IIII")
        fields["device"] = clip(decode(cursor.take(name_size)))
    else:
        cursor = Cursor(data, "rusticl binary")
        version, size, kind = cursor.unpack("III")
    fields = {"format": version, "program type": _TYPES.get(kind, str(kind)), **fields}
    inner = part(cursor.take(size))
    damage = f"{cursor.left} bytes too many at the end" if cursor.left else ""
    return BinaryDescription("rusticl", "Mesa rusticl", fields, inner.kernels, (("SPIR-V", inner),), damage)
