"""Makes one self-contained text of an OpenCL C file: `#include "x"` lines are replaced by the file, with #line marks.

A program that travels in a file must not need headers on the device that builds it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from mace_cl.errors import UsageError

_INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"([^"\n]+)"|<([^>\n]+)>)')
MAX_DEPTH = 64
MAX_BYTES = 64 << 20


def read_source(path: Path, folders: Sequence[Path] = ()) -> str:
    """The text of a file with its includes.

    Args:
        path: The file.
        folders: Where includes are looked for, after the folder of the file that includes.

    Returns:
        Text whose #line marks name the files it came from. An include that is not found stays as it is: it may stand
        in a part that is switched off.

    Raises:
        UsageError: A file cannot be read, or includes itself without end.
    """
    expanded = _Expander(folders)
    return expanded.expand(path, path.name, 0)


class _Expander:
    def __init__(self, folders: Sequence[Path]) -> None:
        self.folders = folders
        self.left = MAX_BYTES

    def expand(self, path: Path, shown: str, depth: int) -> str:
        if depth > MAX_DEPTH:
            raise UsageError("includes itself without end", where=str(path))
        lines = [f'#line 1 "{shown}"']
        for number, line in enumerate(self._read(path).splitlines(), 1):
            match = _INCLUDE.match(line)
            found = self._find(match[1] or match[2], path, bool(match[1])) if match else None
            if found is None:
                lines.append(line)
                continue
            lines.append(self.expand(found, found.name, depth + 1).rstrip("\n"))
            lines.append(f'#line {number + 1} "{shown}"')
        return "\n".join(lines) + "\n"

    def _read(self, path: Path) -> str:
        try:
            data = path.read_bytes()
        except OSError as error:
            raise UsageError(f"cannot be read: {error.strerror}", where=str(path)) from None
        self.left -= len(data)
        if self.left < 0:
            raise UsageError(f"its includes are longer than {MAX_BYTES} bytes", where=str(path))
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise UsageError("is no UTF-8 text", where=str(path)) from error

    def _find(self, name: str, includer: Path, is_quoted: bool) -> Path | None:
        places = ([includer.parent] if is_quoted else []) + list(self.folders)
        return next((p / name for p in places if (p / name).is_file()), None)
