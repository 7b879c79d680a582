"""Builds programs in a child process: a compiler that crashes or hangs gives an error that names the kernel.

Sections of a source that begin with `// ---- name` can be built without one another; that is how the kernel that
crashes a compiler is found.
"""

from __future__ import annotations

import os
import re
import signal
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mace_cl.errors import BuildError, DeviceError
from mace_cl.opencl.build_log import first_error
from mace_cl.opencl.child import ChildResult, run_child
from mace_cl.opencl.devices import DeviceInfo
from mace_cl.program.records import KernelRecord

WORKER = "mace_cl.opencl.build_worker"
DEFAULT_TIMEOUT_S = 900.0
SPECIALIZE = "POCL_BINARY_SPECIALIZE_WG"
ARG_INFO = "-cl-kernel-arg-info"

_SECTION = re.compile(r"^// ---- (\S+)$", re.M)


@dataclass(frozen=True)
class BuiltProgram:
    """What a build gives.

    Attributes:
        binary: The driver's bytes, with every kernel's final code; empty where the driver gives none.
        log: The compiler's text.
        kernels: Its kernels with their arguments, in the order asked for.
        options: The options that it was built with; to be given again when the binary is loaded.
        seconds: Time that it took.
    """

    binary: bytes
    log: str
    kernels: tuple[KernelRecord, ...]
    options: str
    seconds: float


def build_program(
    device: DeviceInfo,
    source: str | bytes,
    options: str = "",
    *,
    kernels: Sequence[str] = (),
    local_sizes: Iterable[Sequence[int]] = ((1, 1, 1),),
    timeout_s: float | None = DEFAULT_TIMEOUT_S,
) -> BuiltProgram:
    """Build OpenCL C (text) or SPIR-V (bytes) for a device, in a child process.

    Args:
        device: For which one.
        source: The program.
        options: Build options; those for argument information are added.
        kernels: Names that it must hold; empty for all that it has.
        local_sizes: The work-group sizes that will be launched; PoCL compiles its final code for these alone.
        timeout_s: Longest time for the compiler; None for no limit.

    Raises:
        BuildError: The compiler refuses, crashes or hangs; the message names file and line, or the kernel.
        DeviceError: The driver cannot be used from a child process.
    """
    form = "source" if isinstance(source, str) else "il"
    if form == "source" and ARG_INFO not in options:
        options = f"{options} {ARG_INFO}".strip()
    task = _Task(device, form, options, tuple(dict.fromkeys(tuple(s) for s in local_sizes)), timeout_s)
    start = time.monotonic()
    payload = source.encode() if isinstance(source, str) else source
    result = task.run(payload, kernels)
    if result.died:
        raise _crash(task, source, kernels, result)
    values = result.values
    if not values["ok"]:
        raise _refusal(device, values, source if isinstance(source, str) else "")
    records = tuple(KernelRecord(n, tuple((a, t) for a, t in args)) for n, args in values["kernels"])
    return BuiltProgram(result.payload, values["log"], records, options, time.monotonic() - start)


@dataclass(frozen=True)
class _Task:
    """What stays the same when parts of a program are built."""

    device: DeviceInfo
    form: str
    options: str
    local_sizes: tuple[tuple[int, ...], ...]
    timeout_s: float | None

    def run(self, payload: bytes, kernels: Sequence[str]) -> ChildResult:
        request = {
            "device": self.device.identity.digest,
            "vendor": self.device.vendor,
            "form": self.form,
            "options": self.options,
            "kernels": list(kernels),
        }
        if self.device.vendor != "pocl":
            return run_child(WORKER, request, payload, timeout_s=self.timeout_s)
        # PoCL keeps every stage of a build in its cache folder: here one that goes away.
        with tempfile.TemporaryDirectory(prefix="mace-cl-pocl-", ignore_cleanup_errors=True) as folder:
            env = {SPECIALIZE: specialisations(self.local_sizes), "POCL_CACHE_DIR": folder}
            env = {k: v for k, v in env.items() if k not in os.environ}
            return run_child(WORKER, request, payload, env=env, timeout_s=self.timeout_s)


def specialisations(local_sizes: Iterable[Sequence[int]]) -> str:
    """PoCL's name for the code that its binaries shall hold: one for each work-group size."""
    padded = ((*s, 1, 1, 1)[:3] for s in local_sizes)
    return ",".join("-".join(map(str, s)) + "-goffs0-smallgrid" for s in padded)


def _refusal(device: DeviceInfo, values: dict[str, str], source: str) -> BuildError | DeviceError:
    if values["kind"] != "build":
        return DeviceError(values["message"])
    error = first_error(values["log"], source)
    if error is None:
        return BuildError(values["message"], log=values["log"])
    return BuildError(f"{device.label} does not build it: {error}", where=error.place, log=values["log"])


# -- crashes ----------------------------------------------------------------------------------------------------


def _crash(task: _Task, source: str | bytes, kernels: Sequence[str], result: ChildResult) -> BuildError | DeviceError:
    phase = result.phases[-1] if result.phases else "start"
    if result.returncode == -signal.SIGKILL and not result.timed_out:
        # Not the compiler's doing: the user, or a system without memory.
        return DeviceError(f"the compiler's process {result.cause}", hint="is there enough memory?")
    if phase in ("start", "device"):
        return DeviceError(f"a child process that opens {task.device.label} {result.cause}: {result.stderr}")
    if phase.startswith("kernel "):
        guilty = phase.removeprefix("kernel ")
    elif isinstance(source, str) and phase == "build":
        guilty = _bisect(task, source, kernels)
    else:
        guilty = ""
    names = f"kernel {guilty!r}" if guilty else f"one of the kernels {', '.join(kernels) or 'of the program'}"
    return BuildError(
        f"the compiler of {task.device.label} {result.cause} on {names}",
        where=guilty or None,
        hint="simplify that kernel or choose other parameters; the process that asked for it is unharmed",
        log=result.stderr,
    )


def split_sections(source: str) -> tuple[str, list[tuple[str, str]]]:
    """What stands before the first section, and each section as (name, text)."""
    marks = list(_SECTION.finditer(source))
    if not marks:
        return source, []
    ends = [m.start() for m in marks[1:]] + [len(source)]
    return source[: marks[0].start()], [(m[1], source[m.start() : e]) for m, e in zip(marks, ends, strict=True)]


def _bisect(task: _Task, source: str, kernels: Sequence[str]) -> str:
    """The kernel without which the compiler survives; empty if no single one is to blame."""
    preamble, sections = split_sections(source)
    if not sections:
        return kernels[0] if len(kernels) == 1 else ""
    while len(sections) > 1:
        half = len(sections) // 2
        for part in (sections[:half], sections[half:]):
            names = [n for n, _ in part if n in kernels]
            if task.run((preamble + "".join(t for _, t in part)).encode(), names).died:
                sections = part
                break
        else:
            return ""
    return sections[0][0]
