"""From a driver's description of a device to the facts that the compiler uses. Families in order of the question."""

from __future__ import annotations

from dataclasses import replace

from mace_cl.targets import (
    adreno,
    amd,
    generic_cpu,
    generic_gpu,
    intel_cpu,
    intel_gpu,
    mali,
    nvidia,
    pocl,
    rusticl,
)
from mace_cl.targets.facts import DeviceFacts
from mace_cl.targets.info import PlainInfo

FAMILIES = (rusticl, adreno, mali, nvidia, intel_gpu, amd, intel_cpu, pocl, generic_cpu, generic_gpu)
"""The first that matches; the last takes everything."""


def describe(info: PlainInfo) -> DeviceFacts:
    """The facts of a device: what its driver says, then what its family adds."""
    family = next(f for f in FAMILIES if f.matches(info))
    measured = DeviceFacts(
        family=family.FAMILY,
        kind=info.kind,
        compute_units=max(info.compute_units, 1),
        max_work_group_size=info.max_work_group_size,
        local_mem_bytes=info.local_mem_bytes,
        max_alloc_bytes=info.max_alloc_bytes,
        base_align_bytes=info.base_align_bytes,
        shares_host_memory=info.shares_host_memory or info.kind == "cpu",
        has_fp16="cl_khr_fp16" in info.extensions,
        has_fp64="cl_khr_fp64" in info.extensions,
        has_images=info.images,
    )
    return replace(measured, **family.facts(info))
