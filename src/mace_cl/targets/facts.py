"""What kernels, lowering and tuning may know of a device: plain numbers and flags, no OpenCL."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class DeviceFacts:
    """A device as the compiler sees it.

    Attributes:
        family: Row of the table of targets: 'intel-cpu', 'pocl', 'generic-cpu', 'adreno', 'mali', 'generic-gpu' ...
        kind: 'cpu', 'gpu' or 'accelerator'.
        compute_units: Parallel units (cores).
        vector_floats: Width of the widest float vector that pays: 16 with AVX-512, 8 with AVX2, 4 on most GPUs.
        registers: Vector registers of that width that a kernel may hold.
        l1_bytes, l2_bytes: Cache of one unit.
        max_work_group_size: Work-items of a group at most.
        local_mem_bytes: Local memory of a group at most.
        max_alloc_bytes: Largest buffer.
        base_align_bytes: Alignment of sub-buffers.
        shares_host_memory: Whether a host pointer can be used in place.
        has_fp16: cl_khr_fp16 is there.
        has_fp64: cl_khr_fp64 is there.
        has_images: Images are supported.
        function_attribute: Put in front of kernels that write out their own vectors (Intel's CPU runtime), or empty.
        gflops_per_unit: Rough float32 peak of one unit, for the cost model only.
        gbytes_per_s: Rough bandwidth of memory beyond the caches.
        launch_us: Rough cost of one dependent launch.
    """

    family: str = "generic-cpu"
    kind: str = "cpu"
    compute_units: int = 1
    vector_floats: int = 8
    registers: int = 16
    l1_bytes: int = 32 * 1024
    l2_bytes: int = 512 * 1024
    max_work_group_size: int = 256
    local_mem_bytes: int = 32 * 1024
    max_alloc_bytes: int = 1 << 30
    base_align_bytes: int = 128
    shares_host_memory: bool = True
    has_fp16: bool = False
    has_fp64: bool = False
    has_images: bool = False
    function_attribute: str = ""
    gflops_per_unit: float = 50.0
    gbytes_per_s: float = 20.0
    launch_us: float = 4.0

    @property
    def build_options(self) -> tuple[str, ...]:
        """Options for the driver's compiler that belong to the device, not to a program's text."""
        return (f"-DHINT={self.function_attribute}",) if self.function_attribute else ()
