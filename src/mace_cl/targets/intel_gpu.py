"""Intel GPUs."""

from __future__ import annotations

from mace_cl.targets.info import PlainInfo

FAMILY = "intel-gpu"


def matches(info: PlainInfo) -> bool:
    """Whether the device belongs to this family."""
    return info.kind == "gpu" and "intel" in info.vendor.lower()


def facts(info: PlainInfo) -> dict[str, object]:
    """What is particular to the family."""
    return {
        "vector_floats": 4,
        "registers": 32,
        "l1_bytes": 64 * 1024,
        "gflops_per_unit": 40.0,
        "gbytes_per_s": 40.0,
        "launch_us": 10.0,
    }
