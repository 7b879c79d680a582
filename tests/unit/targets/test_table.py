from __future__ import annotations

import pytest

from mace_cl.targets.info import PlainInfo
from mace_cl.targets.table import FAMILIES, describe

CASES = [
    ("intel-cpu", PlainInfo("AMD EPYC", "Intel(R) Corporation", "OpenCL 3.1", "cpu", "Intel(R) OpenCL")),
    ("pocl", PlainInfo("pthread-x", "AuthenticAMD", "OpenCL 3.0 PoCL", "cpu", "Portable Computing Language")),
    ("pocl", PlainInfo("cpu", "ARM", "OpenCL 3.0 PoCL", "cpu", "Portable Computing Language")),
    ("rusticl", PlainInfo("llvmpipe (LLVM 15.0.6)", "Mesa/X.org", "OpenCL 3.0", "cpu", "rusticl")),
    ("adreno", PlainInfo("QUALCOMM Adreno(TM)", "QUALCOMM", "OpenCL 3.0 Adreno(TM) 740", "gpu", "QUALCOMM")),
    ("mali", PlainInfo("Mali-G715-Immortalis r0", "ARM", "OpenCL 3.0 v1", "gpu", "ARM Platform")),
    ("nvidia", PlainInfo("NVIDIA H200", "NVIDIA Corporation", "OpenCL 3.0 CUDA", "gpu", "NVIDIA CUDA")),
    ("amd", PlainInfo("gfx1030", "Advanced Micro Devices, Inc.", "OpenCL 2.0", "gpu", "AMD APP")),
    ("amd", PlainInfo("AMD Radeon", "AMD", "OpenCL 3.0", "gpu", "rusticl")),
    (
        "intel-gpu",
        PlainInfo("Intel(R) Arc", "Intel(R) Corporation", "OpenCL 3.0 NEO", "gpu", "Intel(R) OpenCL Graphics"),
    ),
    ("generic-cpu", PlainInfo("cpu", "X", "OpenCL 1.2", "cpu", "X")),
    ("generic-gpu", PlainInfo("PowerVR", "Imagination", "OpenCL 1.2", "gpu", "PowerVR")),
    ("generic-gpu", PlainInfo("thing", "X", "OpenCL 1.2", "accelerator", "X")),
]


@pytest.mark.parametrize(("family", "info"), CASES, ids=[f"{f}-{i.name}" for f, i in CASES])
def test_family(family: str, info: PlainInfo) -> None:
    facts = describe(info)
    assert facts.family == family
    assert facts.kind == info.kind
    assert facts.vector_floats >= 4
    assert facts.gflops_per_unit > 0


def test_every_family_has_a_case() -> None:
    assert {f.FAMILY for f in FAMILIES} == {family for family, _ in CASES}


@pytest.mark.parametrize(
    ("features", "width", "registers"), [({"avx512f", "avx2"}, 16, 32), ({"avx2", "fma"}, 8, 16), ({"asimd"}, 4, 32)]
)
def test_vectors_follow_the_processor(features: set[str], width: int, registers: int) -> None:
    info = PlainInfo("x", "x", "x", "cpu", "Portable Computing Language", cpu_features=frozenset(features))
    facts = describe(info)
    assert (facts.vector_floats, facts.registers) == (width, registers)


def test_what_the_driver_says_is_kept() -> None:
    info = PlainInfo(
        "x", "x", "x", "gpu", compute_units=7, max_alloc_bytes=123, base_align_bytes=512, shares_host_memory=False,
        extensions=frozenset({"cl_khr_fp16"}), images=True,
    )  # fmt: skip
    facts = describe(info)
    assert (facts.compute_units, facts.max_alloc_bytes, facts.base_align_bytes) == (7, 123, 512)
    assert facts.has_fp16
    assert facts.has_images
    assert not facts.has_fp64
    assert not facts.shares_host_memory


def test_only_intels_runtime_takes_the_hint() -> None:
    for family, info in CASES:
        assert bool(describe(info).build_options) == (family == "intel-cpu")
