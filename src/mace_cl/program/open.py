"""`mace_cl.open_program`: any compiled file of the three versions, without OpenCL."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from mace_cl.errors import FormatError, NoFitError, UsageError
from mace_cl.program.container import Container, Section, is_version3, map_file, read_container
from mace_cl.program.identity import Identity
from mace_cl.program.macefile.contents import MaceContents, read_contents
from mace_cl.program.macefile.files import read_mace_file
from mace_cl.program.macefile.records import MaceFile
from mace_cl.program.plan import KNOWN_FEATURES
from mace_cl.program.reader import Source, read_records
from mace_cl.program.records import Blob, CompiledFile, Entry, KernelRecord, ProgramForms


@dataclass(frozen=True)
class StoredProgram:
    """One compiled program of a file.

    Attributes:
        name: Logical name ('p0') in version 3; the key in versions 1 and 2.
        entry: Name of the entry; empty in versions 1 and 2.
        identity: The device that it was built on, as far as the file says; None if it says nothing.
        options: Build options.
        kernels: Its kernels with their arguments.
        forms: 'binary', 'il', 'source': what is there of each.
    """

    name: str
    entry: str
    identity: Identity | None
    options: str
    kernels: tuple[KernelRecord, ...]
    forms: Mapping[str, Blob]


class ProgramFile:
    """An opened file.

    Attributes:
        version: 1, 2 or 3.
        size: Bytes.
        where: Its name, for messages.
        programs: Every program, in the file's order.
        sections: The sections of version 3; empty otherwise.
        compiled, container: Version 3's records and outer form; None otherwise.
        mace, contents: The pairs of versions 1 and 2 and their meaning; None otherwise.
    """

    def __init__(
        self,
        where: str,
        size: int,
        compiled: CompiledFile | None = None,
        container: Container | None = None,
        mace: MaceFile | None = None,
    ) -> None:
        self.where = where
        self.size = size
        self.compiled = compiled
        self.container = container
        self.mace = mace
        self.contents: MaceContents | None = None if mace is None else read_contents(mace)
        self.version = 3 if mace is None else mace.version
        self.sections: Sequence[Section] = () if container is None else container.sections
        self.programs = tuple(self._programs())

    @property
    def entries(self) -> Sequence[Entry]:
        """Version 3's entries; none otherwise."""
        return () if self.compiled is None else self.compiled.entries

    @property
    def identities(self) -> Sequence[Identity]:
        """Every device that the file has compiled programs for. Of versions 1 and 2, what is recorded of theirs."""
        found = {p.identity.digest: p.identity for p in self.programs if p.identity is not None}
        found |= {e.identity.digest: e.identity for e in self.entries if e.identity is not None}
        return tuple(found.values())

    @property
    def identity(self) -> Identity | None:
        """The first of `identities`."""
        return next(iter(self.identities), None)

    def binary(self, device: Any, program: str | None = None) -> bytes:
        """The compiled program for a device; its hash was compared first.

        Args:
            device: A pyopencl device, a device of `mace_cl.opencl`, or an Identity.
            program: Name of the program; may be left out if the file has one for the device.

        Returns:
            Bytes for `pyopencl.Program(context, [device], [binary])`.

        Raises:
            NoFitError: The file has nothing compiled for this device; with each entry's reason.
            UsageError: The name is missing or unknown.
            FormatError: The program is damaged.
        """
        identity = identity_of(device)
        fitting, reasons = self._fitting(identity)
        if not fitting:
            raise NoFitError("holds no compiled program for this device", where=self.where, reasons=reasons)
        names = [p.name for p in fitting]
        if program is None and len(set(names)) > 1:
            raise UsageError(f"it holds {len(set(names))} programs: {', '.join(names[:8])}", hint="name one of them")
        chosen = next((p for p in fitting if program is None or p.name == program), None)
        if chosen is None:
            raise UsageError(f"it holds no program {program!r}, only {', '.join(names[:8])}", where=self.where)
        return bytes(chosen.forms["binary"].checked())

    def _programs(self) -> list[StoredProgram]:
        if self.contents is not None:
            known = mace_identity(self.contents)
            return [
                StoredProgram(
                    p.key,
                    "",
                    known,
                    " ".join(p.options).strip(),
                    tuple(KernelRecord(name) for _, name in p.kernels),
                    {"binary": Blob("program", p.key, p.binary)},
                )
                for p in self.contents.programs
            ]
        return [
            StoredProgram(name, e.name, e.identity, p.options, p.kernels, forms_of(p))
            for e in self.entries
            for name, p in e.programs.items()
        ]

    def _fitting(self, identity: Identity) -> tuple[list[StoredProgram], list[str]]:
        """(compiled programs for a device, why not the rest)."""
        if self.contents is not None:
            reasons = mace_misfits(self.contents, identity)
            return ([], reasons) if reasons else (list(self.programs), [])
        for entry in self.entries:
            if entry.identity == identity and not set(entry.requires_features) - KNOWN_FEATURES:
                found = [p for p in self.programs if p.entry == entry.name and p.identity == identity]
                return [p for p in found if "binary" in p.forms], [f"entry {entry.name!r}: has no compiled program"]
        return [], [f"entry {e.name!r}: {misfit(e, identity)}" for e in self.entries]


