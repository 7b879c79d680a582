"""Measures how many of a device's compute units work at the same time.

A driver may run work-groups one after the other on one core, whatever number of units it names.
"""

from __future__ import annotations

import struct
import time
from typing import Any

import numpy as np

from mace_cl.errors import DeviceError
from mace_cl.opencl import driver
from mace_cl.opencl.build import build_program
from mace_cl.opencl.commands import launch
from mace_cl.opencl.context import new_queue
from mace_cl.opencl.devices import DeviceInfo
from mace_cl.opencl.memory import Memory, read
from mace_cl.opencl.programs import program_from_binary, program_from_source

SOURCE = """\
__kernel void busy(__global uint *y, const uint n)
{
    uint x = (uint)get_global_id(0);
    for (uint i = 0; i < n; i++)
        x = x * 1664525u + 1013904223u;
    y[get_global_id(0)] = x;
}
"""
GOAL_S = 0.005
"""Time of one work-group: far longer than a launch."""
ROUNDS = 20


def measure_units(device: DeviceInfo) -> int:
    """How many compute units work at once; a small kernel is built and run for a fraction of a second.

    Raises:
        DeviceError: The driver cannot run it, or its result is wrong.
        BuildError: Its compiler refuses it.
    """
    units = max(device.plain.compute_units, 1)
    built = build_program(device, SOURCE, kernels=["busy"])
    if built.binary:
        program = program_from_binary(device, built.binary, built.options, ["busy"])
    else:
        program = program_from_source(device, SOURCE, built.options, ["busy"])
    kernel, queue, buffer = program.kernel("busy"), new_queue(device), Memory(device).buffer(4 * units)

    def seconds(groups: int, steps: int, rounds: int = ROUNDS) -> float:
        command = launch(kernel, [buffer, struct.pack("<I", steps)], (groups,), (1,))
        return min(_time(command, queue) for _ in range(rounds))

    steps = 100_000
    seconds(1, steps, 1)
    while (one := seconds(1, steps, 1)) < GOAL_S / 4 and steps < 1 << 30:
        steps *= 4
    one = seconds(1, steps)
    every = seconds(units, steps)
    result = np.empty(units, np.uint32)
    read(queue, buffer, result)
    queue.finish()
    if int(result[0]) != _reference(steps):
        raise DeviceError("a small kernel gives a wrong result", where=device.label)
    return max(1, min(units, round(units * one / every)))


def _time(command: Any, queue: Any) -> float:
    try:
        start = time.perf_counter()
        command.enqueue(queue, True)
        queue.finish()
        return time.perf_counter() - start
    except Exception as error:
        if driver.is_driver_error(error):
            raise driver.translate(error, "running a small kernel") from error
        raise


def _reference(steps: int) -> int:
    """The congruential generator after many steps from 0, by squaring."""
    factor, offset, a, c = 1, 0, 1664525, 1013904223
    while steps:
        if steps & 1:
            factor, offset = factor * a % 2**32, (offset * a + c) % 2**32
        a, c = a * a % 2**32, c * (a + 1) % 2**32
        steps >>= 1
    return offset
