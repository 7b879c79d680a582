"""Mesa's rusticl on llvmpipe: a CPU behind a GPU's driver. Every launch passes through a whole graphics stack."""

from __future__ import annotations

from mace_cl.targets.info import PlainInfo

FAMILY = "rusticl"


def matches(info: PlainInfo) -> bool:
    """Whether the device belongs to this family."""
    return info.platform.lower() == "rusticl" and "llvmpipe" in info.name.lower()


def facts(info: PlainInfo) -> dict[str, object]:
    """What is particular to the family."""
    return {"vector_floats": 8, "registers": 16, "gflops_per_unit": 20.0, "launch_us": 60.0}