def open_program(source: Source) -> ProgramFile:
    """Open a compiled file of any version, without OpenCL.

    Args:
        source: Its path, or its bytes.

    Raises:
        UsageError: It cannot be opened.
        FormatError: It is none of the three versions, or damaged.
    """
    if isinstance(source, str | os.PathLike):
        return open_bytes(map_file(source), os.fspath(source))
    return open_bytes(memoryview(source).cast("B"), "file")


def open_bytes(data: memoryview, where: str) -> ProgramFile:
    """Open a compiled file in memory; see `open_program`."""
    if is_version3(data):
        container = read_container(data, where)
        return ProgramFile(where, data.nbytes, read_records(container, any_features=True), container)
    try:
        mace = read_mace_file(data, where)
    except FormatError as error:
        if error.message != "is no file of MACE":
            raise
        raise FormatError("is no compiled program of any version", where=where) from None
    return ProgramFile(where, data.nbytes, mace=mace)


def identity_of(device: Any) -> Identity:
    """The identity of whatever stands for a device.

    Raises:
        UsageError: It is nothing of the kind.
    """
    if isinstance(device, Identity):
        return device
    found = getattr(device, "identity", None)
    if isinstance(found, Identity):
        return found
    pointer = getattr(device, "int_ptr", None)
    if pointer is None:
        raise UsageError(f"a {type(device).__name__} is no device")
    # Only here is a driver needed: whoever holds a pyopencl device has one loaded.
    for info in import_module("mace_cl.opencl.devices").list_devices():
        if info.handle.int_ptr == pointer:
            identity: Identity = info.identity
            return identity
    raise UsageError("this device is not among those that are found here", hint="see: mace devices")


def forms_of(program: ProgramForms) -> dict[str, Blob]:
    """The forms that a program has, by name."""
    forms = {"binary": program.binary, "il": program.il, "source": program.source}
    return {name: blob for name, blob in forms.items() if blob is not None}


def misfit(entry: Entry, identity: Identity) -> str:
    """Why an entry's compiled programs are not for a device; empty if they are."""
    unknown = sorted(set(entry.requires_features) - KNOWN_FEATURES)
    if unknown:
        return f"needs features that are not known here: {', '.join(unknown)}"
    if entry.identity is None:
        return "is portable: it has no compiled program"
    return "; ".join(
        f"{field} is {there!r}, not {here!r}" for field, here, there in entry.identity.differences(identity)
    )


def mace_identity(contents: MaceContents) -> Identity | None:
    """What a MACE file says of its device; fields that it does not record are empty."""
    if contents.platform is None:
        return None
    return Identity(
        platform_name=contents.platform.name,
        platform_version=contents.platform.version,
        device_name=contents.device_name,
        device_vendor="",
        device_version="",
        driver_version=contents.platform.driver,
        device_type="",
        address_bits=0,
    )


def mace_misfits(contents: MaceContents, identity: Identity) -> list[str]:
    """Why the programs of a MACE file are not for a device; empty if they are."""
    if contents.platform_text is None:
        return ["the file does not say which device it is for"]
    if contents.platform is None:
        return [f"its platform {contents.platform_text!r} cannot be read"]
    pairs = [
        ("platform_name", contents.platform.name, identity.platform_name),
        ("platform_version", contents.platform.version, identity.platform_version),
    ]
    lines = [f"{field} is {there!r}, not {here!r}" for field, here, there in pairs if here.strip() != there.strip()]
    device = contents.device_name
    if device and device != identity.device_name and device not in identity.device_version:
        lines.append(f"device_name is {identity.device_name!r}, not {device!r}")
    return lines
