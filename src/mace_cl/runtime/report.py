"""What a start did: from where each program came, why not from an earlier choice, and how long each part took."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

PARTS = (
    "interpreter_and_imports",
    "driver",
    "context",
    "reading",
    "hashing",
    "build",
    "probe",
    "program",
    "kernel_objects",
    "weights",
    "binding",
    "dry_run",
    "first_run",
)
"""Parts of a start, in order."""


@dataclass
class ProgramStart:
    """One program.

    Attributes:
        name: Logical name in the entry.
        entry: Name of the entry.
        source: 'file' (a compiled program of the file), 'cache' (one that this machine built before), 'built', or
            'shared' (another session of this process has it).
        why_not: What spoke against each earlier choice.
    """

    name: str
    entry: str
    source: str
    why_not: tuple[str, ...] = ()


@dataclass
class StartReport:
    """How a session started.

    Attributes:
        device: Label of the device.
        entry: Name of the entry that is used.
        programs: One line a program.
        times_ms: Milliseconds by part.
        notes: Other things to know: cache in trouble, no markers, a child process used.
    """

    device: str = ""
    entry: str = ""
    programs: list[ProgramStart] = field(default_factory=list)
    times_ms: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @contextmanager
    def timed(self, part: str) -> Iterator[None]:
        """Add the time of a block to a part."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.add(part, 1e3 * (time.perf_counter() - start))

    def add(self, part: str, milliseconds: float) -> None:
        """Add to a part."""
        self.times_ms[part] = self.times_ms.get(part, 0.0) + milliseconds

    def note(self, text: str) -> None:
        """Add a note, once."""
        if text not in self.notes:
            self.notes.append(text)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "device": self.device,
            "entry": self.entry,
            "programs": [
                {"name": p.name, "entry": p.entry, "from": p.source, "why_not": list(p.why_not)} for p in self.programs
            ],
            "times_ms": {p: round(self.times_ms[p], 3) for p in PARTS if p in self.times_ms},
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        lines = [f"device   {self.device}", f"entry    {self.entry}"]
        for p in self.programs:
            lines.append(f"program  {p.name}: {p.source}")
            lines += [f"         not {w}" for w in p.why_not]
        lines += [f"{p:24} {self.times_ms[p]:8.2f} ms" for p in PARTS if p in self.times_ms]
        return "\n".join([*lines, *(f"note     {n}" for n in self.notes)])


def process_age_ms() -> float | None:
    """Milliseconds since this process began, to 10 ms; None where the system does not say."""
    try:
        with open("/proc/self/stat", "rb") as file:
            ticks = int(file.read().rpartition(b")")[2].split()[19])
        return 1e3 * (time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK"))
    except (OSError, ValueError, AttributeError, IndexError):
        return None
