"""Arm Mali and Immortalis. Local memory is ordinary memory there, so staging in it gains nothing."""

from __future__ import annotations

from mace_cl.targets.info import PlainInfo

FAMILY = "mali"


def matches(info: PlainInfo) -> bool:
    """Whether the device belongs to this family."""
    return info.kind == "gpu" and any(word in info.name.lower() for word in ("mali", "immortalis"))


def facts(info: PlainInfo) -> dict[str, object]:
    """What is particular to the family."""
    return {
        "vector_floats": 4,
        "registers": 32,
        "l1_bytes": 16 * 1024,
        "l2_bytes": 256 * 1024,
        "gflops_per_unit": 60.0,
        "gbytes_per_s": 25.0,
        "launch_us": 30.0,
    }
