"""From the programs of an entry to programs on the device: the file's own bytes, the cache's, or built here.

No driver sees a byte whose hash was not compared, nor a binary that took the process along before.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mace_cl.errors import BuildError, DeviceError, FormatError
from mace_cl.opencl.build import BuiltProgram, build_program
from mace_cl.opencl.devices import DeviceInfo
from mace_cl.opencl.programs import LoadedProgram, program_from_binary, program_from_il, program_from_source
from mace_cl.program.plan import Launch, Plan
from mace_cl.program.records import Blob, ProgramForms
from mace_cl.runtime import shared
from mace_cl.runtime.choice import Candidate, portable_forms
from mace_cl.runtime.meanwhile import Meanwhile
from mace_cl.runtime.report import StartReport
from mace_cl.store.markers import LIMIT
from mace_cl.store.programs import program_key
from mace_cl.store.store import Store
from mace_cl.store.tokens import token


def local_sizes(plans: Iterable[Plan]) -> Mapping[str, tuple[tuple[int, ...], ...]]:
    """Work-group sizes that plans launch, by program."""
    sizes: dict[str, set[tuple[int, ...]]] = {}
    for plan in plans:
        for step in plan.launches:
            if step.local_size:
                sizes.setdefault(step.program, set()).add(step.local_size)
    return {program: tuple(sorted(found)) for program, found in sizes.items()}


def kernels_used(plan: Plan) -> Mapping[str, tuple[str, ...]]:
    """Kernels that a plan launches, by program, in order of first use."""
    used: dict[str, dict[str, None]] = {}
    for step in plan.steps:
        if isinstance(step, Launch):
            used.setdefault(step.program, {})[step.kernel] = None
    return {program: tuple(names) for program, names in used.items()}


@dataclass(frozen=True)
class Code:
    """What a program is made of on this device.

    Attributes:
        name: Logical name in the entry.
        source: 'file', 'cache' or 'built': where the bytes come from.
        kernels: What it must hold.
        options: Options that it was built with.
        binary: Checked bytes; empty where the driver gives none.
        sha256: Of the binary, or of the source.
        cache_key: Its name in the cache; '' for the file's own.
        text: IL or source, for drivers that give no binary.
    """

    name: str
    source: str
    kernels: tuple[str, ...]
    options: str
    binary: bytes | memoryview
    sha256: str
    cache_key: str = ""
    text: bytes = b""

    def marker(self, device: DeviceInfo) -> str:
        """Its name among the crash markers; it changes with the driver."""
        return token("marker", self.sha256, self.options, device.identity.digest)


class ProgramLoader:
    """Finds and loads programs for one session.

    Args:
        device: Where.
        store: This machine's cache; None to use none.
        report: Takes times.

    Attributes:
        source_builds: Programs built from source or IL so far.
        refused_cached: Whether the driver refused a program of the cache, which is worth a second attempt.
    """

    def __init__(self, device: DeviceInfo, store: Store | None, report: StartReport) -> None:
        self._device = device
        self._store = store
        self._report = report
        self.source_builds = 0
        self.refused_cached = False

    # -- bytes ------------------------------------------------------------------------------------------------

    def find(self, candidate: Candidate, plans: Iterable[Plan]) -> list[Code]:
        """The code of every program of a candidate; built where there is none.

        Raises:
            FormatError: A program is damaged.
            BuildError: The compiler refuses one, now or at an earlier start.
            DeviceError: There is no way to build one.
        """
        programs = candidate.entry.programs
        if candidate.form == "binary":
            return [self._from_file(name, forms) for name, forms in programs.items()]
        sizes = local_sizes(plans)
        return [self._from_source(name, forms, sizes.get(name, ())) for name, forms in programs.items()]

    def _from_file(self, name: str, forms: ProgramForms) -> Code:
        if forms.binary is None:
            raise FormatError("holds no compiled program", where=f"program {name!r}")
        with self._report.timed("hashing"):
            data = forms.binary.checked()
        kernels = tuple(k.name for k in forms.kernels)
        return Code(name, "file", kernels, forms.options, data, forms.binary.sha256)

    def _from_source(self, name: str, forms: ProgramForms, sizes: Sequence[tuple[int, ...]]) -> Code:
        form = portable_forms(forms, self._device)[0]
        blob = forms.il if form == "il" else forms.source
        if blob is None:
            raise FormatError("holds no source", where=f"program {name!r}")
        # The driver's own options belong to the device, those of the file to the program.
        own = self._device.facts.build_options if form == "source" else ()
        options = " ".join(o for o in (forms.options, *own) if o and (o == forms.options or o not in forms.options))
        job = _Job(name, form, blob, options, tuple(k.name for k in forms.kernels), tuple(sizes))
        store = self._store
        if store is None or not store.usable:
            return self._build(job, "")
        key = job.key(self._device)
        found = self._cached(job, key, store)
        if found is not None:
            return found
        with store.lock(key):
            return self._cached(job, key, store) or self._build(job, key)

    def _cached(self, job: _Job, key: str, store: Store) -> Code | None:
        failure = store.programs.failure(key)
        if failure is not None:
            raise BuildError(
                "did not build on this device at an earlier start",
                where=f"program {job.name!r}",
                hint="`mace cache clear` forgets that",
                log=failure,
            )
        cached, why = store.programs.get(key)
        if why:
            self._report.note(f"program {job.name!r} in the cache {why}: it is built anew")
        if cached is None:
            return None
        return Code(job.name, "cache", job.kernels, cached.options, cached.binary, cached.sha256, key)

    def _build(self, job: _Job, key: str) -> Code:
        data = bytes(job.blob.checked())
        self.source_builds += 1
        try:
            with self._report.timed("build"):
                built = build_program(
                    self._device,
                    data if job.form == "il" else data.decode("utf-8", "replace"),
                    job.options,
                    kernels=job.kernels,
                    local_sizes=job.sizes or ((1, 1, 1),),
                )
        except BuildError as error:
            if key and self._store is not None and "no space left" not in error.log.lower():
                remember = functools.partial(self._store.programs.put_failure, key, error.message, error.log)
                self._store.keep(remember)
            raise
        if not built.binary:
            self._report.note(f"the driver of {self._device.label} gives no binary: program {job.name!r} is not kept")
            return Code(job.name, "built", job.kernels, built.options, b"", job.blob.sha256, "", data)
        if key and self._store is not None:
            self._store.keep(functools.partial(self._keep, job, key, built, self._store))
        return Code(job.name, "built", job.kernels, built.options, built.binary, _sha256(built.binary), key)

    def _keep(self, job: _Job, key: str, built: BuiltProgram, store: Store) -> None:
        about = {
            "program": job.name,
            "device": self._device.label,
            "driver": self._device.identity.driver_version,
            "kernels": list(job.kernels),
            "seconds": round(built.seconds, 3),
        }
        store.programs.put(key, built.binary, built.options, about)

    # -- programs ---------------------------------------------------------------------------------------------

    def check_markers(self, code: Code, may_probe: bool) -> bool:
        """Whether a binary has to be tried in a child process before this one may load it.

        Args:
            code: The program.
            may_probe: Whether a child process may be used.

        Raises:
            DeviceError: It is set aside.
        """
        if self._store is None or not self._store.usable:
            return False
        markers, name = self._store.markers, code.marker(self._device)
        condemned = markers.condemned(name)
        if condemned is not None:
            raise DeviceError(f"is set aside until the driver changes: {condemned}", where=f"program {code.name!r}")
        if markers.strikes(name) < LIMIT:
            return False
        if may_probe and not markers.is_forgiven(name):
            return True
        raise DeviceError("is set aside: two starts in a row did not survive it", where=f"program {code.name!r}")

    def load(self, code: Code, plan: Meanwhile[Plan], guarded: bool) -> tuple[LoadedProgram, dict[str, Any], bool]:
        """Load a program and make its kernels: program, kernel objects by name, and whether another session had it.

        Args:
            code: What to load.
            plan: Whose kernels are needed; it is read while the driver loads the program.
            guarded: Whether a crash marker stands for the time.

        Raises:
            DeviceError: The driver refuses; the cache forgets the program then.
        """
        key = int(self._device.handle.int_ptr)
        found = shared.find_program(key, code.sha256, code.options)
        try:
            if found is None and guarded and self._store is not None:
                with self._store.guard(code.marker(self._device), "create"):
                    program, made = self._load(code, found, plan)
            else:
                program, made = self._load(code, found, plan)
        except DeviceError:
            self.forget(code)
            raise
        if found is None:
            shared.share_program(key, code.sha256, code.options, program)
        return program, made, found is not None

    def forget(self, code: Code) -> None:
        """Take a program that the driver refuses out of the cache."""
        if code.cache_key and self._store is not None:
            self._store.programs.discard(code.cache_key)
            self.refused_cached = self.refused_cached or code.source == "cache"

    def _load(
        self, code: Code, found: LoadedProgram | None, plan: Meanwhile[Plan]
    ) -> tuple[LoadedProgram, dict[str, Any]]:
        with self._report.timed("program"):
            if found is None:
                plan.start()
                found = self._create(code)
        with self._report.timed("reading"):
            names = kernels_used(plan.result()).get(code.name, ())
        with self._report.timed("kernel_objects"):
            return found, {name: found.kernel(name) for name in names}

    def _create(self, code: Code) -> LoadedProgram:
        if code.binary:
            return program_from_binary(self._device, code.binary, code.options, code.kernels)
        if code.text[:4] in (b"\x03\x02\x23\x07", b"\x07\x23\x02\x03"):
            return program_from_il(self._device, code.text, code.options, code.kernels)
        return program_from_source(self._device, code.text.decode("utf-8", "replace"), code.options, code.kernels)


@dataclass(frozen=True)
class _Job:
    """A program to be built."""

    name: str
    form: str
    blob: Blob
    options: str
    kernels: tuple[str, ...]
    sizes: tuple[tuple[int, ...], ...]

    def key(self, device: DeviceInfo) -> str:
        """Its name in the cache."""
        # Only PoCL makes its final code for chosen work-group sizes.
        sizes = self.sizes if device.vendor == "pocl" else ()
        return program_key(device.identity.digest, self.form, self.blob.sha256, self.options, self.kernels, sizes)


def _sha256(data: bytes) -> str:
    return Blob("program", "", data).sha256
