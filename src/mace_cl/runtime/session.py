"""A network, loaded on a device and ready to run."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

import numpy as np

from mace_cl.errors import UsageError
from mace_cl.opencl.context import context_of, new_queue
from mace_cl.opencl.devices import DeviceInfo, select_device
from mace_cl.runtime.arrays import ArraySpec, check_arrays
from mace_cl.runtime.binding import BINDERS
from mace_cl.runtime.opening import OpenEntry, open_entry
from mace_cl.runtime.profile import profile_plan
from mace_cl.runtime.report import StartReport, process_age_ms
from mace_cl.runtime.running import RunningPlan
from mace_cl.runtime.source import PROBES, LoadOptions, Source, open_source
from mace_cl.store.exits import arm
from mace_cl.types import Shape


class Session:
    """A loaded network. Make one with `Session.load`.

    A session runs one request at a time; threads wait for one another. It can be used in a `with` block.

    Attributes:
        inputs, outputs: Name, shape and type of each, as the model has them.
        device_name: The device.
        start_report: What the load did, and how long it took.
        time_limit: Seconds that a run may take; None for no limit.
        launches: Steps that the last run launched.
    """

    def __init__(self, entry: OpenEntry, device: DeviceInfo, report: StartReport, binder: str) -> None:
        self._open: OpenEntry | None = entry
        self._device = device
        self._binder = binder
        self._lock = threading.Lock()
        self._queue = new_queue(device)
        self._running: dict[int, RunningPlan] = {}
        self.start_report = report
        self.time_limit: float | None = None
        self.launches = 0
        self._ran = False
        with report.timed("binding"):
            first = self._plan(0)
        if entry.needs_dry_run:
            with report.timed("dry_run"), entry.first_launch():
                first.dry_run()
        self.inputs: tuple[ArraySpec, ...] = tuple(ArraySpec.of(e) for e in first.plan.inputs)
        self.outputs: tuple[ArraySpec, ...] = tuple(ArraySpec.of(e) for e in first.plan.outputs)

    @classmethod
    def load(
        cls,
        source: Source,
        *,
        device: str | int | None = None,
        cache: bool = True,
        probe: str = "auto",
        require_signature: str | os.PathLike[str] | bytes | None = None,
        binder: str = "shared",
        time_limit: float | None = None,
    ) -> Session:
        """Load a compiled file.

        Args:
            source: Path of the file, its bytes, or records in memory.
            device: Index, name or part of one; MACE_DEVICE, then the preferred device by default.
            cache: Whether this machine's cache may be read and written.
            probe: Whether a binary is tried in a child process first: 'auto' (one that nothing vouches for), 'always',
                'never'.
            require_signature: Public key, or the file that holds it; the file must be signed with it.
            binder: 'shared', or 'exact' for tools that watch bounds.
            time_limit: Seconds that a run may take.

        Raises:
            UsageError: An argument is wrong, or there is no such file.
            FormatError: The file is damaged.
            NoFitError: It holds nothing that the device can use; with each entry's reason.
            NoDeviceError: There is no OpenCL device.
            SignatureError: The signature is missing or wrong.
        """
        if probe not in PROBES:
            raise UsageError(f"probe is one of {', '.join(PROBES)}, not {probe!r}")
        if binder not in BINDERS:
            raise UsageError(f"binder is one of {', '.join(BINDERS)}, not {binder!r}")
        report = StartReport()
        age = process_age_ms()
        if age is not None:
            report.add("interpreter_and_imports", age)
        options = LoadOptions(cache=cache, probe=probe)
        if probe == "never":
            arm()
        with report.timed("reading"):
            opened = open_source(source, require_signature)
        with report.timed("driver"):
            chosen = select_device(device)
        with report.timed("context"):
            context_of(chosen)
        report.device = chosen.label
        session = cls(open_entry(opened, chosen, options, report), chosen, report, binder)
        session.time_limit = time_limit
        return session

    @property
    def device_name(self) -> str:
        """The device, with its platform."""
        return self._device.label

    @property
    def source_builds(self) -> int:
        """Programs that were built from source or IL for this session."""
        return self.open_entry.source_builds

    @property
    def input_shapes(self) -> list[dict[str, Shape]]:
        """Every set of input shapes that the network was compiled for."""
        return [dict(p.input_shapes) for p in self.open_entry.entry.plans]

    def run(self, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Run the network once.

        Args:
            arrays: An array for each input, by name.

        Returns:
            An array for each output, by name; nobody else holds them.

        Raises:
            InputError: A name, shape or type is wrong.
            RunInterrupted: Ctrl-C or the time limit stopped the run.
            DeviceError: The driver failed.
        """
        start = time.perf_counter()
        deadline = None if self.time_limit is None else start + self.time_limit
        with self._lock:
            running, checked = self._prepare(arrays)
            if self._ran:
                outputs, self.launches = running.run(checked, deadline)
                self.open_entry.worked_again()
                return outputs
            with self.open_entry.first_launch():
                outputs, self.launches = running.run(checked, deadline)
            self._ran = True
            self.start_report.add("first_run", 1e3 * (time.perf_counter() - start))
        return outputs

    def profile(self, arrays: Mapping[str, np.ndarray], repeat: int = 20) -> list[dict[str, Any]]:
        """Time each step by its OpenCL events.

        Args:
            arrays: An array for each input, by name.
            repeat: Runs that count.

        Returns:
            For each step its name, operators, kernel, mean and least microseconds.

        Raises:
            InputError: A name, shape or type is wrong.
        """
        with self._lock:
            running, checked = self._prepare(arrays)
            queue = new_queue(self._device, profiling=True)
            return profile_plan(running, queue, checked, max(repeat, 1))

    def close(self) -> None:
        """Give up the device's memory. Closing twice does no harm."""
        with self._lock:
            self._running.clear()
            if self._open is not None:
                self._open.release()
            self._open = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def open_entry(self) -> OpenEntry:
        """The entry that the session runs.

        Raises:
            UsageError: The session is closed.
        """
        if self._open is None:
            raise UsageError("the session is closed")
        return self._open

    def _prepare(self, arrays: Mapping[str, np.ndarray]) -> tuple[RunningPlan, dict[str, np.ndarray]]:
        """The plan for these arrays, and the arrays checked."""
        plan = self._plan(self._plan_for(arrays))
        return plan, check_arrays(arrays, plan.plan.inputs)

    def _plan_for(self, arrays: Mapping[str, np.ndarray]) -> int:
        """Index of the plan for the arrays' shapes; the first where none fits, whose check will say why."""
        plans = self.open_entry.entry.plans
        if len(plans) > 1 and isinstance(arrays, Mapping):
            shapes = {n: getattr(a, "shape", None) for n, a in arrays.items()}
            for i, ref in enumerate(plans):
                if all(shapes.get(n) == tuple(s) for n, s in ref.input_shapes.items()):
                    return i
        return 0

    def _plan(self, index: int) -> RunningPlan:
        if index not in self._running:
            entry = self.open_entry
            self._running[index] = RunningPlan(entry.plan(index), entry.bind(index, self._binder), self._queue)
        for other, running in self._running.items():
            if other != index:
                running.executor.forget_arguments()
        return self._running[index]


load = Session.load
