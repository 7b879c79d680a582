"""A device as its driver describes it, in plain strings and numbers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PlainInfo:
    """What the families' tables look at.

    Attributes:
        name: CL_DEVICE_NAME.
        vendor: CL_DEVICE_VENDOR.
        version: CL_DEVICE_VERSION; on Adreno the only place that names the model.
        kind: 'cpu', 'gpu' or 'accelerator'.
        platform: CL_PLATFORM_NAME.
        compute_units: CL_DEVICE_MAX_COMPUTE_UNITS.
        max_work_group_size: CL_DEVICE_MAX_WORK_GROUP_SIZE.
        local_mem_bytes: CL_DEVICE_LOCAL_MEM_SIZE.
        max_alloc_bytes: CL_DEVICE_MAX_MEM_ALLOC_SIZE.
        base_align_bytes: CL_DEVICE_MEM_BASE_ADDR_ALIGN in bytes.
        shares_host_memory: CL_DEVICE_HOST_UNIFIED_MEMORY.
        native_floats: CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT.
        extensions: Names of the extensions.
        images: CL_DEVICE_IMAGE_SUPPORT.
        cpu_features: The processor's flags, for CPU devices.
    """

    name: str
    vendor: str
    version: str
    kind: str
    platform: str = ""
    compute_units: int = 1
    max_work_group_size: int = 256
    local_mem_bytes: int = 32 * 1024
    max_alloc_bytes: int = 1 << 30
    base_align_bytes: int = 128
    shares_host_memory: bool = True
    native_floats: int = 4
    extensions: frozenset[str] = frozenset()
    images: bool = False
    cpu_features: frozenset[str] = frozenset()
