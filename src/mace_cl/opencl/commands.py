"""Launches and copies, prepared once so that a run does nothing but set arguments and enqueue."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from mace_cl.opencl import driver

Prepared: TypeAlias = Any
"""An argument as it is handed to the driver: a buffer, bytes of a scalar, or local memory."""

Setting: TypeAlias = tuple[Callable[[int, Any], Any], int, Prepared]
"""What sets one argument: function, index, value."""


def local_memory(size: int) -> Prepared:
    """Local memory as an argument."""
    return driver.binding().LocalMemory(size)


def setting(kernel: Any, index: int, value: Prepared) -> Setting:
    """How to set an argument.

    pyopencl's public `set_arg` takes 6 microseconds for a scalar's bytes, its private door for bytes 0.1.
    """
    if isinstance(value, bytes):
        fast = getattr(kernel, "_set_arg_buf", None)
        if fast is not None:
            return fast, index, value
    return kernel.set_arg, index, value


class Command:
    """One step, ready to be enqueued.

    Attributes:
        kernel: The kernel object; None for a copy.
        values: Its arguments.
        all_settings: Sets every argument.
        settings: Sets those that the launch before, of the same kernel, left different.
    """

    __slots__ = ("_call", "all_settings", "kernel", "settings", "values")

    def __init__(self, kernel: Any, values: Sequence[Prepared], call: Callable[[Any], Any]) -> None:
        self.kernel = kernel
        self.values = tuple(values)
        self.all_settings = tuple(setting(kernel, i, v) for i, v in enumerate(values))
        self.settings = self.all_settings
        self._call = call

    def enqueue(self, queue: Any, every: bool) -> Any:
        """Set arguments and enqueue; returns the event.

        Args:
            queue: Where.
            every: Whether the kernel's arguments are unknown, so that all have to be set.
        """
        for function, index, value in self.all_settings if every else self.settings:
            function(index, value)
        return self._call(queue)


def launch(
    kernel: Any, values: Sequence[Prepared], global_size: tuple[int, ...], local_size: tuple[int, ...] | None
) -> Command:
    """A kernel launch."""
    enqueue = driver.binding().enqueue_nd_range_kernel
    return Command(kernel, values, lambda queue: enqueue(queue, kernel, global_size, local_size))


def copy(source: Any, target: Any, size: int) -> Command:
    """A copy of bytes from the start of one buffer to the start of another."""
    enqueue = driver.binding()._enqueue_copy_buffer
    return Command(None, (), lambda queue: enqueue(queue, source, target, size))


def keep_differences(commands: Sequence[Command]) -> None:
    """For runs that repeat: each launch sets only what the launch before it, of the same kernel, left different.

    The first launch of a kernel follows its last one of the run before.
    """
    last: dict[int, Command] = {id(c.kernel): c for c in commands if c.kernel is not None}
    for command in commands:
        if command.kernel is None:
            continue
        before = last[id(command.kernel)].values
        last[id(command.kernel)] = command
        command.settings = tuple(s for s, old in zip(command.all_settings, before, strict=True) if not _same(s[2], old))


def _same(new: Prepared, old: Prepared) -> bool:
    return new is old or (isinstance(new, bytes) and new == old)
