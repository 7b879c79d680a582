"""Any other device: taken for a GPU of modest size."""

from __future__ import annotations

from mace_cl.targets.info import PlainInfo

FAMILY = "generic-gpu"


def matches(info: PlainInfo) -> bool:
    """Whether the device belongs to this family: it takes what no other took."""
    return True


def facts(info: PlainInfo) -> dict[str, object]:
    """What is particular to the family."""
    return {"vector_floats": 4, "registers": 16, "gflops_per_unit": 50.0, "gbytes_per_s": 20.0, "launch_us": 20.0}
