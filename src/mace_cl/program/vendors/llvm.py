"""LLVM bitcode: producer and target, read from the bit stream."""

from __future__ import annotations

from dataclasses import dataclass

from mace_cl.errors import FormatError
from mace_cl.program.vendors.cursor import Cursor
from mace_cl.program.vendors.description import BinaryDescription, DescribePart, FieldValue, clip

_RAW = b"BC\xc0\xde"
_WRAPPER = b"\xde\xc0\x17\x0b"
_MODULE, _IDENTIFICATION = 8, 13
_FIXED, _VBR, _ARRAY, _CHAR6, _BLOB = 1, 2, 3, 4, 5
_CHARS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._"
_MAX_RECORDS = 2000
_MAX_ITEMS = 4096
_SHOWN = {(_IDENTIFICATION, 1): "producer", (_MODULE, 2): "target", (_MODULE, 16): "source file"}


def matches(data: memoryview) -> bool:
    """Whether this is bitcode, bare or with its wrapper."""
    return bytes(data[:4]) in (_RAW, _WRAPPER)


def describe(data: memoryview, part: DescribePart) -> BinaryDescription:
    """Producer, target triple and source file.

    Raises:
        FormatError: The wrapper is damaged.
    """
    fields: dict[str, FieldValue] = {}
    if bytes(data[:4]) == _WRAPPER:
        _, _, offset, size, cpu = Cursor(data, "bitcode wrapper").unpack("IIIII")
        fields["wrapper CPU type"] = cpu
        data = Cursor(data, "bitcode wrapper", offset).take(size)
    damage = ""
    try:
        fields |= _read(data)
    except FormatError as error:
        damage = str(error)
    return BinaryDescription("llvm-bitcode", "LLVM bitcode", fields, damage=damage)


class _Bits:
    """Bits of a stream, lowest first."""

    def __init__(self, data: memoryview) -> None:
        self.data = data
        self.place = 32

    def fixed(self, width: int) -> int:
        start, end = self.place >> 3, (self.place + width + 7) >> 3
        if width > 64 or end > self.data.nbytes:
            raise FormatError("the bit stream ends too early", where="LLVM bitcode", offset=start)
        value = int.from_bytes(self.data[start:end], "little") >> (self.place & 7)
        self.place += width
        return value & (1 << width) - 1

    def vbr(self, width: int) -> int:
        value, shift = 0, 0
        if width < 2:
            raise FormatError("an encoding of no bits", where="LLVM bitcode")
        while shift < 64:
            piece = self.fixed(width)
            value |= (piece & (1 << width - 1) - 1) << shift
            if not piece >> width - 1:
                return value
            shift += width - 1
        raise FormatError("a number without an end", where="LLVM bitcode")

    def align(self) -> None:
        self.place = (self.place + 31) & ~31


@dataclass(frozen=True)
class _Operand:
    """An operand of an abbreviation: a literal or an encoding with its width."""

    literal: int | None
    encoding: int = 0
    width: int = 0


def _read(data: memoryview) -> dict[str, FieldValue]:
    """Texts of the identification and module blocks."""
    bits = _Bits(data)
    fields: dict[str, FieldValue] = {}
    while bits.place + 64 <= 8 * data.nbytes and len(fields) < len(_SHOWN):
        if bits.fixed(2) != 1:
            break
        block, width, end = _enter(bits)
        if block in (_IDENTIFICATION, _MODULE):
            fields |= _block(bits, block, width, end)
        bits.place = end
    return fields


def _enter(bits: _Bits) -> tuple[int, int, int]:
    """(block id, width of abbreviation ids, place of its end)."""
    block, width = bits.vbr(8), bits.vbr(4)
    bits.align()
    return block, width, 32 * bits.fixed(32) + bits.place


def _block(bits: _Bits, block: int, width: int, end: int) -> dict[str, FieldValue]:
    fields: dict[str, FieldValue] = {}
    abbreviations: list[list[_Operand]] = []
    for _ in range(_MAX_RECORDS):
        if bits.place >= end:
            break
        kind = bits.fixed(width)
        if kind == 0:
            break
        if kind == 1:
            _, _, inner_end = _enter(bits)
            bits.place = inner_end
            continue
        if kind == 2:
            abbreviations.append(_abbreviation(bits))
            continue
        code, values = _record(bits, kind, abbreviations)
        title = _SHOWN.get((block, code))
        if title:
            fields[title] = clip("".join(chr(v) if 32 <= v < 127 else "?" for v in values))
    return fields


def _abbreviation(bits: _Bits) -> list[_Operand]:
    operands = []
    for _ in range(bits.vbr(5)):
        if bits.fixed(1):
            operands.append(_Operand(bits.vbr(8)))
            continue
        encoding = bits.fixed(3)
        operands.append(_Operand(None, encoding, bits.vbr(5) if encoding in (_FIXED, _VBR) else 0))
    return operands


def _record(bits: _Bits, kind: int, abbreviations: list[list[_Operand]]) -> tuple[int, list[int]]:
    if kind == 3:
        code = bits.vbr(6)
        return code, [bits.vbr(6) for _ in range(_count(bits.vbr(6)))]
    if kind - 4 >= len(abbreviations):
        raise FormatError(f"abbreviation {kind} is not defined", where="LLVM bitcode")
    values: list[int] = []
    operands = iter(abbreviations[kind - 4])
    for operand in operands:
        if operand.encoding == _ARRAY and operand.literal is None:
            element = next(operands, _Operand(None, _CHAR6))
            values += [_scalar(bits, element) for _ in range(_count(bits.vbr(6)))]
        elif operand.encoding == _BLOB and operand.literal is None:
            values += _blob(bits)
        else:
            values.append(_scalar(bits, operand))
    return (values[0], values[1:]) if values else (0, [])


def _count(count: int) -> int:
    if count > _MAX_ITEMS:
        raise FormatError(f"a record of {count} items", where="LLVM bitcode")
    return count


def _blob(bits: _Bits) -> list[int]:
    count = _count(bits.vbr(6))
    bits.align()
    values = [bits.fixed(8) for _ in range(count)]
    bits.align()
    return values


def _scalar(bits: _Bits, operand: _Operand) -> int:
    if operand.literal is not None:
        return operand.literal
    if operand.encoding == _CHAR6:
        return ord(_CHARS[bits.fixed(6)])
    return bits.vbr(operand.width) if operand.encoding == _VBR else bits.fixed(operand.width)
