"""Binaries of Intel's OpenCL runtime for CPUs: an ELF container with IR, metadata and a nested object."""

from __future__ import annotations

import re
import struct

from mace_cl.errors import FormatError
from mace_cl.program.vendors.cursor import Cursor, decode
from mace_cl.program.vendors.description import (
    MAX_KERNELS,
    BinaryDescription,
    DescribePart,
    FieldValue,
    KernelInfo,
)
from mace_cl.program.vendors.elf import MAGIC, STT_FUNC, ElfFile, read_elf

_EXECUTABLE = 0xFF04
_X86_64 = 62
_MAX_ARGS = 1024
_COMPILER = re.compile(rb"[ -~]*[Cc]ompiler[ -~]*")
_ARGUMENTS = {0: "value", 8: "__local pointer", 9: "__global pointer", 10: "__constant pointer"}
_ARGUMENTS_AT = 8
"""Bytes between a kernel's name and the number of its arguments."""


def matches(data: memoryview) -> bool:
    """Whether this is one: its container type on x86-64 and a section .ocl.obj."""
    if bytes(data[:4]) != MAGIC or data.nbytes < 64:
        return False
    kind, machine = Cursor(data, "ELF", 16).unpack("HH")
    return kind == _EXECUTABLE and machine == _X86_64


def describe(data: memoryview, part: DescribePart) -> BinaryDescription:
    """Kernels from the nested object's symbols, arguments from the metadata.

    Raises:
        FormatError: It is damaged.
    """
    elf = read_elf(data)
    code, meta = elf.find(".ocl.obj"), elf.find(".ocl.meta")
    if code is None:
        raise FormatError("has no section .ocl.obj", where="Intel CPU binary")
    fields: dict[str, FieldValue] = {}
    version = elf.find(".ocl.ver")
    if version is not None and version.nbytes >= 4:
        fields["format"] = Cursor(version, "Intel CPU binary").u32()
    inner = read_elf(code)
    compiler = _compiler(inner)
    if compiler:
        fields["compiler"] = compiler
    names = _kernel_names(inner)
    kernels = tuple(_kernel(name, meta) for name in names)
    found = {".ocl.ir": "LLVM bitcode", ".ocl.obj": "object code"}
    parts = [(f"{title} ({name})", elf.find(name)) for name, title in found.items()]
    described = tuple((name, part(content)) for name, content in parts if content is not None and content.nbytes)
    return BinaryDescription("intel-cpu", "Intel OpenCL runtime for CPUs", fields, kernels, described)


def _compiler(elf: ElfFile) -> str:
    comment = elf.find(".comment")
    match = _COMPILER.search(bytes(comment)) if comment is not None else None
    return decode(match[0]) if match else ""


def _kernel_names(elf: ElfFile) -> list[str]:
    names = [s.name for s in elf.symbols() if s.type == STT_FUNC and s.binding == 1 and s.section and s.name]
    return names[:MAX_KERNELS]


def _kernel(name: str, meta: memoryview | None) -> KernelInfo:
    if meta is None:
        return KernelInfo(name)
    raw = name.encode("utf-8", "replace") + b"\0"
    place = bytes(meta).find(struct.pack("<I", len(raw)) + raw)
    if place < 0:
        return KernelInfo(name)
    try:
        return KernelInfo(name, _arguments(Cursor(meta, "metadata", place + 4 + len(raw) + _ARGUMENTS_AT)))
    except FormatError:
        return KernelInfo(name)


def _arguments(cursor: Cursor) -> tuple[tuple[str, str], ...]:
    count = cursor.u32()
    if count > _MAX_ARGS:
        raise FormatError(f"{count} arguments", where=cursor.where)
    return tuple(("", _argument(*cursor.unpack("IIII"))) for _ in range(count))


def _argument(kind: int, size: int, _unknown: int, _offset: int) -> str:
    name = _ARGUMENTS.get(kind, f"kind {kind}")
    return name if "pointer" in name else f"{name} of {size} bytes"
