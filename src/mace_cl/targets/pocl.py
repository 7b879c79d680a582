"""PoCL on CPUs. It compiles each work-group function with LLVM for the host's processor."""

from __future__ import annotations

from mace_cl.targets.info import PlainInfo
from mace_cl.targets.x86 import gflops_per_core, vector_floats, vector_registers

FAMILY = "pocl"


def matches(info: PlainInfo) -> bool:
    """Whether the device belongs to this family."""
    return info.kind == "cpu" and "portable computing language" in info.platform.lower()


def facts(info: PlainInfo) -> dict[str, object]:
    """What is particular to the family."""
    return {
        "vector_floats": vector_floats(info.cpu_features),
        "registers": vector_registers(info.cpu_features),
        "gflops_per_unit": gflops_per_core(info.cpu_features),
        "launch_us": 5.0,
    }
