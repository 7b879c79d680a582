"""NVIDIA GPUs. The driver's binaries are PTX, which it compiles when they are loaded."""

from __future__ import annotations

from mace_cl.targets.info import PlainInfo

FAMILY = "nvidia"


def matches(info: PlainInfo) -> bool:
    """Whether the device belongs to this family."""
    return info.kind == "gpu" and "nvidia" in info.vendor.lower()


def facts(info: PlainInfo) -> dict[str, object]:
    """What is particular to the family."""
    return {
        "vector_floats": 4,
        "registers": 64,
        "l1_bytes": 128 * 1024,
        "gflops_per_unit": 300.0,
        "gbytes_per_s": 500.0,
        "launch_us": 5.0,
    }
