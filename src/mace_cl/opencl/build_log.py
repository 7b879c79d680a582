"""Reads compilers' messages: which file and line, and what stands there."""

from __future__ import annotations

import re
from dataclasses import dataclass

_CLANG = re.compile(r"^\s*(?P<file>[^\s:][^:\n]*):(?P<line>\d+):(?P<column>\d+): (?:fatal )?error: (?P<text>.+)$", re.M)
_INTEL = re.compile(r"^\s*(?P<file>\d+):(?P<line>\d+):(?P<column>\d+): (?:fatal )?error: (?P<text>.+)$", re.M)
_POCL = re.compile(
    r"^\s*error: (?P<file>[^\s:][^:\n]*):(?P<line>\d+):(?P<column>\d+)(?: <[^>]*>)?: (?P<text>.+)$", re.M
)
_LINE = re.compile(r'^\s*#\s*line\s+(\d+)(?:\s+"([^"]*)")?\s*$')


@dataclass(frozen=True)
class CompilerError:
    """The first error of a log.

    Attributes:
        file: As the compiler calls it: the name of a #line directive, or the program itself ('program.cl').
        line: Counted from 1.
        text: The message.
        source: The line of source; empty where it cannot be found.
    """

    file: str
    line: int
    text: str
    source: str

    def __str__(self) -> str:
        return f"{self.text}\n    {self.source.strip()}" if self.source.strip() else self.text

    @property
    def place(self) -> str:
        """'file:line'."""
        return f"{self.file}:{self.line}"


def first_error(log: str, source: str) -> CompilerError | None:
    """The first error that a log names a place for, with the line of source there.

    Args:
        log: The compiler's text (clang's form, PoCL's, or Intel's with numbered files).
        source: The program, with its #line directives.
    """
    found = [m for pattern in (_INTEL, _POCL, _CLANG) for m in pattern.finditer(log)]
    if not found:
        return None
    match = min(found, key=lambda m: m.start())
    file, line = match["file"], int(match["line"])
    lines = source_lines(source)
    names = {f for f, _ in lines}
    known = file if file in names else "program.cl"
    return CompilerError(known, line, match["text"].strip(), lines.get((known, line), ""))


def source_lines(source: str) -> dict[tuple[str, int], str]:
    """Every line of a program under the file and number that its #line directives give it.

    A file that stands there many times (one specialisation after the other) has one text; the first is kept.
    """
    lines: dict[tuple[str, int], str] = {}
    file, number = "program.cl", 1
    for text in source.splitlines():
        directive = _LINE.match(text)
        if directive:
            number = int(directive[1])
            file = directive[2] or file
            continue
        lines.setdefault((file, number), text)
        number += 1
    return lines
