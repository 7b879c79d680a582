"""Recognisers on binaries that drivers and compilers made here."""

from __future__ import annotations

import io
import random
import shutil
import subprocess

import pytest

from mace_cl.errors import MaceError
from mace_cl.opencl.build import build_program
from mace_cl.opencl.devices import select_device
from mace_cl.program.vendors.registry import describe_binary

SOURCE = """
__kernel void scale(__global const float *x, __global float *y, const int n, __local float *t) {
    int i = get_global_id(0);
    if (i < n) y[i] = 2.0f * x[i];
}
__kernel __attribute__((reqd_work_group_size(8, 1, 1)))
void add(__global const float4 *restrict a, __global float4 *b, uchar c) { int i = get_global_id(0); b[i] += a[i] + c; }
"""
CLANG = shutil.which("clang-22")
needs_clang = pytest.mark.skipif(CLANG is None, reason="clang-22 is not installed")
_built: dict[str, bytes] = {}


def built(vendor: str) -> bytes:
    """The program, built by a driver of this machine."""
    if vendor not in _built:
        try:
            device = select_device(vendor)
        except MaceError:
            pytest.skip(f"no device of {vendor}")
        _built[vendor] = build_program(device, SOURCE, local_sizes=[(1, 1, 1)]).binary
    return _built[vendor]


def compiled(*flags: str) -> bytes:
    assert CLANG is not None
    argv = [CLANG, "-x", "cl", "-cl-std=CL1.2", *flags, "-", "-o", "-"]
    return subprocess.run(argv, input=SOURCE.encode(), capture_output=True, check=True).stdout


def kernels(found):
    return {k.name: [t for _, t in k.args] for k in found.kernels}


def test_intel_cpu():
    found = describe_binary(built("intel-cpu"))
    assert (found.kind, found.damage) == ("intel-cpu", "")
    assert kernels(found) == {
        "scale": ["__global pointer", "__global pointer", "value of 4 bytes", "__local pointer"],
        "add": ["__global pointer", "__global pointer", "value of 1 bytes"],
    }
    assert "Compiler" in found.fields["compiler"]
    assert [d.kind for _, d in found.parts] == ["llvm-bitcode", "elf"]
    assert found.parts[0][1].fields["target"].startswith("spir64")


def test_intel_cpu_sections_are_those_that_pyelftools_sees():
    elffile = pytest.importorskip("elftools.elf.elffile")
    from mace_cl.program.vendors.elf import read_elf

    data = built("intel-cpu")
    theirs = [(s.name, s["sh_offset"], s["sh_size"]) for s in elffile.ELFFile(io.BytesIO(data)).iter_sections()]
    ours = read_elf(memoryview(data))
    assert [(s.name, s.offset, s.size) for s in ours.sections] == theirs
    inner = bytes(ours.find(".ocl.obj"))
    table = elffile.ELFFile(io.BytesIO(inner)).get_section_by_name(".symtab")
    assert [s.name for s in read_elf(memoryview(inner)).symbols()] == [s.name for s in table.iter_symbols()]


def test_pocl():
    found = describe_binary(built("pocl"))
    assert (found.kind, found.damage) == ("pocl", "")
    assert {k.name: k.args for k in found.kernels} == {
        "scale": (("x", "__global float*"), ("y", "__global float*"), ("n", "int"), ("t", "__local float*")),
        "add": (("a", "__global float4*"), ("b", "__global float4*"), ("c", "uchar")),
    }
    parts = dict(found.parts)
    assert parts["/program.bc"].fields["producer"].startswith("LLVM")
    assert sum(d.kind == "elf" for d in parts.values()) >= 2


@needs_clang
def test_spirv():
    found = describe_binary(compiled("--target=spirv64", "-c"))
    assert (found.kind, found.damage) == ("spirv", "")
    assert set(kernels(found)) == {"scale", "add"}
    assert found.fields["source"] == "OpenCL C 1.2"
    assert "Kernel" in found.fields["capabilities"]
    assert {k.name: k.fields for k in found.kernels}["add"] == {"required work-group size": "8x1x1"}


@needs_clang
def test_amd():
    found = describe_binary(compiled("--target=amdgcn-amd-amdhsa", "-mcpu=gfx1030", "-nogpulib", "-c"))
    assert (found.kind, found.damage) == ("amd", "")
    assert found.fields["target"] == "amdgcn-amd-amdhsa--gfx1030"
    assert kernels(found)["scale"] == ["__global float*", "__global float*", "int", "__local float*"]
    assert {k.name: k.fields for k in found.kernels}["add"]["required work-group size"] == "8x1x1"


@needs_clang
def test_ptx():
    found = describe_binary(compiled("--target=nvptx64-nvidia-nvcl", "-march=sm_80", "-nogpulib", "-S"))
    assert (found.kind, found.damage) == ("nvidia-ptx", "")
    assert found.fields["target"] == "sm_80"
    assert set(kernels(found)) == {"scale", "add"}
    assert "_Z13get_global_idj" in found.fields["unresolved functions"]


@needs_clang
def test_bitcode():
    found = describe_binary(compiled("--target=spir64", "-emit-llvm", "-c"))
    assert (found.kind, found.damage) == ("llvm-bitcode", "")
    assert found.fields["producer"].startswith("LLVM22")
    assert found.fields["target"].startswith("spir64")


@pytest.mark.parametrize("vendor", ["intel-cpu", "pocl"])
def test_mutations_of_real_binaries(vendor):
    data = built(vendor)
    rng = random.Random(vendor)
    for _ in range(150):
        changed = bytearray(data)
        for _ in range(rng.choice((1, 2, 8))):
            changed[rng.randrange(rng.choice((64, 600, len(changed))))] = rng.randrange(256)
        describe_binary(bytes(changed[: rng.choice((len(changed), rng.randrange(len(changed))))])).to_json()
