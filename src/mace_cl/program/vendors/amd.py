"""Code objects of AMD's GPU driver: ELF, from version 2 (YAML note) to 6 (MessagePack note)."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

import msgpack

from mace_cl.errors import FormatError
from mace_cl.program.vendors.cursor import decode
from mace_cl.program.vendors.description import (
    MAX_KERNELS,
    BinaryDescription,
    DescribePart,
    FieldValue,
    KernelInfo,
    clip,
)
from mace_cl.program.vendors.elf import MAGIC, TYPES, ElfFile, read_elf

_AMDGPU = 224
_HSA = 0x40
_NOTE_METADATA, _NOTE_YAML = 32, 10
_VERSIONS = {0: 2, 1: 3, 2: 4, 3: 5, 4: 6}
_MACHINES = {
    0x20: "gfx600", 0x21: "gfx601", 0x22: "gfx700", 0x23: "gfx701", 0x24: "gfx702", 0x25: "gfx703", 0x26: "gfx704",
    0x28: "gfx801", 0x29: "gfx802", 0x2A: "gfx803", 0x2B: "gfx810", 0x2C: "gfx900", 0x2D: "gfx902", 0x2E: "gfx904",
    0x2F: "gfx906", 0x30: "gfx908", 0x31: "gfx909", 0x32: "gfx90c", 0x33: "gfx1010", 0x34: "gfx1011", 0x35: "gfx1012",
    0x36: "gfx1030", 0x37: "gfx1031", 0x38: "gfx1032", 0x39: "gfx1033", 0x3A: "gfx602", 0x3B: "gfx705", 0x3C: "gfx805",
    0x3D: "gfx1035", 0x3E: "gfx1034", 0x3F: "gfx90a", 0x40: "gfx940", 0x41: "gfx1100", 0x42: "gfx1013",
    0x43: "gfx1150", 0x44: "gfx1103", 0x45: "gfx1036", 0x46: "gfx1101", 0x47: "gfx1102", 0x48: "gfx1200",
    0x4A: "gfx1151", 0x4B: "gfx941", 0x4C: "gfx942", 0x4E: "gfx1201",
}  # fmt: skip
_SHOWN = {
    ".vgpr_count": "vector registers",
    ".sgpr_count": "scalar registers",
    ".group_segment_fixed_size": "local memory",
    ".private_segment_fixed_size": "private memory",
    ".kernarg_segment_size": "argument bytes",
    ".max_flat_workgroup_size": "largest work-group",
    ".wavefront_size": "wavefront",
}
_SPACES = {"global": "__global ", "local": "__local ", "constant": "__constant "}


def matches(data: memoryview) -> bool:
    """Whether this is an ELF file for AMD's GPUs."""
    return bytes(data[:4]) == MAGIC and data.nbytes >= 64 and struct.unpack_from("<H", data, 18)[0] == _AMDGPU


def describe(data: memoryview, part: DescribePart) -> BinaryDescription:
    """Target, and kernels with arguments and registers.

    Raises:
        FormatError: It is damaged.
    """
    elf = read_elf(data)
    fields: dict[str, FieldValue] = {"type": TYPES.get(elf.type, str(elf.type))}
    if elf.os_abi == _HSA:
        fields["code object version"] = _VERSIONS.get(elf.abi_version, f"unknown ({elf.abi_version})")
    fields["GPU"] = _MACHINES.get(elf.flags & 0xFF, f"unknown (0x{elf.flags & 0xFF:02x})")
    metadata = _metadata(elf)
    if isinstance(metadata.get("amdhsa.target"), str):
        fields["target"] = clip(metadata["amdhsa.target"])
    kernels = _kernels(metadata) or _from_symbols(elf)
    return BinaryDescription("amd", "AMD GPU code object", fields, kernels)


def _metadata(elf: ElfFile) -> Mapping[str, Any]:
    for owner, kind, content in elf.notes():
        if owner == "AMDGPU" and kind == _NOTE_METADATA:
            try:
                value = msgpack.unpackb(bytes(content), raw=False, unicode_errors="replace")
            except (ValueError, TypeError, RecursionError, msgpack.exceptions.UnpackException) as error:
                raise FormatError("its metadata is no MessagePack", where="AMD code object") from error
            return value if isinstance(value, dict) else {}
        if owner in ("AMD", "AMDGPU") and kind == _NOTE_YAML:
            return {"yaml": decode(content)}
    return {}


def _kernels(metadata: Mapping[str, Any]) -> tuple[KernelInfo, ...]:
    rows = metadata.get("amdhsa.kernels")
    rows = rows if isinstance(rows, list) else []
    return tuple(_kernel(r) for r in rows[:MAX_KERNELS] if isinstance(r, dict))


def _kernel(row: Mapping[str, Any]) -> KernelInfo:
    rows = row.get(".args")
    rows = rows if isinstance(rows, list) else []
    args = tuple(_argument(a) for a in rows if isinstance(a, dict) and not _is_hidden(a))
    fields: dict[str, FieldValue] = {t: row[k] for k, t in _SHOWN.items() if isinstance(row.get(k), int)}
    required = row.get(".reqd_workgroup_size")
    if isinstance(required, list):
        fields["required work-group size"] = "x".join(str(d) for d in required[:3])
    return KernelInfo(clip(str(row.get(".name", ""))), args, fields)


def _is_hidden(row: Mapping[str, Any]) -> bool:
    return str(row.get(".value_kind", "")).startswith("hidden_")


def _argument(row: Mapping[str, Any]) -> tuple[str, str]:
    space = _SPACES.get(str(row.get(".address_space", "")), "")
    type_name = str(row.get(".type_name", "")) or f"{row.get('.value_kind', 'value')} of {row.get('.size', '?')} bytes"
    return clip(str(row.get(".name", ""))), clip(space + type_name)


def _from_symbols(elf: ElfFile) -> tuple[KernelInfo, ...]:
    """Kernel descriptors end in .kd."""
    names = {s.name.removesuffix(".kd"): None for s in elf.symbols() if s.name.endswith(".kd")}
    return tuple(KernelInfo(n) for n in list(names)[:MAX_KERNELS])
