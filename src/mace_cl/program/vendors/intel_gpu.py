"""Binaries of Intel's GPU driver: its OpenCL container, patch tokens, zebin, and fat binaries of ocloc.

From the driver's public source; no file of a real GPU was at hand.
"""

from __future__ import annotations

import re
import struct
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
    clip,
)
from mace_cl.program.vendors.elf import MAGIC, ElfFile, read_elf

_CONTAINERS = {0xFF01: "source", 0xFF02: "objects", 0xFF03: "library", 0xFF04: "executable", 0xFF05: "debug data"}
_ZEBIN_TYPES = {0xFF11: "relocatable", 0xFF12: "executable", 0xFF13: "shared object"}
_INTEL_GPU = 205
_NOTES = {1: "product family", 2: "graphics core", 3: "target", 4: "zebin version", 5: "vISA ABI", 6: "product"}
_TOKENS = b"CTNI"
_AR = b"!<arch>\n"
_MAX_INFO = 1 << 20


def matches(data: memoryview) -> bool:
    """Whether this is any of them."""
    head = bytes(data[:8])
    if head[:4] == _TOKENS or head == _AR:
        return True
    if head[:4] != MAGIC or data.nbytes < 64:
        return False
    kind, machine = struct.unpack_from("<HH", data, 16)
    return machine == _INTEL_GPU or kind in _ZEBIN_TYPES or kind in _CONTAINERS


def describe(data: memoryview, part: DescribePart) -> BinaryDescription:
    """Kernels, build options and parts.

    Raises:
        FormatError: It is damaged.
    """
    head = bytes(data[:8])
    if head[:4] == _TOKENS:
        return _patch_tokens(data)
    if head == _AR:
        return _fat_binary(data, part)
    elf = read_elf(data)
    if elf.type in _CONTAINERS and elf.machine != _INTEL_GPU:
        return _container(elf, part)
    return _zebin(elf, part)


# -- container ----------------------------------------------------------------------------------------------------


def _container(elf: ElfFile, part: DescribePart) -> BinaryDescription:
    fields: dict[str, FieldValue] = {"content": _CONTAINERS[elf.type]}
    options = elf.find("BuildOptions")
    if options is not None:
        fields["build options"] = clip(decode(options))
    inside = [s for s in elf.sections if s.size and s.name and s.type >= 0xFF000000 and s.name != "BuildOptions"]
    parts = tuple((s.name, part(elf.content(s))) for s in inside[:MAX_PARTS])
    kernels = tuple(k for _, d in parts for k in d.kernels)
    return BinaryDescription("intel-gpu", "Intel OpenCL container", fields, kernels, parts)


# -- patch tokens -------------------------------------------------------------------------------------------------


def _patch_tokens(data: memoryview) -> BinaryDescription:
    cursor = Cursor(data, "Intel patch-token binary", 4)
    version, device, pointer, n_kernels, stepping, patches = cursor.unpack("IIIIII")
    cursor.take(patches)
    fields: dict[str, FieldValue] = {
        "version": version,
        "device": device,
        "pointer bytes": pointer,
        "stepping": stepping,
        "kernels": n_kernels,
    }
    kernels: list[KernelInfo] = []
    damage = ""
    try:
        kernels.extend(_token_kernel(cursor) for _ in range(min(n_kernels, MAX_KERNELS)))
    except FormatError as error:
        damage = str(error)
    return BinaryDescription("intel-gpu", "Intel GPU, patch tokens", fields, tuple(kernels), (), damage)


def _token_kernel(cursor: Cursor) -> KernelInfo:
    _, shader_hash, name_size, patches, kernel, general, dynamic, surface, unpadded = cursor.unpack("IQIIIIIII")
    name = decode(cursor.take(name_size))
    for size in (kernel, general, dynamic, surface, patches):
        cursor.take(size)
    return KernelInfo(name, (), {"code bytes": unpadded or kernel, "hash": f"0x{shader_hash:016x}"})


# -- zebin --------------------------------------------------------------------------------------------------------


