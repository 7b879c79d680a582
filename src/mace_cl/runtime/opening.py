"""Opens the best entry of a file that works on a device."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

from mace_cl.errors import DeviceError, FormatError, MaceError, NoFitError
from mace_cl.opencl.devices import DeviceInfo
from mace_cl.opencl.memory import Memory
from mace_cl.opencl.programs import LoadedProgram
from mace_cl.program.plan import Plan
from mace_cl.runtime import shared
from mace_cl.runtime.binding import BoundPlan, WeightSet
from mace_cl.runtime.choice import Candidate, candidates
from mace_cl.runtime.loading import Code, ProgramLoader
from mace_cl.runtime.meanwhile import Meanwhile
from mace_cl.runtime.probe import Trial
from mace_cl.runtime.report import ProgramStart, StartReport
from mace_cl.runtime.source import LoadOptions, OpenedFile
from mace_cl.runtime.weights import WeightCheck
from mace_cl.store.exits import ExitFile
from mace_cl.store.store import Store

FINISHED_AT_BUILD = frozenset({"intel-cpu", "pocl"})
"""Drivers whose kernels need no further compilation once they are made."""

PROBATION_S = 5.0
"""How long a program that nothing vouches for must work before it is trusted."""


class OpenEntry:
    """An entry with its programs on the device.

    Attributes:
        candidate: The entry and its form.
        device: Where.
        codes: Its programs' code.
        weights: Its weight sets by logical name.
        source_builds: Programs that were built from source or IL for it.
        pair: The name of its programs and plan together.
        on_probation: Whether nothing vouches for them, and no child process tried them.
    """

    def __init__(self, candidate: Candidate, device: DeviceInfo, store: Store | None) -> None:
        self.candidate = candidate
        self.entry = candidate.entry
        self.device = device
        self.store = store
        self.codes: list[Code] = []
        self.weights: dict[str, WeightSet] = {}
        self.source_builds = 0
        self.pair = ""
        self.on_probation = False
        self._staying: list[ExitFile] = []
        self._since = 0.0
        self._memory = Memory(device)
        self._plans: dict[int, Plan] = {}
        self._programs: dict[str, LoadedProgram] = {}
        self._kernels: dict[tuple[str, str], Any] = {}

    @property
    def needs_dry_run(self) -> bool:
        """Whether the driver compiles at the first launch."""
        return self.device.vendor not in FINISHED_AT_BUILD

    def plan(self, index: int) -> Plan:
        """A plan of the entry, read when first asked for.

        Raises:
            FormatError: It is damaged.
        """
        if index not in self._plans:
            blob = self.entry.plans[index].blob
            self._plans[index] = Plan.from_bytes(blob.checked(), f"plan {index} of {self.entry.name}")
        return self._plans[index]

    def add_program(self, name: str, program: LoadedProgram, kernels: dict[str, Any]) -> None:
        """Take a program and the kernel objects made of it."""
        self._programs[name] = program
        self._kernels.update({(name, kernel): made for kernel, made in kernels.items()})

    def kernel(self, program: str, name: str) -> Any:
        """The one object of a kernel in this session.

        Raises:
            FormatError: The plan names a program that the entry does not have.
            DeviceError: The driver has no such kernel.
        """
        key = (program, name)
        if key not in self._kernels:
            if program not in self._programs:
                raise FormatError(f"needs program {program!r}, which the entry does not have", where="plan")
            self._kernels[key] = self._programs[program].kernel(name)
        return self._kernels[key]

    def bind(self, index: int, binder: str) -> BoundPlan:
        """A plan of the entry with memory of its own."""
        return BoundPlan(self.plan(index), self._memory, self.kernel, self.weights, binder)

    def open_weights(self) -> None:
        """Take the weights, shared with other sessions of this process."""
        key = int(self.device.handle.int_ptr)
        for name, blob in self.entry.weights.items():
            make = partial(WeightSet, blob.unchecked(), self._memory)
            self.weights[name] = shared.shared_weights(key, blob.sha256, make)

    @contextmanager
    def first_launch(self) -> Iterator[None]:
        """Stands for the first run: a crash counts against the programs, success speaks for them."""
        store = self.store
        if store is None or not store.usable:
            yield
            return
        names = [c.marker(self.device) for c in self.codes]
        if self.on_probation:
            self._staying += [m for m in (store.attempt(partial(store.markers.stay, n), None) for n in names) if m]
            yield
            self._since = time.monotonic()
            return
        with ExitStack() as stack:
            for name in names:
                stack.enter_context(store.guard(name, "first launch"))
            yield
        self._passed(store, names)

    def worked_again(self) -> None:
        """Called after later runs: ends a probation when the programs have worked for a while."""
        if self._staying and time.monotonic() - self._since > PROBATION_S and self.store is not None:
            self.release()
            self._passed(self.store, [c.marker(self.device) for c in self.codes])

    def release(self) -> None:
        """End a probation without a verdict: the session is closed."""
        for marker in self._staying:
            marker.remove()
        self._staying = []

    def _passed(self, store: Store, names: Sequence[str]) -> None:
        for name in names:
            store.markers.passed(name)
        if self.pair:
            store.keep(partial(store.vouched.add, self.pair))


class Opener:
    """Opens entries of one file on one device.

    Args:
        opened: The file.
        device: The device.
        options: How to load.
        report: Takes times and reasons.
    """

    def __init__(self, opened: OpenedFile, device: DeviceInfo, options: LoadOptions, report: StartReport) -> None:
        self._opened = opened
        self._device = device
        self._options = options
        self._report = report
        self._store = Store.open() if options.cache else None
        self._loader = ProgramLoader(device, self._store, report)
        if self._store is None:
            report.note("no cache is used: there are no crash markers")
        elif not self._store.usable:
            report.note("the cache cannot be used: there are no crash markers")

    def open(self) -> OpenEntry:
        """The first candidate that works.

        Raises:
            NoFitError: None does; with the reasons.
        """
        if not any(e.plans for e in self._opened.file.entries):
            raise NoFitError("holds kernels only, no network that could be run", where=self._opened.path)
        reasons: list[str] = []
        for candidate, why_not in candidates(self._opened.file, self._device):
            try:
                entry = None if why_not else self._open_twice(candidate, reasons)
            except MaceError as error:
                entry, why_not = None, str(error)
            if entry is not None:
                self._finish_report(entry)
                return entry
            reasons.append(f"{candidate.label}: {why_not}")
        raise NoFitError(f"holds nothing that {self._device.label} can use", where=self._opened.path, reasons=reasons)

    def _finish_report(self, entry: OpenEntry) -> None:
        self._report.entry = entry.entry.name
        for trouble in self._store.trouble if self._store is not None else ():
            self._report.note(trouble)

    def _open_twice(self, candidate: Candidate, reasons: Sequence[str]) -> OpenEntry:
        """Open a candidate; once more, without it, where the driver refuses a program of the cache."""
        try:
            return self._open(candidate, reasons)
        except DeviceError as error:
            if not self._loader.refused_cached:
                raise
            self._loader.refused_cached = False
            self._report.note(f"a program of the cache was refused, it is built anew: {error}")
            return self._open(candidate, reasons)

    def _open(self, candidate: Candidate, reasons: Sequence[str]) -> OpenEntry:
        if not candidate.entry.plans:
            raise FormatError("the entry has no plan")
        report, loader = self._report, self._loader
        check = WeightCheck(self._opened, list(candidate.entry.weights.values()), self._store)
        entry = OpenEntry(candidate, self._device, self._store)
        builds_before = loader.source_builds
        plan = Meanwhile(partial(entry.plan, 0))
        plans = (entry.plan(i) for i in range(len(candidate.entry.plans)))
        entry.codes = loader.find(candidate, plans)
        self._vouch_or_try(entry, plan)
        for code in entry.codes:
            program, kernels, was_shared = loader.load(code, plan, self._options.markers)
            entry.add_program(code.name, program, kernels)
            source = "shared" if was_shared else code.source
            report.programs.append(ProgramStart(code.name, candidate.entry.name, source, tuple(reasons)))
        entry.source_builds = loader.source_builds - builds_before
        with report.timed("hashing"):
            check.finish()
        with report.timed("weights"):
            entry.open_weights()
        return entry

    def _vouch_or_try(self, entry: OpenEntry, plan: Meanwhile[Plan]) -> None:
        """Try programs and plan in a child process, where that is asked for or nothing vouches for them.

        Raises:
            DeviceError: They are set aside, or fail in the child.
        """
        probe, store = self._options.probe, self._store
        suspects = [c for c in entry.codes if self._loader.check_markers(c, probe != "never")]
        trial = Trial(self._device, entry.candidate, self._opened, entry.codes, plan)
        entry.pair = trial.pair
        if not suspects and not self._wants_trial(probe, trial):
            entry.on_probation = probe == "never" and not self._is_trusted(trial)
            return
        if not all(c.binary for c in entry.codes):
            return  # built in this process, from source: there is nothing to hand to a child
        self._report.note("the programs were tried in a child process first")
        with self._report.timed("probe"):
            try:
                death = trial.run()
            except DeviceError:
                for code in entry.codes:
                    self._loader.forget(code)
                raise
        names = [c.marker(self._device) for c in (entry.codes if death else suspects)]
        if store is not None:
            for name in names:
                action = partial(store.markers.condemn, name, death) if death else partial(store.markers.forgive, name)
                store.keep(action)
        if death:
            raise DeviceError(death)
        if store is not None:
            store.keep(partial(store.vouched.add, trial.pair))

    def _wants_trial(self, probe: str, trial: Trial) -> bool:
        return probe == "always" or (probe == "auto" and not self._is_trusted(trial))

    def _is_trusted(self, trial: Trial) -> bool:
        """Whether something vouches for programs and plan together."""
        if self._opened.signed or self._opened.made_here:
            return True
        return self._store is not None and self._store.usable and self._store.vouched.has(trial.pair)


def open_entry(opened: OpenedFile, device: DeviceInfo, options: LoadOptions, report: StartReport) -> OpenEntry:
    """Open the first candidate that works; see `Opener`."""
    return Opener(opened, device, options, report).open()
