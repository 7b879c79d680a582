"""Joins the device entries of several files of one network into one file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from mace_cl.errors import UsageError
from mace_cl.program.open import forms_of
from mace_cl.program.records import Blob, CompiledFile, Entry

PREFER = ("none", "first", "last")
"""What becomes of two different entries for one device: an error, the first file's, or the last file's."""


def merge_files(files: Sequence[tuple[str, CompiledFile]], prefer: str = "none") -> CompiledFile:
    """Join files: compiled entries first, in the order given, then the portable ones. Signatures are dropped.

    Args:
        files: (name for messages, records) of each.
        prefer: One of PREFER.

    Raises:
        UsageError: They hold different networks, or two of them say different things of one device.
    """
    if not files:
        raise UsageError("no file to merge")
    first_name, first = files[0]
    entries: list[tuple[str, Entry]] = []
    for name, file in files:
        _check_network(first_name, first, name, file)
        for entry in file.entries:
            _add(entries, name, entry, prefer)
    ordered = sorted((e for _, e in entries), key=lambda e: e.identity is None)
    lead = next((f for _, f in files if f.entries and f.entries[0] is ordered[0]), first) if ordered else first
    return replace(
        first,
        target_gpu=lead.target_gpu,
        driver_version=lead.driver_version,
        entries=tuple(ordered),
        provenance=_provenance([f for _, f in files]),
        requires_features=tuple(sorted({r for _, f in files for r in f.requires_features})),
        extra_header=_extra_header(files),
        extra_blobs=_extra_blobs([f for _, f in files]),
    )


def _check_network(first_name: str, first: CompiledFile, name: str, file: CompiledFile) -> None:
    if file.model.graph_sha256 != first.model.graph_sha256:
        raise UsageError(
            f"{name} holds another network ({file.model.name!r}, {file.model.graph_sha256[:12]}) than {first_name} "
            f"({first.model.name!r}, {first.model.graph_sha256[:12]})"
        )


def _add(entries: list[tuple[str, Entry]], name: str, entry: Entry, prefer: str) -> None:
    """Add an entry, unless it is there; settle or name a conflict."""
    for i, (other_name, other) in enumerate(entries):
        if entry.identity != other.identity or (entry.identity is None and entry.requires != other.requires):
            continue
        differences = entry_differences(other, entry)
        if not differences:
            return
        if prefer == "none":
            device = "a portable entry" if entry.identity is None else f"the device {entry.identity.device_name!r}"
            raise UsageError(
                f"{other_name} and {name} hold different things for {device}: {', '.join(differences)}",
                hint="choose with --prefer first or --prefer last",
            )
        if prefer == "last":
            entries[i] = (name, entry)
        return
    entries.append((name, entry))


def entry_differences(one: Entry, other: Entry) -> list[str]:
    """Names of the parts in which two entries differ."""
    mine, theirs = _parts(one), _parts(other)
    return [k for k in sorted(set(mine) | set(theirs)) if mine.get(k) != theirs.get(k)]


def _parts(entry: Entry) -> dict[str, Any]:
    """The entry's content under a name for each part; sections by their hash."""
    parts: dict[str, Any] = {"requirements": entry.requires, "tuned parameters": dict(entry.tuning)}
    parts["features"] = sorted(entry.requires_features)
    for name, program in entry.programs.items():
        parts |= {f"{form} of program {name}": blob.sha256 for form, blob in forms_of(program).items()}
        parts[f"options of program {name}"] = (program.options, program.kernels)
    parts |= {f"weights {name}": blob.sha256 for name, blob in entry.weights.items()}
    parts |= {f"plan for {shapes_text(p.input_shapes)}": p.blob.sha256 for p in entry.plans}
    parts["self-test"] = entry.selftest.sha256 if entry.selftest is not None else None
    return parts


def shapes_text(shapes: Mapping[str, tuple[int, ...]]) -> str:
    """Input shapes in one line: 'x=1x3x224x224'."""
    return " ".join(f"{n}={'x'.join(map(str, s))}" for n, s in sorted(shapes.items())) or "no input"


def _provenance(files: Sequence[CompiledFile]) -> dict[str, Any]:
    """One provenance where all are equal; else a list of the different ones."""
    different: list[dict[str, Any]] = []
    for file in files:
        own = dict(file.provenance)
        for one in own.get("merged", [own]):
            if one not in different:
                different.append(one)
    return different[0] if len(different) == 1 else {"merged": different}


def _extra_header(files: Sequence[tuple[str, CompiledFile]]) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for name, file in files:
        for key, value in file.extra_header.items():
            if merged.setdefault(key, value) != value:
                raise UsageError(f"the header key {key!r} of {name} is another than that of the files before")
    return merged


def _extra_blobs(files: Sequence[CompiledFile]) -> tuple[Blob, ...]:
    return tuple({(b.kind, b.sha256): b for f in files for b in f.extra_blobs}.values())