def _zebin(elf: ElfFile, part: DescribePart) -> BinaryDescription:
    fields: dict[str, FieldValue] = {"type": _ZEBIN_TYPES.get(elf.type, f"0x{elf.type:X}")}
    for owner, kind, content in elf.notes():
        if owner == "IntelGT" and kind in _NOTES:
            is_text = kind in (4, 5) or content.nbytes != 4
            fields[_NOTES[kind]] = clip(decode(content)) if is_text else int.from_bytes(content, "little")
    options = elf.find(".misc.buildOptions")
    if options is not None:
        fields["build options"] = clip(decode(options))
    info = elf.find(".ze_info")
    kernels: tuple[KernelInfo, ...] = ()
    if info is not None:
        text = decode(info[:_MAX_INFO])
        version = re.search(r"^version:\s*'?([\d.]+)", text, re.M)
        if version:
            fields["ze_info version"] = version[1]
        kernels = tuple(_info_kernels(text))
    if not kernels:
        names = (s.name.removeprefix(".text.") for s in elf.sections if s.name.startswith(".text."))
        kernels = tuple(KernelInfo(n) for n in list(names)[:MAX_KERNELS])
    inside = [s for s in elf.sections if s.name == ".spv" and s.size]
    parts = tuple((s.name, part(elf.content(s))) for s in inside[:MAX_PARTS])
    return BinaryDescription("intel-gpu", "Intel GPU, zebin", fields, kernels, parts)


_ITEM = re.compile(r"^(\s*)(- +)?([\w.]+):\s*(.*?)\s*$")
_SHOWN = ("simd_size", "grf_count", "slm_size", "barrier_count", "required_work_group_size")


def _info_kernels(text: str) -> Iterator[KernelInfo]:
    """Kernels of .ze_info: YAML of a fixed form, read by its lines."""
    lines = iter(text.splitlines())
    for line in lines:
        if line.startswith("kernels:"):
            break
    name, count = "", 0
    fields: dict[str, FieldValue] = {}
    args: list[tuple[str, str]] = []
    indent: int | None = None
    for line in lines:
        if line[:1].strip() and not line.startswith("- "):
            break
        item = _ITEM.match(line)
        if item is None:
            continue
        if item[2] and item[3] == "name" and (indent is None or len(item[1]) == indent):
            indent = len(item[1])
            if name:
                yield KernelInfo(name, tuple(args), fields)
            name, fields, args, count = item[4].strip("'\""), {}, [], count + 1
            if count > MAX_KERNELS:
                return
        elif item[3] in _SHOWN:
            fields[item[3]] = clip(item[4])
        elif item[3] == "arg_type" and item[4] in ("arg_bypointer", "arg_byvalue") and len(args) < 1024:
            args.append(("", item[4].removeprefix("arg_")))
    if name:
        yield KernelInfo(name, tuple(args), fields)


# -- fat binary ---------------------------------------------------------------------------------------------------


def _fat_binary(data: memoryview, part: DescribePart) -> BinaryDescription:
    members = list(_ar_members(data))
    parts = tuple((name, part(content)) for name, content in members if content.nbytes)
    kernels = tuple({k.name: k for _, d in parts for k in d.kernels}.values())
    return BinaryDescription(
        "intel-gpu-fat", "ar archive (ocloc's fat binary)", {"members": len(members)}, kernels, parts
    )


def _ar_members(data: memoryview) -> Iterator[tuple[str, memoryview]]:
    """(name, content) of each member; padding members are left out."""
    cursor = Cursor(data, "ar archive", 8)
    names: memoryview | None = None
    count = 0
    while cursor.left and count < MAX_PARTS:
        header = bytes(cursor.take(60))
        if header[58:] != b"`\n":
            raise FormatError("a member has no header", where="ar archive", offset=cursor.offset - 60)
        try:
            size = int(header[48:58].decode("ascii"))
        except ValueError as error:
            raise FormatError("a member has no size", where="ar archive", offset=cursor.offset - 12) from error
        content = cursor.take(size)
        cursor.take(min(size % 2, cursor.left))
        name = header[:16].decode("ascii", "replace").strip()
        if name == "//":
            names = content
            continue
        if name.startswith("/") and name[1:].isdecimal() and names is not None:
            name = decode(names[int(name[1:]) :][:4096]).split("/")[0].split("\n")[0]
        count += 1
        if not name.startswith("pad"):
            yield name.rstrip("/"), content
