"""From the programs of an entry to programs on the device: the file's own bytes, or built here from IL or source."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from mace_cl.errors import FormatError
from mace_cl.opencl.build import build_program
from mace_cl.opencl.devices import DeviceInfo
from mace_cl.opencl.programs import LoadedProgram, program_from_binary
from mace_cl.program.plan import Launch, Plan
from mace_cl.program.records import ProgramForms
from mace_cl.runtime import shared
from mace_cl.runtime.choice import Candidate, portable_forms
from mace_cl.runtime.report import ProgramStart, StartReport
from mace_cl.runtime.source import LoadOptions


def local_sizes(plans: Iterable[Plan]) -> Mapping[str, tuple[tuple[int, ...], ...]]:
    """Work-group sizes that plans launch, by program."""
    sizes: dict[str, dict[tuple[int, ...], None]] = {}
    for plan in plans:
        for step in plan.steps:
            if isinstance(step, Launch) and step.local_size:
                sizes.setdefault(step.program, {})[step.local_size] = None
    return {program: tuple(found) for program, found in sizes.items()}


def kernels_used(plan: Plan) -> Mapping[str, tuple[str, ...]]:
    """Kernels that a plan launches, by program, in order of first use."""
    used: dict[str, dict[str, None]] = {}
    for step in plan.steps:
        if isinstance(step, Launch):
            used.setdefault(step.program, {})[step.kernel] = None
    return {program: tuple(names) for program, names in used.items()}


class ProgramLoader:
    """Loads programs for one session.

    Args:
        device: Where.
        options: How.
        report: Takes times and where each program came from.

    Attributes:
        source_builds: Programs built from source or IL so far.
    """

    def __init__(self, device: DeviceInfo, options: LoadOptions, report: StartReport) -> None:
        self._device = device
        self._options = options
        self._report = report
        self.source_builds = 0

    def compiles(self, candidate: Candidate) -> bool:
        """Whether a candidate's programs may have to be compiled."""
        return candidate.form != "binary"

    def load(
        self, candidate: Candidate, sizes: Mapping[str, Sequence[tuple[int, ...]]], reasons: Sequence[str]
    ) -> dict[str, LoadedProgram]:
        """The programs of an entry.

        Args:
            candidate: The entry and its form.
            sizes: Work-group sizes that its plans launch, by program.
            reasons: What spoke against earlier candidates.

        Raises:
            FormatError: A program is damaged.
            DeviceError: The driver refuses one.
            BuildError: The compiler refuses one.
        """
        programs: dict[str, LoadedProgram] = {}
        for name, forms in candidate.entry.programs.items():
            with self._report.timed("program"):
                if candidate.form == "binary":
                    programs[name], source = self._from_file(forms)
                else:
                    programs[name], source = self._build(forms, sizes.get(name, ()))
            self._report.programs.append(ProgramStart(name, candidate.entry.name, source, tuple(reasons)))
        return programs

    def _from_file(self, forms: ProgramForms) -> tuple[LoadedProgram, str]:
        if forms.binary is None:
            raise FormatError("holds no compiled program")
        data = forms.binary.checked()  # no driver sees a byte before this
        key = int(self._device.handle.int_ptr)
        found = shared.find_program(key, forms.binary.sha256, forms.options)
        if found is not None:
            return found, "shared"
        program = program_from_binary(self._device, data, forms.options, [k.name for k in forms.kernels])
        shared.share_program(key, forms.binary.sha256, forms.options, program)
        return program, "file"

    def _build(self, forms: ProgramForms, sizes: Sequence[tuple[int, ...]]) -> tuple[LoadedProgram, str]:
        form = portable_forms(forms, self._device)[0]
        blob = forms.il if form == "il" else forms.source
        if blob is None:
            raise FormatError("holds no source of a program")
        data = bytes(blob.checked())
        names = [k.name for k in forms.kernels]
        built = build_program(
            self._device,
            data if form == "il" else data.decode("utf-8", "replace"),
            forms.options,
            kernels=names,
            local_sizes=sizes or ((1, 1, 1),),
        )
        self.source_builds += 1
        return program_from_binary(self._device, built.binary, built.options, names), "built"
