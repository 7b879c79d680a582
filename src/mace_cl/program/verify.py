"""Checks everything that a version 3 file states about itself."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

from mace_cl.errors import FormatError
from mace_cl.program.container import HEAD, Container, Section
from mace_cl.program.plan import Launch, Plan
from mace_cl.program.reader import LazyJson, read_records
from mace_cl.program.records import Entry
from mace_cl.program.selftest import SelfTest

STEP_BYTES = 1 << 20


@dataclass(frozen=True)
class VerifyReport:
    """What was checked, and what is wrong (nothing, if the file is good).

    Attributes:
        checked: One line for each thing that was checked.
        faults: One line for each fault.
    """

    checked: tuple[str, ...]
    faults: tuple[str, ...]


def verify_container(container: Container) -> VerifyReport:
    """Hash every section, look between them, read every plan, compare plans with programs and weights."""
    checked = [f"header of {container.header_bytes} bytes, CRC-32 0x{container.crc32:08X}"]
    faults = [f"section {s.name!r}: its SHA-256 is not the stored one" for s in damaged_sections(container)]
    checked.append(f"{len(container.sections)} sections, {sum(s.size for s in container.sections)} bytes, SHA-256")
    faults += [f"bytes {a} to {b} between sections are not 0" for a, b in _dirty_gaps(container)]
    try:
        file = read_records(container, any_features=True)
    except FormatError as error:
        return VerifyReport(tuple(checked), (*faults, str(error)))
    for entry in file.entries:
        faults += _entry_faults(entry)
    checked.append(f"{len(file.entries)} entries with {sum(len(e.plans) for e in file.entries)} plans")
    return VerifyReport(tuple(checked), tuple(faults))


def check_content(container: Container) -> None:
    """Raise where `verify_container` finds a fault.

    Raises:
        FormatError: With every fault.
    """
    report = verify_container(container)
    if report.faults:
        raise FormatError("is damaged: " + "; ".join(report.faults[:8]), where=container.where)


def damaged_sections(container: Container) -> list[Section]:
    """Sections whose content is not what the header says."""
    return [s for s in container.sections if _sha256(container, s) != s.sha256]


def _sha256(container: Container, section: Section) -> str:
    digest = hashlib.sha256()
    end = section.offset + section.size
    for start in range(section.offset, end, STEP_BYTES):
        digest.update(container.data[start : min(start + STEP_BYTES, end)])
    return digest.hexdigest()


def _dirty_gaps(container: Container) -> Iterator[tuple[int, int]]:
    """Gaps between sections that hold something: no hash covers them."""
    position = HEAD.size + container.header_bytes
    for section in sorted((s for s in container.sections if s.size), key=lambda s: s.offset):
        for start in range(position, section.offset, STEP_BYTES):
            end = min(start + STEP_BYTES, section.offset)
            if any(bytes(container.data[start:end])):
                yield start, end
        position = section.offset + section.size


def _entry_faults(entry: Entry) -> list[str]:
    """What is wrong between the parts of an entry; hashes were compared before."""
    faults = [
        f"entry {entry.name!r}: program {n!r} has no form"
        for n, p in entry.programs.items()
        if p.binary is None and p.il is None and p.source is None
    ]
    for ref in entry.plans:
        try:
            plan = Plan.from_bytes(ref.blob.unchecked(), f"entry {entry.name!r}, plan")
        except FormatError as error:
            faults.append(str(error))
            continue
        faults += [f"entry {entry.name!r}: {f}" for f in _plan_faults(entry, plan)]
        shapes = {e.name: e.shape for e in plan.inputs}
        if shapes != dict(ref.input_shapes):
            faults.append(f"entry {entry.name!r}: a plan is for other input shapes than the header says")
    faults += _json_faults(entry)
    return faults


def _json_faults(entry: Entry) -> list[str]:
    try:
        if entry.selftest is not None:
            SelfTest.from_bytes(entry.selftest.unchecked(), f"entry {entry.name!r}, selftest")
        if isinstance(entry.tuning, LazyJson):
            len(entry.tuning)
    except FormatError as error:
        return [str(error)]
    return []


def _plan_faults(entry: Entry, plan: Plan) -> Iterator[str]:
    """What a plan speaks of and the entry does not have."""
    kernels = {n: {k.name for k in p.kernels} for n, p in entry.programs.items()}
    for step in plan.steps:
        if not isinstance(step, Launch):
            continue
        if step.program not in kernels:
            yield f"step {step.name!r} uses the program {step.program!r}, which is not there"
        elif kernels[step.program] and step.kernel not in kernels[step.program]:
            yield f"step {step.name!r} uses the kernel {step.kernel!r}, which is not in its program"
    for buffer in plan.buffers:
        if buffer.kind != "weights":
            continue
        blob = entry.weights.get(buffer.weights)
        if blob is None:
            yield f"buffer {buffer.name!r} uses the weights {buffer.weights!r}, which are not there"
        elif blob.size < buffer.size:
            yield f"buffer {buffer.name!r} has {buffer.size} bytes, its weights only {blob.size}"
