"""The six lines of `mace_run --dump_binary_info`."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass

from mace_cl.errors import FormatError
from mace_cl.program.container import HEAD, VERSION, is_version3, read_container
from mace_cl.program.identity import Identity
from mace_cl.program.macefile.contents import read_contents
from mace_cl.program.macefile.files import read_mace_file
from mace_cl.program.reader import read_records
from mace_cl.program.records import CompiledFile, Entry

UNKNOWN = "unknown"


@dataclass(frozen=True)
class DumpInfo:
    """What a file says of itself.

    Attributes:
        version: Format version.
        target, driver: The GPU and its driver, or 'unknown'.
        kernels: Number of kernels, or None.
        size: Bytes of the file.
        crc32: As stored; None where the version has none.
        fault: What is wrong with the checksum; empty if it is right.
    """

    version: int
    target: str
    driver: str
    kernels: int | None
    size: int
    crc32: int | None
    fault: str = ""

    def lines(self) -> tuple[str, ...]:
        """The six lines."""
        return (
            f"Binary format version: {self.version}",
            f"Target GPU: {_one_line(self.target)}",
            f"Driver version: {_one_line(self.driver)}",
            f"Kernel count: {UNKNOWN if self.kernels is None else self.kernels}",
            f"Total binary size: {self.size / 1e6:.1f} MB",
            f"CRC32 checksum: {UNKNOWN if self.crc32 is None else f'0x{self.crc32:08X}'}",
        )


def dump_info(data: memoryview, where: str, here: Callable[[], list[Identity]] = list) -> DumpInfo:
    """Read the six facts of a file of any version.

    Args:
        data: The file.
        where: Its name, for messages.
        here: Gives the devices of this machine; asked only if the file has several entries.

    Raises:
        FormatError: It is no compiled program.
    """
    return _version3(data, where, here) if is_version3(data) else _mace(data, where)


def _version3(data: memoryview, where: str, here: Callable[[], list[Identity]]) -> DumpInfo:
    try:
        container = read_container(data, where, check_crc=False)
        file = read_records(container, any_features=True)
    except FormatError:
        damaged = _damaged(data)
        if damaged is None:
            raise
        return damaged
    entry = _entry(file, here)
    target, driver = file.target_gpu, file.driver_version
    if entry is not None and entry.identity is not None and entry is not file.entries[0]:
        target = f"{entry.identity.device_vendor} {entry.identity.device_name}".strip()
        driver = entry.identity.driver_version
    kernels = 0 if entry is None else sum(len(p.kernels) for p in entry.programs.values())
    fault = _crc_fault(data, container.header_bytes, container.crc32)
    return DumpInfo(VERSION, target or UNKNOWN, driver or UNKNOWN, kernels, data.nbytes, container.crc32, fault)


def _damaged(data: memoryview) -> DumpInfo | None:
    """What the first 32 bytes say of a file whose header is damaged; None if that is not what is wrong."""
    if data.nbytes < HEAD.size:
        return None
    _, version, header_bytes, _, crc, _ = HEAD.unpack_from(data)
    if version != VERSION or HEAD.size + header_bytes > data.nbytes:
        return None
    fault = _crc_fault(data, header_bytes, crc)
    return DumpInfo(VERSION, UNKNOWN, UNKNOWN, None, data.nbytes, crc, fault) if fault else None


def _crc_fault(data: memoryview, header_bytes: int, stored: int) -> str:
    computed = zlib.crc32(data[HEAD.size : HEAD.size + header_bytes])
    return "" if computed == stored else f"the checksum is wrong: the content's is 0x{computed:08X}"


def _entry(file: CompiledFile, here: Callable[[], list[Identity]]) -> Entry | None:
    """The entry that fits a device of this machine, else the first."""
    built = [e for e in file.entries if e.identity is not None]
    if len(built) > 1:
        for identity in here():
            for entry in built:
                if entry.identity == identity:
                    return entry
    return file.entries[0] if file.entries else None


def _mace(data: memoryview, where: str) -> DumpInfo:
    file = read_mace_file(data, where, check_crc=False)
    contents = read_contents(file)
    platform = contents.platform
    driver = UNKNOWN
    if platform is not None:
        driver = platform.driver
        if platform.adreno is not None:
            build = platform.adreno
            parts = [p for p in (build.compiler, build.commit, build.remote_branch, build.date) if p]
            driver = " ".join(parts) or driver
    fault = ""
    if file.stored_crc32 != file.computed_crc32:
        fault = f"the checksum is wrong: the content's is 0x{file.computed_crc32:08X}"
    return DumpInfo(
        version=file.version,
        target=contents.device_name or UNKNOWN,
        driver=driver or UNKNOWN,
        kernels=len(contents.programs),
        size=file.size,
        crc32=file.stored_crc32,
        fault=fault,
    )


def _one_line(text: str) -> str:
    """Text without control characters: each fact is one line."""
    return "".join(c if c.isprintable() else " " for c in text)
