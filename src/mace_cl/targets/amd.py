"""AMD GPUs."""

from __future__ import annotations

from mace_cl.targets.info import PlainInfo

FAMILY = "amd"


def matches(info: PlainInfo) -> bool:
    """Whether the device belongs to this family."""
    return info.kind == "gpu" and any(word in info.vendor.lower() for word in ("advanced micro devices", "amd"))


def facts(info: PlainInfo) -> dict[str, object]:
    """What is particular to the family."""
    return {
        "vector_floats": 4,
        "registers": 64,
        "l1_bytes": 16 * 1024,
        "gflops_per_unit": 250.0,
        "gbytes_per_s": 300.0,
        "launch_us": 8.0,
    }
