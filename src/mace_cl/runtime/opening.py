"""Opens the best entry of a file that works on a device."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mace_cl.errors import FormatError, MaceError, NoFitError
from mace_cl.opencl.devices import DeviceInfo
from mace_cl.opencl.memory import Memory
from mace_cl.opencl.programs import LoadedProgram
from mace_cl.program.plan import Plan
from mace_cl.program.records import Entry
from mace_cl.runtime import shared
from mace_cl.runtime.binding import BoundPlan, WeightSet
from mace_cl.runtime.choice import Candidate, candidates
from mace_cl.runtime.loading import ProgramLoader, kernels_used, local_sizes
from mace_cl.runtime.report import StartReport
from mace_cl.runtime.source import LoadOptions, OpenedFile

FINISHED_AT_BUILD = frozenset({"intel-cpu", "pocl"})
"""Drivers whose kernels need no further compilation once they are made."""


class OpenEntry:
    """An entry with its programs on the device.

    Args:
        candidate: The entry and its form.
        device: Where.
        loader: Loads its programs.
        report: Takes the times.
        reasons: What spoke against earlier candidates.

    Raises:
        FormatError: A plan or program is damaged.
        DeviceError: The driver refuses a program.
    """

    def __init__(
        self,
        candidate: Candidate,
        device: DeviceInfo,
        loader: ProgramLoader,
        report: StartReport,
        reasons: Sequence[str],
    ) -> None:
        self.entry: Entry = candidate.entry
        self.device = device
        self._loader = loader
        self._memory = Memory(device)
        self._plans: dict[int, Plan] = {}
        self._kernels: dict[tuple[str, str], Any] = {}
        with report.timed("reading"):
            first = self.plan(0)
            sizes = (
                local_sizes(self.plan(i) for i in range(len(self.entry.plans))) if loader.compiles(candidate) else {}
            )
        self._programs: Mapping[str, LoadedProgram] = loader.load(candidate, sizes, reasons)
        with report.timed("kernel_objects"):
            for program, names in kernels_used(first).items():
                for name in names:
                    self.kernel(program, name)
        with report.timed("weights"):
            self.weights = {n: self._weight_set(n) for n in self.entry.weights}

    @property
    def source_builds(self) -> int:
        """Programs that were built from source or IL for this load."""
        return self._loader.source_builds

    @property
    def needs_dry_run(self) -> bool:
        """Whether the driver compiles at the first launch."""
        return self.device.vendor not in FINISHED_AT_BUILD

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

    def plan(self, index: int) -> Plan:
        """A plan of the entry, read when first asked for.

        Raises:
            FormatError: It is damaged.
        """
        if index not in self._plans:
            blob = self.entry.plans[index].blob
            self._plans[index] = Plan.from_bytes(blob.checked(), f"plan {index} of {self.entry.name}")
        return self._plans[index]

    def _weight_set(self, name: str) -> WeightSet:
        blob = self.entry.weights[name]
        key = int(self.device.handle.int_ptr)
        return shared.shared_weights(key, blob.sha256, lambda: WeightSet(blob.unchecked(), self._memory))


def open_entry(opened: OpenedFile, device: DeviceInfo, options: LoadOptions, report: StartReport) -> OpenEntry:
    """Open the first candidate that works.

    Raises:
        NoFitError: None does; with the reasons.
    """
    found, reasons = candidates(opened.file, device)
    if not any(e.plans for e in opened.file.entries):
        raise NoFitError("holds kernels only, no network that could be run", where=opened.path)
    loader = ProgramLoader(device, options, report)
    for candidate in found:
        try:
            if not candidate.entry.plans:
                raise FormatError("the entry has no plan")
            entry = OpenEntry(candidate, device, loader, report, reasons)
        except MaceError as error:
            reasons.append(f"{candidate.label}: {error}")
            continue
        report.entry = candidate.entry.name
        return entry
    raise NoFitError(f"holds nothing that {device.label} can use", where=opened.path, reasons=reasons)
