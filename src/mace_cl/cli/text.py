"""Text for people: sizes, numbers, and what comes out of files made safe for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

_UNITS = ((1_000, "B", 0), (1_000_000, "kB", 1), (1_000_000_000, "MB", 1), (1_000_000_000_000, "GB", 2))


def size_text(nbytes: int) -> str:
    """Bytes in decimal units: '47.2 MB'."""
    for limit, unit, digits in _UNITS:
        if nbytes < limit:
            return f"{nbytes / (limit / 1000):.{digits}f} {unit}"
    return f"{nbytes / 1e12:.2f} TB"


def count_text(number: int, unit: str) -> str:
    """A large count in short form: '41.0 MFLOP'; a unit that begins with a space stands apart: '41.0 M MACs'."""
    for limit, prefix in ((10**12, "T"), (10**9, "G"), (10**6, "M"), (10**3, "k")):
        if number >= limit:
            return f"{number / limit:.1f} {prefix}{unit}"
    return f"{number} {unit.lstrip()}"


def plain(value: object) -> str:
    """Text without control characters: a file must not drive the terminal."""
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in str(value))


def dims_text(dims: Iterable[int]) -> str:
    """'1x3x224x224'; 'scalar' without dimensions."""
    return "x".join(map(str, dims)) or "scalar"


def align(rows: Sequence[Sequence[str]], indent: str = "", gap: str = "  ") -> list[str]:
    """Rows as lines with their columns below one another; the last column is left ragged."""
    if not rows:
        return []
    columns = max(len(r) for r in rows)
    widths = [max(len(r[i]) for r in rows if len(r) > i) for i in range(columns)]
    lines = []
    for row in rows:
        cells = [c.ljust(widths[i]) if i < len(row) - 1 else c for i, c in enumerate(row)]
        lines.append((indent + gap.join(cells)).rstrip())
    return lines
