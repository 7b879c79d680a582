"""The ELF container: header, sections, symbols, notes. Only what the recognisers need, and every bound checked."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from mace_cl.errors import FormatError
from mace_cl.program.vendors.cursor import Cursor, c_string, decode

MAGIC = b"\x7fELF"
SHT_NOTE = 7
SHT_NOBITS = 8
SHT_SYMTAB = 2
SHT_DYNSYM = 11
STT_FUNC = 2
MAX_SYMBOLS = 65536
MAX_NOTES = 1024

MACHINES = {
    3: "x86",
    8: "MIPS",
    21: "PowerPC 64",
    40: "Arm",
    62: "x86-64",
    183: "AArch64",
    190: "NVIDIA CUDA",
    205: "Intel GPU",
    224: "AMD GPU",
    243: "RISC-V",
    258: "LoongArch",
}
TYPES = {0: "none", 1: "relocatable", 2: "executable", 3: "shared object", 4: "core"}


@dataclass(frozen=True)
class ElfSection:
    """A section with its place."""

    name: str
    type: int
    offset: int
    size: int
    link: int
    entry_size: int


@dataclass(frozen=True)
class ElfSymbol:
    """A symbol: name, type (STT_), binding, section, size."""

    name: str
    type: int
    binding: int
    section: int
    size: int


@dataclass(frozen=True)
class ElfFile:
    """A file's header and sections."""

    data: memoryview
    bits: int
    version: int
    os_abi: int
    abi_version: int
    type: int
    machine: int
    flags: int
    sections: tuple[ElfSection, ...]

    def content(self, section: ElfSection) -> memoryview:
        """A section's bytes; none for sections without content in the file.

        Raises:
            FormatError: It lies outside the file.
        """
        if section.type == SHT_NOBITS:
            return self.data[:0]
        if section.offset + section.size > self.data.nbytes:
            raise FormatError(f"section {section.name!r} reaches beyond the end", where="ELF", offset=section.offset)
        return self.data[section.offset : section.offset + section.size]

    def find(self, name: str) -> memoryview | None:
        """Content of the first section of a name."""
        for section in self.sections:
            if section.name == name:
                return self.content(section)
        return None

    def symbols(self) -> Iterator[ElfSymbol]:
        """Symbols of the first symbol table."""
        for wanted in (SHT_SYMTAB, SHT_DYNSYM):
            for section in self.sections:
                if section.type == wanted:
                    yield from self._symbols(section)
                    return

    def _symbols(self, section: ElfSection) -> Iterator[ElfSymbol]:
        if section.link >= len(self.sections):
            raise FormatError("a symbol table without names", where="ELF", offset=section.offset)
        names, table = self.content(self.sections[section.link]), self.content(section)
        layout = struct.Struct("<IBBHQQ" if self.bits == 64 else "<IIIBBH")
        count = min(table.nbytes // layout.size, MAX_SYMBOLS)
        for row in layout.iter_unpack(table[: count * layout.size]):
            if self.bits == 64:
                name, info, _, index, _, size = row
            else:
                name, _, size, info, _, index = row
            yield ElfSymbol(c_string(names, name, "ELF symbol"), info & 15, info >> 4, index, size)

    def notes(self) -> Iterator[tuple[str, int, memoryview]]:
        """(owner, type, content) of each note."""
        left = MAX_NOTES
        for section in self.sections:
            if section.type != SHT_NOTE:
                continue
            cursor = Cursor(self.content(section), f"ELF section {section.name!r}")
            while cursor.left >= 12 and left:
                name_size, size, kind = cursor.unpack("III")
                owner = decode(cursor.take(name_size))
                cursor.take(min(-name_size % 4, cursor.left))
                content = cursor.take(size)
                cursor.take(min(-size % 4, cursor.left))
                left -= 1
                yield owner, kind, content


def read_elf(data: memoryview) -> ElfFile:
    """Read header and sections.

    Raises:
        FormatError: It is no little-endian ELF file, or a table lies outside it.
    """
    if bytes(data[:4]) != MAGIC or data.nbytes < 52:
        raise FormatError("is no ELF file", where="ELF")
    bits, endian, version, os_abi, abi_version = (data[i] for i in range(4, 9))
    if bits not in (1, 2) or endian != 1:
        raise FormatError("is no little-endian ELF file of 32 or 64 bits", where="ELF", offset=4)
    wide = bits == 2
    cursor = Cursor(data, "ELF", 16)
    kind, machine, _, _, _, table = cursor.unpack("HHIQQQ" if wide else "HHIIII")
    flags, _, _, _, row_size, count, names_index = cursor.unpack("IHHHHHH")
    sections = _read_sections(data, wide, table, row_size, count, names_index) if count else ()
    return ElfFile(data, 64 if wide else 32, version, os_abi, abi_version, kind, machine, flags, sections)


def _read_sections(
    data: memoryview, wide: bool, table: int, row_size: int, count: int, names_index: int
) -> tuple[ElfSection, ...]:
    layout = struct.Struct("<IIQQQQIIQQ" if wide else "<IIIIIIIIII")
    if row_size < layout.size or table + row_size * count > data.nbytes:
        raise FormatError("the table of sections reaches beyond the end", where="ELF", offset=table)
    rows = [layout.unpack_from(data, table + i * row_size) for i in range(count)]
    if names_index >= count:
        raise FormatError("sections have no names", where="ELF", offset=table)
    name_row = rows[names_index]
    names = data[name_row[4] : name_row[4] + name_row[5]]
    return tuple(
        ElfSection(c_string(names, r[0], "ELF section") if names.nbytes else "", r[1], r[4], r[5], r[6], r[9])
        for r in rows
    )
