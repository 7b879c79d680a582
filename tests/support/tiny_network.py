"""A network of a few hand-written kernels, as records in memory: what the runtime's tests load."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np

from mace_cl.opencl.build import build_program
from mace_cl.opencl.devices import DeviceInfo
from mace_cl.program.identity import Requirements
from mace_cl.program.plan import (
    Arg,
    Buffer,
    Copy,
    Endpoint,
    Launch,
    LocalArg,
    Plan,
    ScalarArg,
    Step,
    Tensor,
    TensorArg,
)
from mace_cl.program.records import Blob, CompiledFile, Entry, KernelRecord, ModelInfo, PlanRef, ProgramForms
from mace_cl.types import DataType

SOURCE = """\
// ---- scale
#line 1 "scale.cl"
__kernel void scale(__global const float *restrict x, __global float *restrict y, const float by)
{
    const size_t i = get_global_id(0);
    y[i] = x[i] * by;
}
// ---- add
#line 1 "add.cl"
__kernel void add(__global const float *restrict x, __global const float *restrict w, __global float *restrict y)
{
    const size_t i = get_global_id(0);
    y[i] = x[i] + w[i];
}
// ---- reverse
#line 1 "reverse.cl"
__kernel void reverse(__global const float *restrict x, __global float *restrict y, __local float *t, const int n)
{
    for (int i = 0; i < n; i++)
        t[i] = x[i];
    for (int i = 0; i < n; i++)
        y[i] = t[n - 1 - i];
}
"""

N = 96
F32 = DataType.FLOAT32
KERNELS = ("scale", "add", "reverse")


def weights(n: int = N) -> np.ndarray:
    return np.arange(n, dtype=np.float32) / 8


def reference(x: np.ndarray) -> np.ndarray:
    """What the network gives: y = reverse(x * 2 + w) * 3."""
    return ((x * np.float32(2) + weights(x.size))[::-1] * np.float32(3)).astype(np.float32)


def plan(n: int = N, align: int = 128) -> Plan:
    """x -scale-> a -add w-> b -reverse-> c -scale-> y, a and c sharing memory; and y copied into z."""
    size = 4 * n
    step = -(-size // align) * align
    buffers = (
        Buffer("x", "input", size),
        Buffer("y", "output", size),
        Buffer("z", "output", size),
        Buffer("arena", "arena", 2 * step),
        Buffer("w0", "weights", align + size, "w0"),
    )
    tensors = (
        Tensor("x", (n,), F32, "any", 0, 0, size),
        Tensor("y", (n,), F32, "any", 1, 0, size),
        Tensor("z", (n,), F32, "any", 2, 0, size),
        Tensor("a", (n,), F32, "any", 3, 0, size),
        Tensor("b", (n,), F32, "any", 3, step, size),
        Tensor("c", (n,), F32, "any", 3, 0, size),
        Tensor("w", (n,), F32, "packed", 4, align, size),
    )
    x, y, z, a, b, c, w = range(7)

    def launch(name: str, kernel: str, args: Sequence[Arg], items: int = n) -> Launch:
        return Launch(name, kernel, "p0", kernel, tuple(args), (items,), (1,), flop=items, bytes=8 * items)

    steps: tuple[Step, ...] = (
        launch("double", "scale", [TensorArg(x, "r"), TensorArg(a, "w"), number(2.0)]),
        launch("shift", "add", [TensorArg(a, "r"), TensorArg(w, "r"), TensorArg(b, "w")]),
        launch("turn", "reverse", [TensorArg(b, "r"), TensorArg(c, "w"), LocalArg(size), integer(n)], 1),
        launch("triple", "scale", [TensorArg(c, "r"), TensorArg(y, "w"), number(3.0)]),
        Copy("again", y, z, size),
    )
    ends = (Endpoint("y", y, (n,), F32), Endpoint("z", z, (n,), F32), Endpoint("w", w, (n,), F32))
    return Plan((Endpoint("x", x, (n,), F32),), ends, buffers, tensors, steps)


def number(value: float) -> ScalarArg:
    return ScalarArg("float", struct.pack("<f", value))


def integer(value: int) -> ScalarArg:
    return ScalarArg("int", struct.pack("<i", value))


def weight_bytes(n: int = N, align: int = 128) -> bytes:
    return bytes(align) + weights(n).tobytes()


def entry(
    device: DeviceInfo | None,
    *,
    binary: bytes | None = None,
    source: str | None = SOURCE,
    options: str = "",
    name: str = "",
    sizes: Sequence[int] = (N,),
    requires: Requirements | None = None,
    align: int = 128,
) -> Entry:
    """An entry; portable without a device."""
    forms = ProgramForms(
        binary=None if binary is None else Blob("program", "p0", binary),
        source=None if source is None else Blob("source", "p0", source.encode()),
        options=options,
        kernels=tuple(KernelRecord(k) for k in KERNELS),
    )
    return Entry(
        name=name or (device.vendor if device else "portable"),
        identity=device.identity if device else None,
        requires=requires or Requirements(base_align_bytes=align),
        programs={"p0": forms},
        weights={"w0": Blob("weights", "w0", weight_bytes(max(sizes), align))},
        plans=tuple(PlanRef({"x": (n,)}, Blob("plan", f"plan {n}", plan(n, align).to_bytes())) for n in sizes),
    )


def compiled_entry(device: DeviceInfo, **changes: object) -> Entry:
    """An entry with the device's own binary."""
    built = build_program(device, SOURCE, kernels=KERNELS)
    return entry(device, binary=built.binary, options=built.options, **changes)  # type: ignore[arg-type]


def compiled_file(*entries: Entry) -> CompiledFile:
    model = ModelInfo("tiny", "opencl", "0" * 64, "1" * 64)
    return CompiledFile("test", "1", model, tuple(entries))
