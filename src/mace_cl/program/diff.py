"""Compares two files of any version, fact by fact."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from mace_cl.program.macefile.contents import MaceContents
from mace_cl.program.merge import shapes_text
from mace_cl.program.open import ProgramFile, forms_of
from mace_cl.program.records import Blob, Entry

GROUPS = ("file", "identity", "requirements", "kernels", "programs", "tuned parameters", "plans", "sections")


@dataclass(frozen=True)
class Difference:
    """One fact that differs.

    Attributes:
        group: One of GROUPS.
        name: What it is.
        first, second: Its value in each file; None where it is missing.
    """

    group: str
    name: str
    first: str | None
    second: str | None


def diff_files(first: ProgramFile, second: ProgramFile) -> list[Difference]:
    """Every fact that differs, group by group."""
    mine, theirs = _facts(first), _facts(second)
    found = [
        Difference(group, name, mine.get((group, name)), theirs.get((group, name)))
        for group, name in dict.fromkeys([*mine, *theirs])
        if mine.get((group, name)) != theirs.get((group, name))
    ]
    return sorted(found, key=lambda d: GROUPS.index(d.group))


Facts = dict[tuple[str, str], str]


def _facts(file: ProgramFile) -> Facts:
    facts: Facts = {("file", "version"): str(file.version)}
    if file.contents is not None:
        return facts | _mace_facts(file.contents)
    assert file.compiled is not None
    facts |= {("file", "target_gpu"): file.compiled.target_gpu}
    facts |= {("file", "driver_version"): file.compiled.driver_version}
    facts |= {("file", f"model {k}"): str(v) for k, v in asdict(file.compiled.model).items()}
    facts |= {("file", f"provenance {k}"): str(v) for k, v in sorted(file.compiled.provenance.items())}
    facts |= {("file", f"header key {k}"): str(v) for k, v in sorted(file.compiled.extra_header.items())}
    seen: dict[str, int] = {}
    for entry in file.compiled.entries:
        seen[entry.name] = seen.get(entry.name, 0) + 1
        label = entry.name if seen[entry.name] == 1 else f"{entry.name} ({seen[entry.name]})"
        facts |= _entry_facts(label, entry)
    for section in file.sections:
        name = f"{section.kind} {section.name!r}"
        facts[("sections", name)] = f"{section.size} bytes, {section.sha256[:16]}"
    return facts


def _entry_facts(label: str, entry: Entry) -> Facts:
    facts: Facts = {("file", f"entry {label!r}"): "there"}
    identity: Mapping[str, Any] = {} if entry.identity is None else entry.identity.to_json()
    facts |= {("identity", f"{label}: {k}"): str(v) for k, v in identity.items()}
    facts |= {("requirements", f"{label}: {k}"): str(v) for k, v in entry.requires.to_json().items()}
    for name, program in entry.programs.items():
        facts[("programs", f"{label}: {name} options")] = program.options
        facts |= {("programs", f"{label}: {name} {f}"): _content(b) for f, b in forms_of(program).items()}
        for kernel in program.kernels:
            arguments = ", ".join(f"{t} {n}".strip() for n, t in kernel.args)
            facts[("kernels", f"{label}: {name} {kernel.name}")] = f"({arguments})"
    facts |= {("plans", f"{label}: {shapes_text(p.input_shapes)}"): _content(p.blob) for p in entry.plans}
    facts |= {("tuned parameters", f"{label}: {k}"): str(v) for k, v in sorted(entry.tuning.items())}
    facts |= {("programs", f"{label}: weights {n}"): _content(b) for n, b in entry.weights.items()}
    return facts


def _content(blob: Blob) -> str:
    return f"{blob.size} bytes, {blob.sha256[:16]}"


def _mace_facts(contents: MaceContents) -> Facts:
    facts: Facts = {("identity", "device_name"): contents.device_name}
    if contents.platform is not None:
        values = asdict(contents.platform)
        adreno = values.pop("adreno") or {}
        facts |= {("identity", k): str(v) for k, v in {**values, **adreno}.items()}
    for program in contents.programs:
        blob = Blob("program", program.key, program.binary)
        facts[("programs", program.key)] = f"{_content(blob)}, source {program.source_hash or 'unknown'}"
        facts |= {("kernels", f"{program.key}: {plain}"): function for plain, function in program.kernels}
    facts |= {("tuned parameters", t.name): str(list(t.values)) for t in contents.tuned}
    return facts
