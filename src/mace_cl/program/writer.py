"""Records to version 3 bytes. The same records give the same bytes: canonical JSON, a fixed order, no times."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from mace_cl.errors import UnsupportedError
from mace_cl.program.atomic import write_atomically
from mace_cl.program.container import HEAD, MAGIC, MAX_HEADER_BYTES, VERSION, align_of
from mace_cl.program.reader import LazyJson
from mace_cl.program.records import Blob, CompiledFile, Entry, KernelRecord, PlanRef, ProgramForms

_ORDER = ("plan", "selftest", "tuning", "program", "il", "source")
"""What a start reads comes first; unknown kinds follow, weights come last."""


def write_file(path: str | os.PathLike[str], file: CompiledFile) -> None:
    """Write a file; it appears whole or not at all.

    Raises:
        UsageError: It cannot be written there.
        UnsupportedError: The header would be longer than 16 MiB.
        FormatError: A section that comes from another file is damaged.
    """
    write_atomically(path, chunks(file))


def to_bytes(file: CompiledFile) -> bytes:
    """The bytes of a file; see `write_file`."""
    return b"".join(chunks(file))


def chunks(file: CompiledFile) -> Iterator[bytes | memoryview]:
    """The bytes of a file in pieces, so that weights are never held twice."""
    table = _Table()
    entries = [_entry_json(e, table) for e in file.entries]
    for blob in file.extra_blobs:
        table.add(blob)
    order = table.order()
    header = _header(file, _renumber(entries, order), [table.blobs[i] for i in order])
    raw, offsets, length = _settle(header, [table.blobs[i] for i in order])
    position = HEAD.size + len(raw)
    yield HEAD.pack(MAGIC, VERSION, len(raw), length, zlib.crc32(raw), 0) + raw
    for offset, index in zip(offsets, order, strict=True):
        blob = table.blobs[index]
        if not blob.size:
            continue
        yield bytes(offset - position)
        yield blob.checked()
        position = offset + blob.size


class _Table:
    """Sections without repetition: equal content of one kind is stored once."""

    def __init__(self) -> None:
        self.blobs: list[Blob] = []
        self._index: dict[tuple[str, str], int] = {}

    def add(self, blob: Blob) -> int:
        key = (blob.kind, blob.sha256)
        if key not in self._index:
            self._index[key] = len(self.blobs)
            self.blobs.append(blob)
        return self._index[key]

    def optional(self, blob: Blob | None) -> _Ref | None:
        return None if blob is None else _Ref(self.add(blob))

    def order(self) -> list[int]:
        """Indexes of the blobs in the order of the file."""

        def rank(index: int) -> int:
            kind = self.blobs[index].kind
            return len(_ORDER) + 1 if kind == "weights" else _ORDER.index(kind) if kind in _ORDER else len(_ORDER)

        return sorted(range(len(self.blobs)), key=lambda i: (rank(i), i))


class _Ref:
    """A reference to a blob of the table, until sections have their final numbers."""

    def __init__(self, index: int) -> None:
        self.index = index


def _entry_json(entry: Entry, table: _Table) -> dict[str, Any]:
    return {
        "name": entry.name,
        "identity": None if entry.identity is None else entry.identity.to_json(),
        "requires": entry.requires.to_json(),
        "requires_features": sorted(entry.requires_features),
        "programs": {n: _program_json(p, table) for n, p in sorted(entry.programs.items())},
        "weights": {n: _Ref(table.add(b)) for n, b in sorted(entry.weights.items())},
        "plans": [_plan_json(p, table) for p in entry.plans],
        "selftest": table.optional(entry.selftest),
        "tuning": table.optional(_tuning_blob(entry)),
    }


def _program_json(program: ProgramForms, table: _Table) -> dict[str, Any]:
    return {
        "binary": table.optional(program.binary),
        "il": table.optional(program.il),
        "source": table.optional(program.source),
        "options": program.options,
        "kernels": [_kernel_json(k) for k in program.kernels],
    }


def _kernel_json(kernel: KernelRecord) -> dict[str, Any]:
    return {"name": kernel.name, "args": [list(a) for a in kernel.args]}


def _plan_json(plan: PlanRef, table: _Table) -> dict[str, Any]:
    return {
        "input_shapes": {n: list(s) for n, s in plan.input_shapes.items()},
        "section": _Ref(table.add(plan.blob)),
    }


def _tuning_blob(entry: Entry) -> Blob | None:
    if isinstance(entry.tuning, LazyJson):
        return entry.tuning.blob
    return Blob("tuning", f"{entry.name} tuning", canonical(entry.tuning)) if entry.tuning else None


def _renumber(value: Any, order: Sequence[int]) -> Any:
    """The same JSON with every reference replaced by the section's number in the file."""
    numbers = {old: new for new, old in enumerate(order)}

    def walk(v: Any) -> Any:
        if isinstance(v, _Ref):
            return numbers[v.index]
        if isinstance(v, dict):
            return {k: walk(x) for k, x in v.items()}
        return [walk(x) for x in v] if isinstance(v, list) else v

    return walk(value)


def _header(file: CompiledFile, entries: Any, blobs: Sequence[Blob]) -> dict[str, Any]:
    """The header without offsets; its first keys are those that people look for in a hexdump."""
    rest = {
        **file.extra_header,
        "entries": entries,
        "model": asdict(file.model),
        "provenance": dict(file.provenance),
        "requires_features": sorted(file.requires_features),
        "sections": [{"kind": b.kind, "name": b.name, "offset": 0, "size": b.size, "sha256": b.sha256} for b in blobs],
    }
    first = {"format": "CL_PROGRAM_BINARY", "target_gpu": file.target_gpu, "driver_version": file.driver_version}
    return first | {k: rest[k] for k in sorted(rest) if k not in first}


def _settle(header: dict[str, Any], blobs: Sequence[Blob]) -> tuple[bytes, list[int], int]:
    """(header, offsets, length): offsets stand in the header and depend on its length, which never shrinks."""
    assumed = 0
    while True:
        offsets, length = _offsets(HEAD.size + assumed, blobs)
        for row, offset in zip(header["sections"], offsets, strict=True):
            row["offset"] = offset
        raw = header_bytes(header)
        if len(raw) > MAX_HEADER_BYTES:
            raise UnsupportedError(f"the header would have {len(raw)} bytes, more than 16 MiB")
        if len(raw) == assumed:
            return raw, offsets, length
        assumed = len(raw)


def _offsets(start: int, blobs: Sequence[Blob]) -> tuple[list[int], int]:
    position, offsets = start, []
    for blob in blobs:
        if not blob.size:  # an empty section has no place
            offsets.append(0)
            continue
        align = align_of(blob.kind)
        offsets.append(-(-position // align) * align)
        position = offsets[-1] + blob.size
    return offsets, position


def header_bytes(header: dict[str, Any]) -> bytes:
    """The header as it is written: its first three keys in their place, everything else sorted."""
    parts = (f"{json.dumps(k)}:{canonical(v).decode()}" for k, v in header.items())
    return ("{" + ",".join(parts) + "}").encode()


def canonical(value: Any) -> bytes:
    """Canonical JSON: keys sorted, no spaces, ASCII, no NaN."""
    plain = dict(value) if isinstance(value, LazyJson) else value
    return json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode()
