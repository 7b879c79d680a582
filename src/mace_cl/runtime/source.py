"""Opens what a session is loaded from: a path, a file's bytes, or records in memory."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib import import_module
from typing import TypeAlias

from mace_cl.errors import SignatureError, UsageError
from mace_cl.program.reader import read_file, read_records
from mace_cl.program.records import CompiledFile

Source: TypeAlias = "str | os.PathLike[str] | bytes | bytearray | memoryview | CompiledFile"

PROBES = ("auto", "always", "never")


@dataclass(frozen=True)
class LoadOptions:
    """How to load.

    Attributes:
        cache: Whether this machine's cache may be used.
        probe: One of PROBES.
        markers: Whether crash markers are written; a child process that tries a program writes none.
    """

    cache: bool = True
    probe: str = "auto"
    markers: bool = True


@dataclass(frozen=True)
class FileIdentity:
    """What tells one state of a file from another without reading it."""

    device: int
    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int

    @classmethod
    def of(cls, path: str) -> FileIdentity | None:
        """The identity of a file now; None if there is none."""
        try:
            found = os.stat(path)
        except OSError:
            return None
        return cls(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)

    def __str__(self) -> str:
        return f"{self.device}:{self.inode}:{self.size}:{self.mtime_ns}:{self.ctime_ns}"


@dataclass(frozen=True)
class OpenedFile:
    """A compiled file, read.

    Attributes:
        file: Its records.
        path: Where it lies; None if it was given as bytes or records.
        data: Its bytes, if it was given so.
        identity: Of the file at `path`, if it stayed the same while it was read.
        signed: Whether a key that the user trusts signed it.
    """

    file: CompiledFile
    path: str | None = None
    data: memoryview | None = None
    identity: FileIdentity | None = None
    signed: bool = False

    @property
    def made_here(self) -> bool:
        """Whether it is records of this very process."""
        return self.path is None and self.data is None


def open_source(source: Source, require_signature: str | os.PathLike[str] | bytes | None = None) -> OpenedFile:
    """Read a file's header and map its sections.

    Args:
        source: What to read.
        require_signature: Public key, or its file; the file must be signed with it.

    Raises:
        UsageError: There is no such file, or the argument is of another type.
        FormatError: It is no compiled file, or a damaged one.
        SignatureError: The signature is missing or wrong.
    """
    if isinstance(source, CompiledFile):
        if require_signature is not None:
            raise SignatureError("records in memory have no signature", hint="load the file or its bytes")
        return OpenedFile(source)
    if not isinstance(source, str | os.PathLike | bytes | bytearray | memoryview):
        raise UsageError(f"cannot load from a {type(source).__name__}", hint="give a path or a file's bytes")
    signed = require_signature is not None
    if isinstance(source, bytes | bytearray | memoryview):
        data = memoryview(source).cast("B")
        return OpenedFile(_read(data, require_signature), data=data, signed=signed)
    path = os.path.abspath(os.fspath(source))
    before = FileIdentity.of(path)
    if before is None or os.path.isdir(path):
        raise UsageError("is a folder" if before else "no such file", where=str(source))
    file = _read(path, require_signature)
    return OpenedFile(file, path, None, before if before == FileIdentity.of(path) else None, signed)


def _read(source: str | memoryview, key: str | os.PathLike[str] | bytes | None) -> CompiledFile:
    if key is None:
        return read_file(source)
    # Cryptography takes long to import, and few starts need it.
    container = import_module("mace_cl.program.sign").require_signature(source, key)
    return read_records(container)
