"""What `mace inspect` shows, as plain values: any compiled file, or any binary of a driver.

Weights are not read: their hashes stand in the header.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mace_cl.errors import FormatError
from mace_cl.program.container import Container, is_version3, read_container
from mace_cl.program.macefile.contents import MaceContents, MaceProgram, read_contents
from mace_cl.program.macefile.files import read_mace_file
from mace_cl.program.macefile.records import MaceFile
from mace_cl.program.open import forms_of
from mace_cl.program.plan import KNOWN_FEATURES, Launch, Plan
from mace_cl.program.reader import LazyJson, read_records
from mace_cl.program.records import SECTION_KINDS, Blob, CompiledFile, Entry, ProgramForms
from mace_cl.program.selftest import SelfTest
from mace_cl.program.vendors.registry import describe_binary, recognise_format


def describe_file(data: memoryview, where: str) -> dict[str, Any]:
    """Describe a file of any kind.

    Args:
        data: The whole file.
        where: Its name.

    Returns:
        Plain values; `format` is 'mace-cl', 'MACE' or the key of a driver's format.

    Raises:
        FormatError: It is a version 3 file and damaged.
    """
    head = {"file": where, "size": data.nbytes}
    if is_version3(data):
        return head | _version3(read_container(data, where))
    mace = _mace_file(data, where)
    if mace is not None:
        return head | _mace(mace)
    found = describe_binary(data).to_json()
    return head | {"format": found["kind"], "version": None, "description": found}


def describe_folder(path: str | os.PathLike[str]) -> dict[str, Any] | None:
    """pyopencl's cache entry, which is a folder; None if it is none. Its pickles are not opened."""
    folder = Path(path)
    names = {"info", "binary", "source.cl"}
    if not names <= {p.name for p in folder.iterdir()}:
        return None
    found: dict[str, Any] = {"file": str(path), "size": 0, "format": "pyopencl-cache", "version": None}
    found["description"] = {
        "kind": "pyopencl-cache",
        "title": "entry of pyopencl's cache (pickled: not opened)",
        "size": sum((folder / n).stat().st_size for n in names),
        "fields": {},
        "kernels": [],
        "parts": [],
    }
    return found


def _mace_file(data: memoryview, where: str) -> MaceFile | None:
    """The file as one of MACE's, if it is one; a damaged version 2 counts only where nothing else fits better."""
    try:
        return read_mace_file(data, where)
    except FormatError:
        pass
    if recognise_format(data) is not None:
        return None
    try:
        return read_mace_file(data, where, check_crc=False)
    except FormatError:
        return None


# -- version 3 ----------------------------------------------------------------------------------------------------


def _version3(container: Container) -> dict[str, Any]:
    file = read_records(container, any_features=True)
    return {
        "format": "mace-cl",
        "version": 3,
        "target_gpu": file.target_gpu,
        "driver_version": file.driver_version,
        "crc32": f"0x{container.crc32:08X}",
        "header_bytes": container.header_bytes,
        "model": asdict(file.model),
        "provenance": dict(file.provenance),
        "requires_features": list(file.requires_features),
        "unknown_features": sorted(set(file.requires_features) - KNOWN_FEATURES),
        "unknown_keys": sorted(file.extra_header),
        "signatures": [
            {"algorithm": "Ed25519" if s.public_key else f"number {s.algorithm}", "public_key": s.public_key.hex()}
            for s in container.signatures
        ],
        "entries": [_entry(e) for e in file.entries],
        "sections": [_section(container, i) for i in range(len(container.sections))],
        "unused_sections": _unused(file),
    }


def _section(container: Container, index: int) -> dict[str, Any]:
    section = container.sections[index]
    return section._asdict() | {"known": section.kind in SECTION_KINDS}


def _unused(file: CompiledFile) -> list[str]:
    return [f"{b.kind} {b.name!r}" for b in file.extra_blobs]


def _entry(entry: Entry) -> dict[str, Any]:
    plans = [(ref, _plan(ref.blob)) for ref in entry.plans]
    launches = _launches([p for _, p in plans if isinstance(p, Plan)])
    return {
        "name": entry.name,
        "identity": None if entry.identity is None else entry.identity.to_json(),
        "identity_digest": None if entry.identity is None else entry.identity.digest,
        "requires": entry.requires.to_json(),
        "requires_features": list(entry.requires_features),
        "unknown_features": sorted(set(entry.requires_features) - KNOWN_FEATURES),
        "programs": [_program(n, p, launches.get(n, {})) for n, p in entry.programs.items()],
        "weights": [_blob(b) | {"logical": n} for n, b in entry.weights.items()],
        "plans": [_plan_summary(p) | {"input_shapes": _shapes(ref.input_shapes)} for ref, p in plans],
        "selftest": _selftest(entry.selftest),
        "tuning": _tuning(entry.tuning),
    }


def _shapes(shapes: Mapping[str, tuple[int, ...]]) -> dict[str, list[int]]:
    return {name: list(shape) for name, shape in shapes.items()}


