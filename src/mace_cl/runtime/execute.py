"""Enqueues a plan's commands in stretches, so that Ctrl-C and a time limit stop a run between steps.

The device is kept busy: while one stretch runs the next is enqueued. Nothing more is enqueued once the run is to stop,
so it ends with the stretch that runs and at most one more; a step that takes long is waited for by itself.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from mace_cl.errors import RunInterrupted
from mace_cl.opencl.commands import Command
from mace_cl.program.plan import Launch, Step

STRETCH_US = 2000.0
"""Work of one stretch: long against the cost of a wait, short against a user's patience."""

LONG_US = 20_000.0
"""A stretch of this length is waited for before the next is enqueued: that costs nothing against its own time."""

_FLOP_PER_US = 40_000.0
_BYTES_PER_US = 8_000.0
_UNKNOWN_US = 500.0
"""First guess of a step's time, until runs were measured."""


def guess_us(step: Step) -> float:
    """A first guess of a step's time."""
    if isinstance(step, Launch) and (step.flop or step.bytes):
        return max(step.flop / _FLOP_PER_US, step.bytes / _BYTES_PER_US) + 3.0
    return step.size / _BYTES_PER_US if not isinstance(step, Launch) else _UNKNOWN_US


def stretches(costs_us: Sequence[float]) -> list[tuple[int, int, bool]]:
    """Cut steps into stretches of about STRETCH_US: (first, after the last, whether it is long)."""
    cuts: list[tuple[int, int, bool]] = []
    start, total = 0, 0.0
    for i, cost in enumerate(costs_us):
        if i > start and total + cost > STRETCH_US:
            cuts.append((start, i, total > LONG_US))
            start, total = i, 0.0
        total += cost
    if start < len(costs_us):
        cuts.append((start, len(costs_us), total > LONG_US))
    return cuts


class Executor:
    """Runs commands over and over.

    Args:
        commands: Prepared steps.
        steps: The plan's steps.
        queue: Where.
    """

    def __init__(self, commands: Sequence[Command], steps: Sequence[Step], queue: Any) -> None:
        self._commands = commands
        self._queue = queue
        self._costs = [guess_us(s) for s in steps]
        self._stretches = stretches(self._costs)
        self._known = False

    @property
    def arguments_known(self) -> bool:
        """Whether each kernel's arguments are those of its last launch in the plan."""
        return self._known

    def forget_arguments(self) -> None:
        """The kernels were used elsewhere: set every argument anew."""
        self._known = False

    def run(self, deadline: float | None) -> int:
        """Run every command once; the queue is finished at the end, or when the run stops.

        Args:
            deadline: Time (time.perf_counter) after which no more is enqueued.

        Returns:
            The number of commands.

        Raises:
            RunInterrupted: Ctrl-C, or the deadline has passed.
        """
        every, self._known = not self._known, False
        queue = self._queue
        before: Any = None
        start = time.perf_counter()
        done = 0
        try:
            for first, end, is_long in self._stretches:
                if deadline is not None and time.perf_counter() >= deadline:
                    raise RunInterrupted(f"stopped by its time limit after {done} of {len(self._commands)} steps")
                event: Any = None
                for command in self._commands[first:end]:
                    event = command.enqueue(queue, every)
                done = end
                if end == len(self._commands):
                    break
                queue.flush()
                if before is not None:
                    before.wait()
                if is_long:
                    event.wait()
                before = event
            queue.finish()
        except KeyboardInterrupt as interrupt:
            queue.finish()
            raise RunInterrupted(f"stopped by Ctrl-C after {done} of {len(self._commands)} steps") from interrupt
        except BaseException:
            queue.finish()
            raise
        self._known = True
        self._learn(1e6 * (time.perf_counter() - start))
        return done

    def _learn(self, took_us: float) -> None:
        """Cut anew where the guess was far from what the run took."""
        guessed = sum(self._costs)
        if guessed and not 0.5 < took_us / guessed < 2.0:
            self._costs = [c * took_us / guessed for c in self._costs]
            self._stretches = stretches(self._costs)
