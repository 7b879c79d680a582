"""Intel's OpenCL runtime for x86-64 CPUs, of Intel's own or other makers.

It vectorises over work-items; kernels that write out their own vectors are told to it with `intel_vec_len_hint(1)`,
or it would vectorise them again.
"""

from __future__ import annotations

from mace_cl.targets.info import PlainInfo
from mace_cl.targets.x86 import gflops_per_core, vector_floats, vector_registers

FAMILY = "intel-cpu"


def matches(info: PlainInfo) -> bool:
    """Whether the device belongs to this family."""
    return info.kind == "cpu" and "intel(r) opencl" in info.platform.lower()


def facts(info: PlainInfo) -> dict[str, object]:
    """What is particular to the family."""
    return {
        "vector_floats": vector_floats(info.cpu_features),
        "registers": vector_registers(info.cpu_features),
        "gflops_per_unit": gflops_per_core(info.cpu_features),
        "l1_bytes": 32 * 1024,
        "l2_bytes": 1024 * 1024,
        "function_attribute": "__attribute__((intel_vec_len_hint(1)))",
        "launch_us": 4.0,
    }
