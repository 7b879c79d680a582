"""Recognisers on headers made by hand, and on damage."""

from __future__ import annotations

import random
import struct

import msgpack
import pytest

from mace_cl.program.vendors.registry import describe_binary
from support import made_binaries as made

AMD = made.elf64(
    224,
    3,
    [
        (
            ".note",
            7,
            made.note(
                b"AMDGPU",
                32,
                msgpack.packb(
                    {
                        "amdhsa.version": [1, 2],
                        "amdhsa.target": "amdgcn-amd-amdhsa--gfx90a",
                        "amdhsa.kernels": [
                            {
                                ".name": "scale",
                                ".vgpr_count": 12,
                                ".args": [
                                    {".name": "x", ".type_name": "float*", ".address_space": "global"},
                                    {".value_kind": "hidden_global_offset_x"},
                                ],
                            }
                        ],
                    }
                ),
            ),
        )
    ],
    flags=0x3F,
    abi=(0x40, 3),
)

CASES = {
    "pocl 8": (made.pocl(8), "pocl", ["scale"]),
    "pocl 9": (made.pocl(9), "pocl", ["scale"]),
    "pocl 10": (made.pocl(10), "pocl", ["scale"]),
    "pocl 11": (made.pocl(11), "pocl", ["scale"]),
    "pocl 12": (made.pocl(12), "pocl", ["scale"]),
    "zebin": (made.zebin(), "intel-gpu", ["vecadd", "vecmul"]),
    "patch tokens": (made.patch_tokens(), "intel-gpu", ["vecadd"]),
    "container": (made.intel_container(made.patch_tokens()), "intel-gpu", ["vecadd"]),
    "fat": (made.ar([("a.skl", made.patch_tokens()), ("b.tgl", made.zebin())]), "intel-gpu-fat", ["vecadd", "vecmul"]),
    "amd": (AMD, "amd", ["scale"]),
    "ptx": (made.PTX + b"\0", "nvidia-ptx", ["saxpy"]),
    "cubin": (made.cubin(), "nvidia-cubin", ["saxpy"]),
    "fatbin": (made.fatbin(), "nvidia-fatbin", ["saxpy"]),
    "spirv": (made.spirv(), "spirv", ["scale"]),
    "spirv big-endian": (made.spirv(True), "spirv", ["scale"]),
    "rusticl old": (made.rusticl_old(made.spirv()), "rusticl", ["scale"]),
    "rusticl new": (made.rusticl_new(made.spirv()), "rusticl", ["scale"]),
    "adreno": (made.adreno(), "adreno", ["conv2d"]),
    "elf": (made.elf64(183, 3, made.symbol_table(["run"])), "elf", ["run"]),
    "bitcode wrapper": (made.bitcode_wrapper(b"BC\xc0\xde" + bytes(60)), "llvm-bitcode", []),
    "tflite": (made.flatbuffer(b"AFCM", bytes(20)), "tflite-gpu-cache", []),
    "paddle": (
        made.flatbuffer(b"\0\0\0\0", b"\0lite_opencl_precompiled_binary_identifier\0android_armv8; v2; place_holder"),
        "paddle-lite-cache",
        [],
    ),
    "mnn": (made.flatbuffer(b"\0\0\0\0", b"winogradTransformSource\0"), "mnn-cache", []),
    "tnn 64": (made.tnn(640), "tnn-cache", []),
    "tnn 32": (made.tnn(636), "tnn-cache", []),
    "tvm": (made.tvm(), "tvm-programs", []),
    "llama.cpp": (b"GGMLCLBC" + bytes(20), "llama.cpp-cache", []),
    "ncnn": (struct.pack("<I", 0x5A545546) + bytes(20), "ncnn-cache", []),
    "openvino": (b"meta=1.0;ov=2024.1", "openvino-blob", []),
    "openvino xml": (b'<?xml version="1.0"?>\n<net name="a">', "openvino-blob", []),
    "tinygrad": (b"SQLite format 3\0" + bytes(84) + b"CREATE TABLE compile_cl_0123_22", "tinygrad-cache", []),
    "sqlite": (b"SQLite format 3\0" + bytes(84), "sqlite", []),
    "text": (b"just some text, nothing else", "opaque", []),
    "empty": (b"", "opaque", []),
}


@pytest.mark.parametrize("name", CASES)
def test_recognised(name):
    data, kind, kernels = CASES[name]
    found = describe_binary(data)
    assert (found.kind, [k.name for k in found.kernels]) == (kind, kernels)
    assert found.size == len(data)
    assert not found.damage or name == "bitcode wrapper"
    assert found.is_heuristic == (kind in ("adreno", "mnn-cache"))


