"""The plan: everything that a run does, in order, with integers and strings only.

A plan is canonical UTF-8 JSON, so that equal plans are equal bytes. Reading trusts nothing: every index, size and
offset is checked here, once, so that the runtime can use a Plan without looking again.

Must not know: OpenCL, the graph, how the plan was made.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from mace_cl.errors import FormatError
from mace_cl.types import DataType, Shape

PLAN_VERSION: Final = 1
MAX_INT: Final = (1 << 63) - 1
MAX_RANK: Final = 64
"""Dimensions of a shape; without a limit a damaged file could ask for products of millions of numbers."""
BUFFER_KINDS: Final = ("arena", "weights", "input", "output")
KNOWN_FEATURES: Final[frozenset[str]] = frozenset()
"""Names that `requires_features` may hold and this version honours."""


@dataclass(frozen=True, slots=True)
class Buffer:
    """A piece of device memory.

    Attributes:
        name: Unique within the plan.
        kind: 'arena' (intermediates), 'weights' (a weight set of the entry, read-only), 'input' or 'output' (one tensor
            that the user sees).
        size: Bytes.
        weights: For kind 'weights', the logical name of the entry's weight set; else empty.
    """

    name: str
    kind: str
    size: int
    weights: str = ""


@dataclass(frozen=True, slots=True)
class Tensor:
    """A dense tensor inside a buffer.

    Attributes:
        name: For messages.
        shape: Dimensions, outermost first.
        dtype: Element type.
        layout: How the shape is to be read: 'NHWC', 'packed', 'any' ...; a note, the shape is the physical one.
        buffer: Index of the buffer.
        offset: Bytes from its start; a multiple of the entry's alignment.
        size: Bytes that kernels may touch; at least those of the dense tensor.
    """

    name: str
    shape: Shape
    dtype: DataType
    layout: str
    buffer: int
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class TensorArg:
    """A pointer to a tensor. `access` is 'r', 'w' or 'rw'."""

    tensor: int
    access: str


@dataclass(frozen=True, slots=True)
class ScalarArg:
    """A number passed by value: its little-endian bytes and its OpenCL type ('int', 'float', ...)."""

    type: str
    value: bytes


@dataclass(frozen=True, slots=True)
class LocalArg:
    """Local memory of `size` bytes."""

    size: int


Arg: TypeAlias = TensorArg | ScalarArg | LocalArg


@dataclass(frozen=True, slots=True)
class Launch:
    """One kernel launch.

    Attributes:
        name: The layer, for profiles and messages.
        op: The operators that it computes, joined by +.
        program: Logical name of the program in the entry.
        kernel: Kernel function.
        args: Its arguments in order.
        global_size, local_size: Work sizes, one to three dimensions; an empty local size leaves it to the driver.
        flop, bytes: Cost, for profiles.
    """

    name: str
    op: str
    program: str
    kernel: str
    args: tuple[Arg, ...]
    global_size: tuple[int, ...]
    local_size: tuple[int, ...]
    flop: int = 0
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class Copy:
    """Copy of `size` bytes from the start of one tensor to the start of another."""

    name: str
    source: int
    target: int
    size: int


Step: TypeAlias = Launch | Copy


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An input or output as the user knows it: the model's name, shape and type, and the tensor that holds it."""

    name: str
    tensor: int
    shape: Shape
    dtype: DataType


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run does.

    Attributes:
        inputs, outputs: Endpoints in the model's order. An output may lie in the weights (a constant) or be an input.
        buffers, tensors, steps: As their classes say.
        arena_unshared: Bytes that the arena would need without reuse; for reports.
        requires_features: Names that a reader must know to use this plan.
    """

    inputs: tuple[Endpoint, ...]
    outputs: tuple[Endpoint, ...]
    buffers: tuple[Buffer, ...]
    tensors: tuple[Tensor, ...]
    steps: tuple[Step, ...]
    arena_unshared: int = 0
    requires_features: tuple[str, ...] = field(default=())

    @property
    def arena_bytes(self) -> int:
        """Bytes of all arenas."""
        return sum(b.size for b in self.buffers if b.kind == "arena")

    @property
    def launches(self) -> tuple[Launch, ...]:
        """The steps that are kernel launches."""
        return tuple(s for s in self.steps if isinstance(s, Launch))

    def to_bytes(self) -> bytes:
        """Canonical JSON: keys sorted, no spaces, ASCII."""
        return json.dumps(_plan_json(self), sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()

    @classmethod
    def from_bytes(cls, data: bytes | memoryview, where: str = "plan") -> Plan:
        """Read and check a plan.

        Raises:
            FormatError: It is not a plan, a feature is unknown, or an index, size or offset is out of bounds.
        """
        try:
            raw = json.loads(bytes(data).decode("utf-8"))
        except (ValueError, RecursionError) as error:
            raise FormatError("is not JSON", where=where) from error
        plan = _Reader(where).plan(raw)
        _check(plan, where)
        return plan


# -- writing ----------------------------------------------------------------------------------------------------


def _plan_json(plan: Plan) -> dict[str, Any]:
    return {
        "plan_version": PLAN_VERSION,
        "requires_features": list(plan.requires_features),
        "arena_unshared": plan.arena_unshared,
        "inputs": [_endpoint_json(e) for e in plan.inputs],
        "outputs": [_endpoint_json(e) for e in plan.outputs],
        "buffers": [{"name": b.name, "kind": b.kind, "size": b.size, "weights": b.weights} for b in plan.buffers],
        "tensors": [
            {
                "name": t.name,
                "shape": list(t.shape),
                "type": t.dtype.value,
                "layout": t.layout,
                "buffer": t.buffer,
                "offset": t.offset,
                "size": t.size,
            }
            for t in plan.tensors
        ],
        "steps": [_step_json(s) for s in plan.steps],
    }


def _endpoint_json(e: Endpoint) -> dict[str, Any]:
    return {"name": e.name, "tensor": e.tensor, "shape": list(e.shape), "type": e.dtype.value}


def _step_json(step: Step) -> dict[str, Any]:
    if isinstance(step, Copy):
        return {"kind": "copy", "name": step.name, "source": step.source, "target": step.target, "size": step.size}
    return {
        "kind": "launch",
        "name": step.name,
        "op": step.op,
        "program": step.program,
        "kernel": step.kernel,
        "args": [_arg_json(a) for a in step.args],
        "global": list(step.global_size),
        "local": list(step.local_size),
        "flop": step.flop,
        "bytes": step.bytes,
    }


def _arg_json(arg: Arg) -> dict[str, Any]:
    if isinstance(arg, TensorArg):
        return {"tensor": arg.tensor, "access": arg.access}
    if isinstance(arg, ScalarArg):
        return {"scalar": arg.type, "value": arg.value.hex()}
    return {"local": arg.size}


# -- reading ----------------------------------------------------------------------------------------------------


class _Reader:
    """Takes JSON apart; every failure is a FormatError with the path to the field."""

    def __init__(self, where: str) -> None:
        self.where = where

    def fail(self, path: str, message: str) -> FormatError:
        return FormatError(message, where=self.where, field=path)

    def get(self, raw: Any, key: str, path: str) -> Any:
        if not isinstance(raw, dict):
            raise self.fail(path, "is not an object")
        if key not in raw:
            raise self.fail(f"{path}.{key}", "is missing")
        return raw[key]

    def text(self, raw: Any, key: str, path: str) -> str:
        value = self.get(raw, key, path)
        if not isinstance(value, str):
            raise self.fail(f"{path}.{key}", "is not a string")
        return value

    def integer(self, raw: Any, key: str, path: str, default: int | None = None) -> int:
        if default is not None and isinstance(raw, dict) and key not in raw:
            return default
        return self.number(self.get(raw, key, path), f"{path}.{key}")

    def number(self, value: Any, path: str) -> int:
        if type(value) is not int or not 0 <= value <= MAX_INT:
            raise self.fail(path, "is not an integer from 0 to 2^63-1")
        return value

    def items(self, raw: Any, key: str, path: str) -> list[Any]:
        value = self.get(raw, key, path)
        if not isinstance(value, list):
            raise self.fail(f"{path}.{key}", "is not a list")
        return value

    def numbers(self, raw: Any, key: str, path: str) -> tuple[int, ...]:
        if len(self.items(raw, key, path)) > MAX_RANK:
            raise self.fail(f"{path}.{key}", f"has more than {MAX_RANK} dimensions")
        return tuple(self.number(v, f"{path}.{key}[{i}]") for i, v in enumerate(self.items(raw, key, path)))

    def dtype(self, raw: Any, path: str) -> DataType:
        name = self.text(raw, "type", path)
        try:
            return DataType(name)
        except ValueError:
            raise self.fail(f"{path}.type", f"unknown element type {name!r}") from None

    def plan(self, raw: Any) -> Plan:
        version = self.integer(raw, "plan_version", "plan")
        if version != PLAN_VERSION:
            raise self.fail("plan.plan_version", f"version {version} is not known, only {PLAN_VERSION}")
        features = tuple(str(f) for f in self.items(raw, "requires_features", "plan"))
        unknown = [f for f in features if f not in KNOWN_FEATURES]
        if unknown:
            raise self.fail("plan.requires_features", f"needs features that are not known: {', '.join(unknown)}")

        def each(key: str, read: Any) -> tuple[Any, ...]:
            return tuple(read(v, f"{key}[{i}]") for i, v in enumerate(self.items(raw, key, "plan")))

        return Plan(
            inputs=each("inputs", self.endpoint),
            outputs=each("outputs", self.endpoint),
            buffers=each("buffers", self.buffer),
            tensors=each("tensors", self.tensor),
            steps=each("steps", self.step),
            arena_unshared=self.integer(raw, "arena_unshared", "plan", 0),
            requires_features=features,
        )

    def endpoint(self, raw: Any, path: str) -> Endpoint:
        shape = self.numbers(raw, "shape", path)
        return Endpoint(self.text(raw, "name", path), self.integer(raw, "tensor", path), shape, self.dtype(raw, path))

    def buffer(self, raw: Any, path: str) -> Buffer:
        kind = self.text(raw, "kind", path)
        if kind not in BUFFER_KINDS:
            raise self.fail(f"{path}.kind", f"unknown kind of buffer {kind!r}")
        return Buffer(
            self.text(raw, "name", path), kind, self.integer(raw, "size", path), self.text(raw, "weights", path)
        )

    def tensor(self, raw: Any, path: str) -> Tensor:
        return Tensor(
            self.text(raw, "name", path),
            self.numbers(raw, "shape", path),
            self.dtype(raw, path),
            self.text(raw, "layout", path),
            self.integer(raw, "buffer", path),
            self.integer(raw, "offset", path),
            self.integer(raw, "size", path),
        )

    def step(self, raw: Any, path: str) -> Step:
        kind = self.text(raw, "kind", path)
        if kind == "copy":
            numbers = (self.integer(raw, k, path) for k in ("source", "target", "size"))
            return Copy(self.text(raw, "name", path), *numbers)
        if kind != "launch":
            raise self.fail(f"{path}.kind", f"unknown kind of step {kind!r}")
        args = tuple(self.arg(a, f"{path}.args[{i}]") for i, a in enumerate(self.items(raw, "args", path)))
        return Launch(
            name=self.text(raw, "name", path),
            op=self.text(raw, "op", path),
            program=self.text(raw, "program", path),
            kernel=self.text(raw, "kernel", path),
            args=args,
            global_size=self.numbers(raw, "global", path),
            local_size=self.numbers(raw, "local", path),
            flop=self.integer(raw, "flop", path, 0),
            bytes=self.integer(raw, "bytes", path, 0),
        )

    def arg(self, raw: Any, path: str) -> Arg:
        if isinstance(raw, dict) and "tensor" in raw:
            access = self.text(raw, "access", path)
            if access not in ("r", "w", "rw"):
                raise self.fail(f"{path}.access", f"is {access!r}, not 'r', 'w' or 'rw'")
            return TensorArg(self.integer(raw, "tensor", path), access)
        if isinstance(raw, dict) and "scalar" in raw:
            try:
                value = bytes.fromhex(self.text(raw, "value", path))
            except ValueError:
                raise self.fail(f"{path}.value", "is not hexadecimal") from None
            return ScalarArg(self.text(raw, "scalar", path), value)
        return LocalArg(self.integer(raw, "local", path))


# -- checking ---------------------------------------------------------------------------------------------------

_SCALAR_BYTES: Final = {
    "char": 1, "uchar": 1, "short": 2, "ushort": 2, "half": 2, "int": 4, "uint": 4, "float": 4, "long": 8,
    "ulong": 8, "double": 8,
}  # fmt: skip


def _check(plan: Plan, where: str) -> None:
    """Bounds of everything that refers to something else."""
    for i, tensor in enumerate(plan.tensors):
        path = f"tensors[{i}]"
        if tensor.buffer >= len(plan.buffers):
            raise FormatError(f"buffer {tensor.buffer} does not exist", where=where, field=path)
        if tensor.offset + tensor.size > plan.buffers[tensor.buffer].size:
            raise FormatError("reaches beyond its buffer", where=where, field=path)
        if math.prod(tensor.shape) * tensor.dtype.itemsize > tensor.size:
            raise FormatError("its shape needs more bytes than its size", where=where, field=path)
    names = [e.name for e in plan.inputs], [e.name for e in plan.outputs]
    for key, group, ends in zip(("inputs", "outputs"), names, (plan.inputs, plan.outputs), strict=True):
        if len(set(group)) != len(group):
            raise FormatError("two of them have the same name", where=where, field=key)
        for i, end in enumerate(ends):
            _check_endpoint(plan, end, where, f"{key}[{i}]")
    for i, step in enumerate(plan.steps):
        _check_step(plan, step, where, f"steps[{i}]")


def _check_endpoint(plan: Plan, end: Endpoint, where: str, path: str) -> None:
    if end.tensor >= len(plan.tensors):
        raise FormatError(f"tensor {end.tensor} does not exist", where=where, field=path)
    if math.prod(end.shape) * end.dtype.itemsize > plan.tensors[end.tensor].size:
        raise FormatError("its shape needs more bytes than its tensor has", where=where, field=path)


def _check_step(plan: Plan, step: Step, where: str, path: str) -> None:
    if isinstance(step, Copy):
        for index in (step.source, step.target):
            if index >= len(plan.tensors) or step.size > plan.tensors[index].size:
                raise FormatError(f"copies beyond tensor {index}", where=where, field=path)
        if plan.buffers[plan.tensors[step.target].buffer].kind == "weights":
            raise FormatError("writes to weights", where=where, field=path)
        return
    if not 1 <= len(step.global_size) <= 3 or len(step.local_size) not in (0, len(step.global_size)):
        raise FormatError("has no 1 to 3 matching work sizes", where=where, field=path)
    if any(g < 1 for g in step.global_size) or any(s < 1 for s in step.local_size):
        raise FormatError("has a work size of 0", where=where, field=path)
    if any(g % s for g, s in zip(step.global_size, step.local_size, strict=False)):
        raise FormatError("its global size is no multiple of its local size", where=where, field=path)
    for i, arg in enumerate(step.args):
        _check_arg(plan, arg, where, f"{path}.args[{i}]")


def _check_arg(plan: Plan, arg: Arg, where: str, path: str) -> None:
    if isinstance(arg, TensorArg):
        if arg.tensor >= len(plan.tensors):
            raise FormatError(f"tensor {arg.tensor} does not exist", where=where, field=path)
        if "w" in arg.access and plan.buffers[plan.tensors[arg.tensor].buffer].kind == "weights":
            raise FormatError("writes to weights", where=where, field=path)
    elif isinstance(arg, ScalarArg) and _SCALAR_BYTES.get(arg.type) != len(arg.value):
        raise FormatError(f"{len(arg.value)} bytes are no {arg.type!r}", where=where, field=path)
