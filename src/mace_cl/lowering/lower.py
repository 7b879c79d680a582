"""Graph to Plan: the launches of the chosen kernels, with every tensor placed.

A value is stored under its root: Reshape and Identity share their input's memory. Model inputs and outputs have
buffers of their own, constants lie in weight sets, everything else in one arena.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mace_cl.errors import UnsupportedError
from mace_cl.graph import Graph, Value
from mace_cl.kernels.base import (
    CallArg,
    KernelCall,
    KernelSpec,
    LocalMemory,
    Read,
    Scalar,
    Scratch,
    Weights,
    Write,
)
from mace_cl.lowering.arena import Lifetime, aligned, place
from mace_cl.lowering.select import Choice, TunedConfig, choose, is_alias
from mace_cl.lowering.weights import WeightSets
from mace_cl.program.identity import Requirements
from mace_cl.program.plan import Arg, Buffer, Endpoint, Launch, LocalArg, Plan, ScalarArg, Step, Tensor, TensorArg
from mace_cl.targets.facts import DeviceFacts
from mace_cl.types import DataType

PROGRAM = "p0"
"""Logical name of the one program of an entry."""

MIN_ALIGN_BYTES = 512
"""Tensors lie at multiples of this even where a device asks for less, so that a file runs on devices that ask for more
(128 bytes on CPU runtimes, 512 on rusticl)."""

_NUMPY_SCALARS = {
    "char": "<i1", "uchar": "<u1", "short": "<i2", "ushort": "<u2", "half": "<f2", "int": "<i4", "uint": "<u4",
    "long": "<i8", "ulong": "<u8", "float": "<f4", "double": "<f8",
}  # fmt: skip


@dataclass(frozen=True)
class Lowered:
    """What lowering makes of a graph for one device.

    Attributes:
        plan: The plan.
        specs: Kernels of program `p0`, in order of first use.
        weights: Logical name of each weight set to its bytes.
        requires: What the plan asks of any device.
        choices: How each part of the graph is computed, for reports.
    """

    plan: Plan
    specs: tuple[KernelSpec, ...]
    weights: Mapping[str, bytes]
    requires: Requirements
    choices: tuple[Choice, ...]


def lower(graph: Graph, facts: DeviceFacts, tuned: TunedConfig | None = None, without: Collection[str] = ()) -> Lowered:
    """Choose kernels, place tensors, write the plan.

    Args:
        graph: The network after the passes.
        facts: The device.
        tuned: Parameters found by tuning, if any.
        without: Kernel families that may not be used.

    Raises:
        UnsupportedError: A node has no kernel, or a tensor does not fit the device's largest buffer.
    """
    choices = choose(graph, facts, tuned, without)
    calls = [(choice, call) for choice in choices for call in choice.family.emit(choice.match, choice.config, facts)]
    builder = _PlanBuilder(graph, facts)
    for choice, call in calls:
        builder.launch(choice, call)
    plan = builder.finish()
    specs = tuple(dict.fromkeys(call.spec for _, call in calls))
    names = {f"w{i}": data for i, data in enumerate(builder.weights.blobs())}
    return Lowered(plan, specs, names, _requirements(plan, specs, facts), tuple(choices))


@dataclass(eq=False)
class _Storage:
    """Memory of one root value or scratch area, and the steps that touch it."""

    name: str
    shape: tuple[int, ...]
    dtype: DataType
    size: int
    first: int | None = None
    last: int = -1
    tensor: int = -1

    def touch(self, step: int) -> None:
        self.first = step if self.first is None else self.first
        self.last = step


class _PlanBuilder:
    """Collects launches, then places what they touch."""

    def __init__(self, graph: Graph, facts: DeviceFacts) -> None:
        self.graph = graph
        self.facts = facts
        self.align = max(facts.base_align_bytes, MIN_ALIGN_BYTES)
        self.weights = WeightSets(self.align, facts.max_alloc_bytes)
        self.buffers: list[Buffer] = []
        self.tensors: list[Tensor] = []
        self.launches: list[tuple[Choice, KernelCall]] = []
        self.storages: dict[int, _Storage] = {}
        self.kept: list[object] = []
        self.constants: dict[tuple[int, int, int], int] = {}
        self.root_of = _roots(graph)

    # -- collecting -------------------------------------------------------------------------------------------

    def launch(self, choice: Choice, call: KernelCall) -> None:
        """Add a launch and note what it touches."""
        step = len(self.launches)
        self.launches.append((choice, call))
        for arg in call.args:
            if isinstance(arg, Read | Write) and not self.root(arg.value).is_constant:
                self.storage(self.root(arg.value)).touch(step)
            elif isinstance(arg, Scratch):
                self.scratch(arg).touch(step)

    def root(self, value: Value) -> Value:
        """The value whose memory this one shares."""
        return self.root_of.get(id(value), value)

    def storage(self, root: Value) -> _Storage:
        """Memory of a root value."""
        if id(root) not in self.storages:
            self.storages[id(root)] = _Storage(root.name, root.shape, root.dtype, root.type.nbytes)
        return self.storages[id(root)]

    def scratch(self, arg: Scratch) -> _Storage:
        """Memory of a scratch area."""
        if id(arg) not in self.storages:
            self.kept.append(arg)
            self.storages[id(arg)] = _Storage(arg.name, (arg.nbytes,), DataType.UINT8, arg.nbytes)
        return self.storages[id(arg)]

    # -- placing ----------------------------------------------------------------------------------------------

    def finish(self) -> Plan:
        """The plan."""
        inputs = [self.endpoint_buffer(n, v, "input") for n, v in self.graph.inputs.items()]
        outputs = [self.output(n, v) for n, v in self.graph.outputs.items()]
        unshared = self.place_arena()
        steps = tuple(self.step(choice, call) for choice, call in self.launches)
        for i, size in enumerate(self.weights.sizes):
            self.buffers[self.weight_buffers[i]] = Buffer(f"w{i}", "weights", size, f"w{i}")
        return Plan(tuple(inputs), tuple(outputs), tuple(self.buffers), tuple(self.tensors), steps, unshared)

    @property
    def weight_buffers(self) -> list[int]:
        """Indices of the weight sets' buffers, made as they are needed."""
        found = [i for i, b in enumerate(self.buffers) if b.kind == "weights"]
        while len(found) < len(self.weights.sets):
            found.append(len(self.buffers))
            self.buffers.append(Buffer(f"w{len(found) - 1}", "weights", 0, f"w{len(found) - 1}"))
        return found

    def endpoint_buffer(self, name: str, value: Value, kind: str) -> Endpoint:
        """An endpoint with a buffer of its own."""
        storage = self.storage(self.root(value))
        if storage.tensor < 0:
            self.check_size(storage.size, name)
            storage.tensor = len(self.tensors)
            size = max(storage.size, 1)
            self.buffers.append(Buffer(name, kind, size))
            self.tensors.append(
                Tensor(storage.name, storage.shape, storage.dtype, "any", len(self.buffers) - 1, 0, size)
            )
        return Endpoint(name, storage.tensor, value.shape, value.dtype)

    def output(self, name: str, value: Value) -> Endpoint:
        """An output: a constant, an input, or a computed value with a buffer of its own."""
        root = self.root(value)
        if root.data is not None:
            return Endpoint(name, self.constant(root.data, root.name), value.shape, value.dtype)
        return self.endpoint_buffer(name, value, "output")

    def place_arena(self) -> int:
        """Place all that has no buffer yet; returns the bytes that this would take without reuse."""
        waiting = [s for s in self.storages.values() if s.tensor < 0 and s.first is not None]
        if not waiting:
            return 0
        lifetimes = [Lifetime(s.size, s.first or 0, s.last) for s in waiting]
        offsets, total = place(lifetimes, self.align)
        self.check_size(total, "the arena")
        self.buffers.append(Buffer("arena", "arena", total))
        for storage, offset in zip(waiting, offsets, strict=True):
            storage.tensor = len(self.tensors)
            self.tensors.append(
                Tensor(
                    storage.name,
                    storage.shape,
                    storage.dtype,
                    "any",
                    len(self.buffers) - 1,
                    offset,
                    max(storage.size, 1),
                )
            )
        return sum(aligned(max(s.size, 1), self.align) for s in waiting)

    def check_size(self, size: int, what: str) -> None:
        """Refuse what no buffer of the device can hold."""
        if size > self.facts.max_alloc_bytes:
            raise UnsupportedError(
                f"needs a buffer of {size} bytes, the device's largest is {self.facts.max_alloc_bytes}", where=what
            )

    def constant(self, array: np.ndarray, name: str) -> int:
        """The tensor of a constant in the weights."""
        index, offset = self.weights.add(array, name)
        key = (index, offset, array.nbytes)
        if key not in self.constants:
            self.constants[key] = len(self.tensors)
            dtype = DataType.of(array)
            buffer = self.weight_buffers[index]
            size = max(array.nbytes, 1)
            self.tensors.append(Tensor(name, tuple(map(int, array.shape)), dtype, "packed", buffer, offset, size))
        return self.constants[key]

    # -- writing ----------------------------------------------------------------------------------------------

    def step(self, choice: Choice, call: KernelCall) -> Step:
        """A launch of the plan."""
        nodes = choice.match.nodes
        return Launch(
            name=nodes[-1].name,
            op="+".join(_op_names(choice)),
            program=PROGRAM,
            kernel=call.spec.function,
            args=tuple(self.arg(a) for a in call.args),
            global_size=tuple(int(g) for g in call.global_size),
            local_size=tuple(int(s) for s in call.local_size),
            flop=int(call.cost.flop),
            bytes=int(call.cost.bytes),
        )

    def arg(self, arg: CallArg) -> Arg:
        """An argument of the plan."""
        match arg:
            case Read(value) | Write(value):
                root = self.root(value)
                access = "r" if isinstance(arg, Read) else "w"
                if root.data is not None:
                    return TensorArg(self.constant(root.data, root.name), access)
                return TensorArg(self.storage(root).tensor, access)
            case Weights(array, name):
                return TensorArg(self.constant(array, name), "r")
            case Scratch():
                return TensorArg(self.scratch(arg).tensor, "rw")
            case Scalar(type_, number):
                return ScalarArg(type_, np.asarray(number).astype(_NUMPY_SCALARS[type_]).tobytes())
            case LocalMemory(nbytes):
                return LocalArg(nbytes)


