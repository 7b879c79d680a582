"""What is known of a binary: the common result of every recogniser."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

FieldValue: TypeAlias = str | int

MAX_KERNELS = 4096
"""Kernels of one binary that are described."""

MAX_PARTS = 256
"""Parts of one binary that are described."""

MAX_TEXT = 200
"""Characters of a text out of a binary that are shown."""


@dataclass(frozen=True)
class KernelInfo:
    """A kernel found in a binary.

    Attributes:
        name: Its function.
        args: (name, type) of each argument, as far as the format tells; names may be empty.
        fields: Registers, work-group size and the like.
    """

    name: str
    args: tuple[tuple[str, str], ...] = ()
    fields: Mapping[str, FieldValue] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {"name": self.name, "args": [list(a) for a in self.args], "fields": dict(self.fields)}


@dataclass(frozen=True)
class BinaryDescription:
    """What a binary is.

    Attributes:
        kind: Key of the format: 'pocl', 'intel-cpu', 'spirv', 'opaque' ...
        title: The format's name, for people.
        fields: What it says of itself, in order.
        kernels: Its kernels.
        parts: (name, description) of what lies inside.
        damage: Why it could be read in part only; empty if it is intact as far as the format is known.
        is_heuristic: Whether the format was guessed from where numbers stand, without a signature.
        size: Bytes.
    """

    kind: str
    title: str
    fields: Mapping[str, FieldValue] = field(default_factory=dict)
    kernels: tuple[KernelInfo, ...] = ()
    parts: tuple[tuple[str, BinaryDescription], ...] = ()
    damage: str = ""
    is_heuristic: bool = False
    size: int = 0

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        made: dict[str, Any] = {"kind": self.kind, "title": self.title, "size": self.size}
        if self.is_heuristic:
            made["heuristic"] = True
        if self.damage:
            made["damage"] = self.damage
        made["fields"] = dict(self.fields)
        made["kernels"] = [k.to_json() for k in self.kernels]
        made["parts"] = [{"name": n, **d.to_json()} for n, d in self.parts]
        return made


DescribePart: TypeAlias = Callable[[memoryview], BinaryDescription]
"""How a format describes what lies inside it."""


def clip(text: str) -> str:
    """A text from a binary, short enough to show."""
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 3] + "..."