def _blob(blob: Blob) -> dict[str, Any]:
    return {"section": blob.name, "size": blob.size, "sha256": blob.sha256}


def _program(name: str, program: ProgramForms, launches: Mapping[str, list[dict[str, Any]]]) -> dict[str, Any]:
    forms = {n: _blob(b) for n, b in forms_of(program).items()}
    for form in ("binary", "il"):
        if form in forms:
            forms[form]["description"] = describe_binary(forms_of(program)[form].unchecked()).to_json()
    if program.source is not None:
        forms["source"]["lines"] = bytes(program.source.unchecked()).count(b"\n")
    kernels = [
        {"name": k.name, "args": [list(a) for a in k.args], "launches": launches.get(k.name, [])}
        for k in program.kernels
    ]
    return {"name": name, "options": program.options, "kernels": kernels, "forms": forms}


def _plan(blob: Blob) -> Plan | str:
    """The plan, or why it cannot be read."""
    try:
        return Plan.from_bytes(blob.checked(), f"plan {blob.name!r}")
    except FormatError as error:
        return str(error)


def _launches(plans: list[Plan]) -> dict[str, dict[str, list[dict[str, Any]]]]:
    """Program, then kernel, to the different work sizes of its launches."""
    found: dict[str, dict[str, dict[str, dict[str, Any]]]] = {}
    for plan in plans:
        for step in plan.launches:
            row = {"global": list(step.global_size), "local": list(step.local_size)}
            rows = found.setdefault(step.program, {}).setdefault(step.kernel, {})
            rows.setdefault(str(row), row | {"count": 0})["count"] += 1
    return {p: {k: list(rows.values()) for k, rows in kernels.items()} for p, kernels in found.items()}


def _plan_summary(plan: Plan | str) -> dict[str, Any]:
    if isinstance(plan, str):
        return {"damage": plan}
    return {
        "inputs": [{"name": e.name, "shape": list(e.shape), "type": e.dtype.value} for e in plan.inputs],
        "outputs": [{"name": e.name, "shape": list(e.shape), "type": e.dtype.value} for e in plan.outputs],
        "steps": len(plan.steps),
        "launches": len(plan.launches),
        "arena_bytes": plan.arena_bytes,
        "arena_unshared_bytes": plan.arena_unshared,
        "weights_bytes": sum(b.size for b in plan.buffers if b.kind == "weights"),
        "flop": sum(s.flop for s in plan.steps if isinstance(s, Launch)),
        "bytes_moved": sum(s.bytes for s in plan.steps if isinstance(s, Launch)),
    }


def _selftest(blob: Blob | None) -> dict[str, Any] | None:
    if blob is None:
        return None
    try:
        test = SelfTest.from_bytes(blob.checked(), f"selftest {blob.name!r}")
    except FormatError as error:
        return {"damage": str(error)}
    return {
        "tolerance": test.tolerance_millionths * 1e-6,
        "outputs": [{"name": s.name, "samples": len(s.values), "peak": s.peak} for s in test.samples],
    }


def _tuning(tuning: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return dict(tuning)
    except FormatError as error:
        assert isinstance(tuning, LazyJson)
        return {"damage": str(error)}


# -- versions 1 and 2 ---------------------------------------------------------------------------------------------


def _mace(file: MaceFile) -> dict[str, Any]:
    contents = read_contents(file)
    found: dict[str, Any] = {
        "format": "MACE",
        "version": file.version,
        "kind": file.kind,
        "crc32": None if file.stored_crc32 is None else f"0x{file.stored_crc32:08X}",
        "crc32_is_right": file.stored_crc32 == file.computed_crc32 if file.version == 2 else None,
        "stale_tail_bytes": len(file.tail),
        "duplicate_keys": sum(r.is_pair for r in file.records) - len(file.pairs),
        "unknown_records": sum(not r.is_pair for r in file.records),
    }
    return found | _mace_contents(contents)


def _mace_contents(contents: MaceContents) -> dict[str, Any]:
    return {
        "identified": contents.platform_text is not None,
        "platform_text": contents.platform_text,
        "platform": None if contents.platform is None else asdict(contents.platform),
        "device_name": contents.device_name,
        "programs": [_mace_program(p) for p in contents.programs],
        "tuned": [asdict(t) | {"local_size": list(t.local_size), "values": list(t.values)} for t in contents.tuned],
        "hashes_without_program": list(contents.hashes_alone),
    }


def _mace_program(program: MaceProgram) -> dict[str, Any]:
    return {
        "key": program.key,
        "name": program.name,
        "options": [o for o in program.options if o],
        "kernels": [{"name": plain, "function": function} for plain, function in program.kernels],
        "source_hash": program.source_hash,
        "size": program.binary.nbytes,
        "sha256": hashlib.sha256(program.binary).hexdigest(),
        "description": describe_binary(program.binary).to_json(),
    }
