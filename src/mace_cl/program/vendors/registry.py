"""Every format in the order in which it is tried: cheap and unambiguous first, guesses last."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from mace_cl.errors import FormatError
from mace_cl.program.vendors import (
    adreno,
    amd,
    containers,
    elf_other,
    intel_cpu,
    intel_gpu,
    llvm,
    nvidia,
    opaque,
    pocl,
    rusticl,
    spirv,
)
from mace_cl.program.vendors.description import BinaryDescription, DescribePart

MAX_DEPTH = 4
MAX_ALL_PARTS = 2000


@dataclass(frozen=True)
class Format:
    """A format: its key, whether bytes are of it, and what they say.

    Attributes:
        key: For damaged ones, which are described by it alone.
        matches: Cheap test.
        describe: Full description; FormatError where the bytes are damaged.
    """

    key: str
    matches: Callable[[memoryview], bool]
    describe: Callable[[memoryview, DescribePart], BinaryDescription]


FORMATS = (
    Format("pocl", pocl.matches, pocl.describe),
    Format("rusticl", rusticl.matches, rusticl.describe),
    Format("intel-cpu", intel_cpu.matches, intel_cpu.describe),
    Format("amd", amd.matches, amd.describe),
    Format("spirv", spirv.matches, spirv.describe),
    Format("llvm-bitcode", llvm.matches, llvm.describe),
    Format("intel-gpu", intel_gpu.matches, intel_gpu.describe),
    Format("nvidia", nvidia.matches, nvidia.describe),
    Format("elf", elf_other.matches, elf_other.describe),
    Format("rusticl", rusticl.matches_old, rusticl.describe),
    Format("container", containers.matches, containers.describe),
    Format("adreno", adreno.matches, adreno.describe),
)


def recognise_format(data: memoryview) -> Format | None:
    """The first format that the bytes are of."""
    return next((f for f in FORMATS if f.matches(data)), None)


class _Budget:
    """What a description may still look at: parts can overlap, and hold one another."""

    def __init__(self, nbytes: int) -> None:
        self.bytes = 8 * nbytes
        self.parts = MAX_ALL_PARTS

    def spend(self, nbytes: int) -> bool:
        """Take a part from the budget; whether it was enough."""
        self.bytes -= nbytes
        self.parts -= 1
        return self.bytes >= 0 and self.parts >= 0


def describe_binary(data: bytes | memoryview) -> BinaryDescription:
    """What a binary is, as far as its format is known. Never fails: damage is part of the description."""
    view = memoryview(data).cast("B")
    return _describe(view, 0, _Budget(view.nbytes))


def _describe(data: memoryview, depth: int, budget: _Budget) -> BinaryDescription:
    def part(inner: memoryview) -> BinaryDescription:
        if not budget.spend(inner.nbytes):
            return BinaryDescription("unread", "not looked at: too many parts", size=inner.nbytes)
        return _describe(inner, depth + 1, budget)

    found = recognise_format(data) if depth < MAX_DEPTH else None
    if found is None:
        return replace(opaque.describe(data, part), size=data.nbytes)
    try:
        return replace(found.describe(data, part), size=data.nbytes)
    except FormatError as error:
        plain = opaque.describe(data, part)
        return replace(plain, kind=found.key, title=f"{found.key} (damaged)", damage=str(error), size=data.nbytes)
