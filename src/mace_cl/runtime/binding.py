"""Binds a plan's tensors to device memory and prepares its launches.

The sharing binder lays tensors into the plan's few buffers, as sub-buffers. The exact binder gives each tensor a
buffer of exactly its size, so that a tool which watches bounds sees a kernel leave its tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from mace_cl.errors import DeviceError, FormatError
from mace_cl.opencl.commands import Command, copy, keep_differences, launch, local_memory
from mace_cl.opencl.kernels import argument_count
from mace_cl.opencl.memory import Memory
from mace_cl.program.plan import Arg, Launch, LocalArg, Plan, ScalarArg, Step, TensorArg

BINDERS = ("shared", "exact")


class BoundPlan:
    """A plan with memory and kernels, ready to run.

    Args:
        plan: What to do.
        memory: Makes buffers on the device.
        kernel: Gives the kernel object of (program, kernel name).
        weights: Bytes of each weight set, and the buffer that sessions share.
        binder: One of BINDERS.

    Raises:
        DeviceError: The device has no room, or a kernel takes other arguments than the plan gives.
        FormatError: The plan names weights that the entry does not have.
    """

    def __init__(
        self,
        plan: Plan,
        memory: Memory,
        kernel: Callable[[str, str], Any],
        weights: Mapping[str, WeightSet],
        binder: str = "shared",
    ) -> None:
        self.plan = plan
        self._memory = memory
        self._weights = weights
        check_weights(plan, weights)
        bind = _Exact if binder == "exact" else _Shared
        self._binding = bind(plan, memory, weights)
        self.commands = [self._command(step, kernel) for step in plan.steps]
        keep_differences(self.commands)

    def tensor(self, index: int) -> Any:
        """The buffer of a tensor."""
        return self._binding.tensor(index)

    def _command(self, step: Step, kernel: Callable[[str, str], Any]) -> Command:
        if isinstance(step, Launch):
            return self._launch(step, kernel(step.program, step.kernel))
        return copy(self.tensor(step.source), self.tensor(step.target), step.size)

    def _launch(self, step: Launch, kernel: Any) -> Command:
        wanted = argument_count(kernel)
        if wanted != len(step.args):
            raise DeviceError(
                f"kernel {step.kernel!r} takes {wanted} arguments, the plan gives {len(step.args)}",
                where=f"step {step.name!r}",
            )
        values = [self._value(a) for a in step.args]
        return launch(kernel, values, step.global_size, step.local_size or None)

    def _value(self, arg: Arg) -> Any:
        if isinstance(arg, TensorArg):
            return self.tensor(arg.tensor)
        if isinstance(arg, ScalarArg):
            return arg.value
        assert isinstance(arg, LocalArg)
        return local_memory(arg.size)


class WeightSet:
    """Packed weights of an entry: their bytes and one buffer on the device, made when first asked for.

    Args:
        data: The bytes.
        memory: Makes the buffer.
    """

    def __init__(self, data: memoryview, memory: Memory) -> None:
        self.data = data
        self._memory = memory
        self._buffer: Any = None

    @property
    def buffer(self) -> Any:
        """The read-only buffer that all plans share."""
        if self._buffer is None:
            self._buffer = self._memory.constant(self.data)
        return self._buffer


def check_weights(plan: Plan, weights: Mapping[str, WeightSet]) -> None:
    """Compare the plan's weight buffers with the entry's weights.

    Raises:
        FormatError: One is missing or too small.
    """
    for buffer in plan.buffers:
        if buffer.kind != "weights":
            continue
        if buffer.weights not in weights:
            raise FormatError(f"needs weights {buffer.weights!r}, which the entry does not have", where="plan")
        if weights[buffer.weights].data.nbytes < buffer.size:
            raise FormatError(f"needs more weights than {buffer.weights!r} holds", where="plan")


class _Shared:
    """Sub-buffers of one buffer each for the arena, weights, inputs and outputs."""

    def __init__(self, plan: Plan, memory: Memory, weights: Mapping[str, WeightSet]) -> None:
        self._plan = plan
        self._memory = memory
        self._buffers = [
            weights[b.weights].buffer if b.kind == "weights" else memory.buffer(b.size) for b in plan.buffers
        ]
        self._parts: dict[tuple[int, int, int], Any] = {}

    def tensor(self, index: int) -> Any:
        tensor = self._plan.tensors[index]
        buffer = self._plan.buffers[tensor.buffer]
        key = (tensor.buffer, tensor.offset, max(tensor.size, 1))
        if key not in self._parts:
            whole = self._buffers[tensor.buffer]
            if tensor.offset == 0 and key[2] == max(buffer.size, 1):
                self._parts[key] = whole
            else:
                access = "r" if buffer.kind == "weights" else "rw"
                self._parts[key] = self._memory.part(whole, tensor.offset, key[2], access)
        return self._parts[key]


class _Exact:
    """A buffer of exactly its size for each tensor."""

    def __init__(self, plan: Plan, memory: Memory, weights: Mapping[str, WeightSet]) -> None:
        self._plan = plan
        self._memory = memory
        self._weights = weights
        self._made: dict[tuple[int, int, int, int], Any] = {}

    def tensor(self, index: int) -> Any:
        tensor = self._plan.tensors[index]
        kind = self._plan.buffers[tensor.buffer].kind
        # Tensors of the arena share memory without sharing a value, so each has its own.
        key = (tensor.buffer, tensor.offset, tensor.size, index if kind == "arena" else -1)
        if key not in self._made:
            self._made[key] = self._make(index)
        return self._made[key]

    def _make(self, index: int) -> Any:
        tensor = self._plan.tensors[index]
        buffer = self._plan.buffers[tensor.buffer]
        if buffer.kind != "weights":
            # Not zero: a kernel that leaves a place unwritten must be seen.
            return self._memory.filled(np.full(max(tensor.size, 1), 0xFF, np.uint8))
        data = self._weights[buffer.weights].data[tensor.offset : tensor.offset + tensor.size]
        return self._memory.filled(np.frombuffer(data, np.uint8), "r")
