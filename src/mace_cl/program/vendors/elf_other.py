"""ELF files of no vendor that is known: machine, sections, functions."""

from __future__ import annotations

from mace_cl.program.vendors.description import (
    MAX_KERNELS,
    BinaryDescription,
    DescribePart,
    FieldValue,
    KernelInfo,
    clip,
)
from mace_cl.program.vendors.elf import MACHINES, MAGIC, STT_FUNC, TYPES, read_elf


def matches(data: memoryview) -> bool:
    """Whether this is an ELF file."""
    return bytes(data[:4]) == MAGIC


def describe(data: memoryview, part: DescribePart) -> BinaryDescription:
    """Header, section names and exported functions.

    Raises:
        FormatError: It is damaged.
    """
    elf = read_elf(data)
    fields: dict[str, FieldValue] = {
        "type": TYPES.get(elf.type, f"0x{elf.type:X}"),
        "machine": MACHINES.get(elf.machine, f"number {elf.machine}"),
        "bits": elf.bits,
        "sections": clip(" ".join(s.name for s in elf.sections if s.name)),
    }
    names = {s.name: None for s in elf.symbols() if s.type == STT_FUNC and s.binding == 1 and s.section and s.name}
    return BinaryDescription("elf", "ELF file", fields, tuple(KernelInfo(n) for n in list(names)[:MAX_KERNELS]))
