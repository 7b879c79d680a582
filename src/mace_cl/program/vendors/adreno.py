"""Binaries of Qualcomm's Adreno driver. No public layout and no signature: a guess from where numbers stand.

The places hold for one-kernel programs of the a6xx and a7xx families.
"""

from __future__ import annotations

import re
import struct

from mace_cl.program.vendors.description import BinaryDescription, DescribePart, FieldValue, KernelInfo

_REGISTERS_AT, _IMAGE_AT, _SIZE_AT, _DESCRIPTOR_AT = 0x34, 0xC0, 0x100, 0x110
_FULL, _HALF = 0x14, 0x18
_PROGRAM, _PRIVATE, _SHARED, _SAMPLERS, _NAME = 0xC4, 0xC8, 0xD8, 0xDC, 0x158
_MAX_REGISTERS = 96
_IDENTIFIER = re.compile(rb"[A-Za-z_][A-Za-z0-9_]{0,127}\0")


def _word(data: memoryview, offset: int) -> int:
    """The number at a place; 2^32 where that is outside."""
    return struct.unpack_from("<I", data, offset)[0] if 0 <= offset <= data.nbytes - 4 else 1 << 32


def _kernel_name(data: memoryview) -> str:
    start = _word(data, _DESCRIPTOR_AT) + _NAME
    match = _IDENTIFIER.match(bytes(data[start : start + 256])) if start < data.nbytes else None
    return match[0][:-1].decode("ascii") if match else ""


def matches(data: memoryview) -> bool:
    """Whether the numbers at the known places fit one another."""
    if data.nbytes < 0x200:
        return False
    registers, image, size = (_word(data, o) for o in (_REGISTERS_AT, _IMAGE_AT, _SIZE_AT))
    fits = image >= 0x100 and size > 0 and size % 4 == 0 and image + size <= data.nbytes
    if not fits or not 0x100 <= registers <= data.nbytes - _HALF - 4 or not _kernel_name(data):
        return False
    return _word(data, registers + _FULL) <= _MAX_REGISTERS and _word(data, registers + _HALF) <= _MAX_REGISTERS


def describe(data: memoryview, part: DescribePart) -> BinaryDescription:
    """Kernel, code size, registers and memory, as far as the guess goes."""
    registers, descriptor = _word(data, _REGISTERS_AT), _word(data, _DESCRIPTOR_AT)
    fields: dict[str, FieldValue] = {"code bytes": _word(data, _SIZE_AT), "code offset": _word(data, _IMAGE_AT)}
    kernel: dict[str, FieldValue] = {
        "full registers": _word(data, registers + _FULL),
        "half registers": _word(data, registers + _HALF),
    }
    for title, place in (("private memory", _PRIVATE), ("local memory", _SHARED), ("samplers", _SAMPLERS)):
        value = _word(data, descriptor + place)
        if value < 1 << 20:
            kernel[title] = value
    name = _kernel_name(data)
    return BinaryDescription(
        "adreno",
        "Qualcomm Adreno (guessed from its layout)",
        fields,
        (KernelInfo(name, (), kernel),),
        is_heuristic=True,
    )
