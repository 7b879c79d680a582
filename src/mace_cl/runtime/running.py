"""One plan of a session: arrays in, launches, arrays out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mace_cl.errors import MaceError
from mace_cl.opencl import memory
from mace_cl.opencl.driver import is_driver_error, translate
from mace_cl.program.plan import Endpoint, Plan
from mace_cl.runtime.binding import BoundPlan
from mace_cl.runtime.execute import Executor


class RunningPlan:
    """A bound plan on a queue.

    Args:
        plan: The plan.
        bound: Its memory and commands.
        queue: The session's queue.
    """

    def __init__(self, plan: Plan, bound: BoundPlan, queue: Any) -> None:
        self.plan = plan
        self.bound = bound
        self.executor = Executor(bound.commands, plan.steps, queue)
        self._queue = queue
        self._inputs = [(e, bound.tensor(e.tensor)) for e in plan.inputs]
        self._outputs = [(e, bound.tensor(e.tensor)) for e in plan.outputs]

    def run(self, arrays: Mapping[str, np.ndarray], deadline: float | None) -> tuple[dict[str, np.ndarray], int]:
        """One run: outputs by name, and the number of steps launched.

        Args:
            arrays: Checked inputs by name.
            deadline: Time (time.perf_counter) at which the run stops.

        Raises:
            RunInterrupted: It was stopped.
            DeviceError: The driver failed.
        """
        try:
            for end, buffer in self._inputs:
                memory.write(self._queue, buffer, arrays[end.name])
            launched = self.executor.run(deadline)
            outputs = {end.name: self._read(end, buffer) for end, buffer in self._outputs}
            self._queue.finish()
        except MaceError:
            raise
        except Exception as error:
            if is_driver_error(error):
                raise translate(error, "running the network") from error
            raise
        return outputs, launched

    def dry_run(self) -> None:
        """One run on zeros, for drivers that finish compiling at the first launch.

        Raises:
            DeviceError: The driver failed.
        """
        self.run({e.name: np.zeros(e.shape, e.dtype.numpy) for e in self.plan.inputs}, None)

    def _read(self, end: Endpoint, buffer: Any) -> np.ndarray:
        array = np.empty(end.shape, end.dtype.numpy)
        memory.read(self._queue, buffer, array)
        return array