def _roots(graph: Graph) -> dict[int, Value]:
    """For each value that only renames another, the value whose memory it is."""
    roots: dict[int, Value] = {}
    for node in graph.nodes:
        if is_alias(node):
            source = node.input(0)
            roots[id(node.output)] = roots.get(id(source), source)
    return roots


def _op_names(choice: Choice) -> Sequence[str]:
    names: list[str] = []
    for node in choice.match.nodes:
        chain = getattr(node.op, "epilogue", None) or getattr(node.op, "expression", None)
        if node.op.name != "FusedElementwise":
            names.append(node.op.name)
        names += [op.name for op, _ in chain.steps if op.name != "Literal"] if chain else []
    return names


def _requirements(plan: Plan, specs: Sequence[KernelSpec], facts: DeviceFacts) -> Requirements:
    """What any device must offer to run the plan."""
    text = " ".join(v for spec in specs for _, v in spec.macros)
    local = max((sum(a.size for a in s.args if isinstance(a, LocalArg)) for s in plan.launches), default=0)
    return Requirements(
        work_group_size=max((int(np.prod(s.local_size)) for s in plan.launches if s.local_size), default=1),
        local_mem_bytes=local,
        max_alloc_bytes=max((b.size for b in plan.buffers), default=0),
        fp16=bool(re.search(r"\bhalf\d*\b", text)),
        fp64=bool(re.search(r"\bdouble\d*\b", text)),
        base_align_bytes=max(facts.base_align_bytes, MIN_ALIGN_BYTES),
    )
