"""Compiled files for tests: small records of every kind, and the bytes that they give."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from mace_cl.program.container import HEAD
from mace_cl.program.identity import Identity, Requirements
from mace_cl.program.plan import Buffer, Copy, Endpoint, Launch, LocalArg, Plan, ScalarArg, Tensor, TensorArg
from mace_cl.program.records import Blob, CompiledFile, Entry, KernelRecord, ModelInfo, PlanRef, ProgramForms
from mace_cl.program.selftest import Sample, SelfTest
from mace_cl.types import DataType

F32 = DataType.FLOAT32

PHONE = Identity(
    platform_name="QUALCOMM Snapdragon(TM)",
    platform_version="OpenCL 2.0 QUALCOMM build",
    device_name="QUALCOMM Adreno(TM)",
    device_vendor="Qualcomm",
    device_version="OpenCL 2.0 Adreno(TM) 640",
    driver_version="299.0",
    device_type="gpu",
    address_bits=64,
    system="vendor/board:11/RKQ1/1:user/release-keys",
)
DESKTOP = replace(
    PHONE,
    platform_name="Portable Computing Language",
    device_name="cpu",
    device_vendor="GenuineIntel",
    driver_version="3.1",
    device_type="cpu",
    cpu_features="avx avx2 sse",
    environment={"POCL_VECTORIZER": "1"},
    system="",
)


def small_plan(channels: int = 8) -> Plan:
    """A plan with every kind of buffer, step and argument."""
    size = 4 * 16 * channels
    return Plan(
        inputs=(Endpoint("x", 0, (1, 16, channels), F32),),
        outputs=(Endpoint("y", 1, (1, 16, channels), F32),),
        buffers=(
            Buffer("x", "input", size),
            Buffer("y", "output", size),
            Buffer("arena", "arena", 2 * size),
            Buffer("w0", "weights", 512, "w0"),
        ),
        tensors=(
            Tensor("x", (1, 16, channels), F32, "NHWC", 0, 0, size),
            Tensor("y", (1, 16, channels), F32, "NHWC", 1, 0, size),
            Tensor("t", (1, 16, channels), F32, "NHWC", 2, size, size),
            Tensor("w", (128,), F32, "packed", 3, 0, 512),
        ),
        steps=(
            Launch(
                "conv",
                "Conv+Relu",
                "p0",
                "scale",
                (
                    TensorArg(0, "r"),
                    TensorArg(2, "w"),
                    TensorArg(3, "r"),
                    ScalarArg("int", b"\x10\0\0\0"),
                    LocalArg(64),
                ),
                (16, 8),
                (8, 1),
                2000,
                4096,
            ),
            Copy("copy", 2, 1, size),
        ),
        arena_unshared=3 * size,
    )


def small_selftest() -> SelfTest:
    return SelfTest(((-1.0, 1.0),), (Sample("y", 4, 2.0, (0.5, -1.5, 2.0)),))


def device_entry(identity: Identity, binary: bytes, *, name: str = "") -> Entry:
    """An entry built for a device."""
    kernels = (KernelRecord("scale", (("x", "__global float*"), ("y", "__global float*"), ("n", "int"))),)
    forms = ProgramForms(
        binary=Blob("program", f"{identity.device_name} p0", binary),
        source=Blob("source", "p0", b"__kernel void scale(...) {}\n"),
        options="-DFAST",
        kernels=kernels,
    )
    return Entry(
        name=name or identity.device_name,
        identity=identity,
        requires=Requirements(extensions=("cl_khr_fp16",), work_group_size=8, max_alloc_bytes=1024),
        programs={"p0": forms},
        weights={"w0": Blob("weights", "w0", bytes(range(256)) * 2)},
        plans=(PlanRef({"x": (1, 16, 8)}, Blob("plan", "plan", small_plan().to_bytes())),),
        selftest=Blob("selftest", "selftest", small_selftest().to_bytes()),
        tuning={"scale": {"local": [8, 1], "us": 12.5}},
    )


def portable_entry() -> Entry:
    """The same plan and weights from source and IL, for any device."""
    made = device_entry(PHONE, b"")
    forms = replace(made.programs["p0"], binary=None, il=Blob("il", "p0", b"\x03\x02\x23\x07" + bytes(16)))
    return replace(made, name="portable", identity=None, programs={"p0": forms}, tuning={})


def small_file() -> CompiledFile:
    """Two devices and a portable entry."""
    return CompiledFile(
        target_gpu="Qualcomm Adreno(TM) 640",
        driver_version="299.0",
        model=ModelInfo("tiny", "onnx", "11" * 32, "22" * 32, 1000, 2),
        entries=(device_entry(PHONE, b"phone binary"), device_entry(DESKTOP, b"desktop binary"), portable_entry()),
        provenance={"tool": "mace-cl", "version": "0"},
    )


def edit_header(data: bytes, change: Callable[[dict[str, Any]], None]) -> bytes:
    """A file with a changed header and a right CRC; sections move with it (by multiples of 16384)."""
    n, length = struct.unpack_from("<I", data, 12)[0], struct.unpack_from("<Q", data, 16)[0]
    header = json.loads(data[HEAD.size : HEAD.size + n])
    change(header)
    shift = 1 << 20
    for section in header["sections"]:
        if section["size"]:
            section["offset"] += shift
    raw = json.dumps(header, separators=(",", ":")).encode()
    head = HEAD.pack(data[:8], 3, len(raw), length + shift, zlib.crc32(raw), 0)
    return head + raw + bytes(HEAD.size + n + shift - HEAD.size - len(raw)) + data[HEAD.size + n :]


def edit_header_in_place(data: bytes, change: Callable[[dict[str, Any]], None]) -> bytes:
    """A file with a changed header and a right CRC; nothing else moves. The header may not grow into a section."""
    n = struct.unpack_from("<I", data, 12)[0]
    header = json.loads(data[HEAD.size : HEAD.size + n])
    change(header)
    raw = json.dumps(header, separators=(",", ":")).encode()
    raw += b" " * (n - len(raw))
    return (
        data[:12]
        + struct.pack("<I", len(raw))
        + data[16:24]
        + struct.pack("<II", zlib.crc32(raw), 0)
        + raw
        + (data[HEAD.size + len(raw) :])
    )
