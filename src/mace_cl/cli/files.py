"""Files that commands read: a path, or - for standard input."""

from __future__ import annotations

import sys
from pathlib import Path

from mace_cl.errors import FormatError, UsageError
from mace_cl.program.container import map_file
from mace_cl.program.open import ProgramFile, open_bytes
from mace_cl.program.records import CompiledFile


def read_any(path: str) -> tuple[memoryview, str]:
    """(bytes, name for messages) of a file, or of standard input for -.

    Raises:
        UsageError: It cannot be read, or it is a folder.
    """
    if path == "-":
        return memoryview(sys.stdin.buffer.read()), "standard input"
    if Path(path).is_dir():
        raise UsageError("is a folder", where=path)
    return map_file(path), path


def open_any(path: str) -> ProgramFile:
    """A compiled file of any version.

    Raises:
        UsageError: It cannot be read.
        FormatError: It is none.
    """
    data, where = read_any(path)
    return open_bytes(data, where)


def open_version3(path: str) -> CompiledFile:
    """The records of a version 3 file.

    Raises:
        UsageError: It cannot be read.
        FormatError: It is none.
    """
    found = open_any(path)
    if found.compiled is None:
        raise FormatError(
            f"is a file of MACE (version {found.version}); this needs one of version 3",
            where=found.where,
            hint="mace extract writes its programs into files",
        )
    return found.compiled
