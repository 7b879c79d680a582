"""What the pairs of a MACE file mean: the device, the programs with their options, the tuned work sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mace_cl.program.macefile.names import obfuscate, plain_name
from mace_cl.program.macefile.platform import PlatformInfo, parse_platform
from mace_cl.program.macefile.records import DEVICE_KEY, HASH_PREFIX, PLATFORM_KEY, QUEUE_WINDOW_KEY, MaceFile


@dataclass(frozen=True)
class MaceProgram:
    """One compiled program.

    Attributes:
        key: As it stands in the file.
        name: Stem of the .cl file.
        options: Build options; MACE adds -Werror -cl-mad-enable -cl-fast-relaxed-math, which the key leaves out.
        kernels: (plain name, name in the program) of the kernels that the options name.
        source_hash: Ends of the MD5 of the .cl file (and of common.h); empty in version 1.
        binary: The driver's bytes.
    """

    key: str
    name: str
    options: tuple[str, ...]
    kernels: tuple[tuple[str, str], ...]
    source_hash: str
    binary: memoryview


@dataclass(frozen=True)
class TunedKernel:
    """Tuned work sizes.

    Attributes:
        key: As it stands in the file.
        name: De-obfuscated where it can be.
        local_size: Work-group size.
        block: Rows of the last dimension that are enqueued at once; 0 for all; None for another setting.
        values: The numbers as they are.
    """

    key: str
    name: str
    local_size: tuple[int, ...]
    block: int | None
    values: tuple[int, ...]


@dataclass(frozen=True)
class MaceContents:
    """A file's meaning.

    Attributes:
        platform_text: The platform string; None where the file has none: it is unidentified, and MACE would use it
            on any device.
        platform: The string taken apart.
        device_name: The GPU; empty where the file does not say.
        programs, tuned: What it holds.
        hashes_alone: Keys of source hashes without a program.
    """

    platform_text: str | None
    platform: PlatformInfo | None
    device_name: str
    programs: tuple[MaceProgram, ...]
    tuned: tuple[TunedKernel, ...]
    hashes_alone: tuple[str, ...]


def read_contents(file: MaceFile) -> MaceContents:
    """Sort a file's pairs by what they mean."""
    pairs = file.pairs
    platform_text = text_of(pairs[PLATFORM_KEY].value or b"") if PLATFORM_KEY in pairs else None
    device = text_of(pairs[DEVICE_KEY].value or b"") if DEVICE_KEY in pairs else ""
    hashes = {k[len(HASH_PREFIX) :]: text_of(r.value or b"") for k, r in pairs.items() if k.startswith(HASH_PREFIX)}
    rest = {k: r for k, r in pairs.items() if k not in (PLATFORM_KEY, DEVICE_KEY) and not k.startswith(HASH_PREFIX)}
    is_tuning = file.kind == "parameters"
    tuned = {k: r for k, r in rest.items() if is_tuning or (r.value is None and r.numbers)}
    programs = {k: r for k, r in rest.items() if k not in tuned}
    return MaceContents(
        platform_text=platform_text,
        platform=None if platform_text is None else parse_platform(platform_text),
        device_name=device,
        programs=tuple(parse_program(k, memoryview(r.value or b""), hashes.get(k, "")) for k, r in programs.items()),
        tuned=tuple(parse_tuned(k, r.parameters()) for k, r in tuned.items()),
        hashes_alone=tuple(text_of(k) for k in hashes if k not in programs),
    )


def text_of(data: bytes | memoryview) -> str:
    """Text for people: UTF-8, with marks where it is none, without a final NUL."""
    return bytes(data).decode("utf-8", "replace").rstrip("\0")


def parse_program(key: bytes, binary: memoryview, source_hash: str) -> MaceProgram:
    """A program's key in its parts: the name up to the first space, then options."""
    text = text_of(key)
    name, *options = text.split(" ")
    return MaceProgram(text, name, tuple(options), tuple(_renamed(options)), source_hash, binary)


def _renamed(options: Sequence[str]) -> list[tuple[str, str]]:
    """Kernels in -Dkernel=name, where the name is the kernel's own or its obfuscated form."""
    found = []
    for option in options:
        if option.startswith("-D"):
            name, equals, value = option[2:].partition("=")
            if equals and name and value in (name, obfuscate(name)):
                found.append((name, value))
    return found


def parse_tuned(key: bytes, values: tuple[int, ...]) -> TunedKernel:
    """A tuned kernel: three or two work sizes, then the block."""
    text = text_of(key)
    if key == QUEUE_WINDOW_KEY or len(values) not in (3, 4):
        return TunedKernel(text, text if key == QUEUE_WINDOW_KEY else plain_name(text), (), None, values)
    return TunedKernel(text, plain_name(text), values[:-1], values[-1], values)
