"""Qualcomm Adreno. The model stands only in CL_DEVICE_VERSION ('OpenCL 3.0 Adreno(TM) 740')."""

from __future__ import annotations

from mace_cl.targets.info import PlainInfo

FAMILY = "adreno"


def matches(info: PlainInfo) -> bool:
    """Whether the device belongs to this family."""
    return "adreno" in f"{info.name} {info.version}".lower()


def facts(info: PlainInfo) -> dict[str, object]:
    """What is particular to the family."""
    return {
        "vector_floats": 4,
        "registers": 32,
        "l1_bytes": 16 * 1024,
        "l2_bytes": 128 * 1024,
        "gflops_per_unit": 350.0,
        "gbytes_per_s": 40.0,
        "launch_us": 15.0,
    }