def test_pocl_fields():
    for version in (8, 9, 10, 11, 12):
        found = describe_binary(made.pocl(version))
        (kernel,) = found.kernels
        assert kernel.args == (("x", "__global float*"), ("n", "int"))
        assert kernel.fields["required work-group size"] == "8x1x1"
        assert kernel.fields["local memory"] == 64
        assert found.fields["program type"] == "executable"
        assert [n for n, _ in found.parts] == ["/program.bc", "/scale/0-0-0/scale.so"]


def test_zebin_fields():
    found = describe_binary(made.zebin())
    assert found.fields["product family"] == 18
    assert found.fields["zebin version"] == "1.39"
    assert found.fields["build options"] == "-cl-mad-enable"
    assert found.kernels[0].fields == {"grf_count": "128", "simd_size": "16", "slm_size": "4096"}
    assert [t for _, t in found.kernels[0].args] == ["bypointer", "byvalue"]


def test_amd_fields():
    found = describe_binary(AMD)
    assert found.fields["target"] == "amdgcn-amd-amdhsa--gfx90a"
    assert found.fields["GPU"] == "gfx90a"
    assert found.fields["code object version"] == 5
    assert found.kernels[0].args == (("x", "__global float*"),)
    assert found.kernels[0].fields == {"vector registers": 12}


def test_nvidia_fields():
    assert describe_binary(made.cubin()).fields["target"] == "sm_80"
    ptx = describe_binary(made.PTX)
    assert (ptx.fields["PTX version"], ptx.fields["target"]) == ("8.3", "sm_86")
    assert "NVVM" in ptx.fields["made by"]
    assert ptx.kernels[0].args[0] == ("saxpy_param_0", "__global .u64 pointer")
    assert [d.kind for _, d in describe_binary(made.fatbin()).parts] == ["nvidia-ptx", "nvidia-cubin"]


def test_spirv_fields():
    for module in (made.spirv(), made.spirv(True)):
        found = describe_binary(module)
        assert found.fields["source"] == "OpenCL C 1.2"
        assert found.fields["capabilities"] == "Addresses Kernel"
        assert found.fields["generator"] == "Khronos LLVM/SPIR-V translator"
        assert found.kernels[0].fields == {"required work-group size": "8x1x1"}
    assert describe_binary(made.spirv()).kernels[0].args == (("x", "__global float32*"),)


def test_adreno_is_called_heuristic():
    found = describe_binary(made.adreno())
    assert found.is_heuristic
    assert found.to_json()["heuristic"] is True
    assert found.kernels[0].fields["full registers"] == 12
    assert found.kernels[0].fields["local memory"] == 2048


def test_opaque_binaries_have_hash_entropy_and_strings():
    data = random.Random(0).randbytes(4096) + b"a printable string here" + bytes(9)
    found = describe_binary(data)
    assert found.kind == "opaque"
    assert len(found.fields["sha256"]) == 64
    assert found.fields["entropy"].startswith("7.9")
    assert "a printable string here" in found.fields["strings"]


@pytest.mark.parametrize("name", ["pocl 9", "zebin", "amd", "spirv", "rusticl new", "fat"])
def test_damage_is_part_of_the_description(name):
    data, kind, _ = CASES[name]
    found = describe_binary(data[: len(data) * 2 // 3])
    assert found.damage
    assert kind.startswith(found.kind.split("-fat")[0])


def test_a_container_that_holds_itself_is_bounded():
    """256 sections that are all the whole file, four deep, would be four thousand million descriptions."""
    inner = made.intel_container(b"x" * 64)
    place = inner.index(b"x" * 64)
    row = inner.rindex(struct.pack("<QQ", place, 64))
    data = bytearray(inner)
    struct.pack_into("<QQ", data, row, 0, len(data))
    many = made.elf64(0, 0xFF04, [(f"s{i}", 0xFF000005, b"") for i in range(300)])
    rows = bytearray(many)
    for i in range(300):
        struct.pack_into("<QQ", rows, len(rows) - 64 * (301 - i) + 24, 0, len(rows))
    for case in (bytes(data), bytes(rows)):
        assert describe_binary(case).kind == "intel-gpu"


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_mutations_never_escape(name):
    data, _, _ = CASES[name]
    rng = random.Random(name)
    for _ in range(300):
        changed = bytearray(data or b"\0")
        for _ in range(rng.choice((1, 1, 2, 8))):
            changed[rng.randrange(len(changed))] = rng.choice((0, 0xFF, rng.randrange(256)))
        describe_binary(bytes(changed[: rng.choice((len(changed), rng.randrange(len(changed) + 1)))])).to_json()
