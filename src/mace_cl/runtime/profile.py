"""Times each step of a plan by its OpenCL events."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mace_cl.opencl import memory
from mace_cl.opencl.driver import event_us
from mace_cl.program.plan import Launch, Step
from mace_cl.runtime.running import RunningPlan


def profile_plan(
    running: RunningPlan, queue: Any, arrays: Mapping[str, np.ndarray], repeat: int
) -> list[dict[str, Any]]:
    """Time of each step: JSON values with mean and least microseconds, GFLOP/s and GB/s of the least.

    Args:
        running: The plan.
        queue: A queue that takes times.
        arrays: Checked inputs by name.
        repeat: Runs, after one that does not count.
    """
    for end in running.plan.inputs:
        memory.write(queue, running.bound.tensor(end.tensor), arrays[end.name])
    times = np.zeros((repeat + 1, len(running.bound.commands)))
    for i in range(repeat + 1):
        events = [c.enqueue(queue, True) for c in running.bound.commands]
        queue.finish()
        times[i] = [event_us(e) for e in events]
    running.executor.forget_arguments()
    counted = times[1:]
    return [
        _line(step, float(counted[:, i].mean()), float(counted[:, i].min()))
        for i, step in enumerate(running.plan.steps)
    ]


def _line(step: Step, mean_us: float, min_us: float) -> dict[str, Any]:
    line: dict[str, Any] = {"step": step.name, "mean_us": round(mean_us, 2), "min_us": round(min_us, 2)}
    if isinstance(step, Launch):
        line |= {"op": step.op, "kernel": step.kernel, "global": list(step.global_size)}
        if min_us > 0:
            line |= {"gflops": round(step.flop / min_us / 1e3, 2), "gbytes_per_s": round(step.bytes / min_us / 1e3, 2)}
    return line
