"""Records to bytes: a whole file of format 3, equal records giving equal bytes."""

from __future__ import annotations

import json
import os
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mace_cl.errors import FormatError
from mace_cl.program.layout import FORMAT_NAME, FORMAT_VERSION, MAGIC, MAX_HEADER_BYTES, PREFIX, aligned
from mace_cl.program.records import Blob, CompiledFile, Entry, KernelRecord, ModelInfo, ProgramForms


def to_bytes(file: CompiledFile) -> bytes:
    """The file's bytes."""
    return b"".join(_pieces(file))


def write_file(path: str | Path, file: CompiledFile) -> None:
    """Write the file; it appears whole or not at all.

    Raises:
        OSError: The folder cannot be written, or the disk is full; nothing is left behind.
        FormatError: The header would be larger than the format allows.
    """
    write_atomically(path, _pieces(file))


def write_atomically(path: str | Path, pieces: Iterator[bytes | memoryview]) -> None:
    """Write to a temporary name in the same folder, flush to the disk, rename.

    Raises:
        OSError: As from the system; the temporary file is removed.
    """
    path = Path(path)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as stream:
            for piece in pieces:
                stream.write(piece)
            stream.flush()
            os.fsync(stream.fileno())
        Path(temporary).chmod(0o666 & ~_umask())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


class _Sections:
    """Collects blobs; equal bytes of one kind are stored once."""

    def __init__(self) -> None:
        self.blobs: list[Blob] = []
        self._known: dict[tuple[str, str], int] = {}

    def add(self, blob: Blob | None) -> int | None:
        """Index of the blob's section, or None for no blob."""
        if blob is None:
            return None
        key = (blob.kind, blob.sha256)
        if key not in self._known:
            self._known[key] = len(self.blobs)
            self.blobs.append(blob)
        return self._known[key]


def _pieces(file: CompiledFile) -> Iterator[bytes | memoryview]:
    sections = _Sections()
    header = _header_json(file, sections)
    # Offsets are in the header, whose length depends on them: they are found with room for the longest header.
    length, offsets, end = _place(header, sections.blobs)
    listed = [
        {"kind": b.kind, "name": b.name, "offset": o, "sha256": b.sha256, "size": b.size}
        for b, o in zip(sections.blobs, offsets, strict=True)
    ]
    text = _encode({**header, "sections": listed})
    text += b" " * (length - len(text))
    yield PREFIX.pack(MAGIC, FORMAT_VERSION, length, end, zlib.crc32(text), 0)
    yield text
    position = PREFIX.size + length
    for blob, offset in zip(sections.blobs, offsets, strict=True):
        yield bytes(offset - position)
        yield blob.checked()
        position = offset + blob.size


def _place(header: dict[str, Any], blobs: list[Blob]) -> tuple[int, list[int], int]:
    """Header length, offset of each section, end of the last one."""
    widest = [{"kind": b.kind, "name": b.name, "offset": 10**18, "sha256": b.sha256, "size": b.size} for b in blobs]
    length = len(_encode({**header, "sections": widest}))
    length = -(-(PREFIX.size + length) // 64) * 64 - PREFIX.size
    if length > MAX_HEADER_BYTES:
        raise FormatError(f"the header would have {length} bytes, more than {MAX_HEADER_BYTES}")
    position = PREFIX.size + length
    offsets = []
    for blob in blobs:
        position = aligned(position, blob.kind)
        offsets.append(position)
        position += blob.size
    return length, offsets, position


def _encode(header: dict[str, Any]) -> bytes:
    return json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode("utf-8")


def _header_json(file: CompiledFile, sections: _Sections) -> dict[str, Any]:
    known: dict[str, Any] = {
        "format": FORMAT_NAME,
        "target_gpu": file.target_gpu,
        "driver_version": file.driver_version,
        "model": _model_json(file.model),
        "provenance": _sorted(dict(file.provenance)),
        "requires_features": list(file.requires_features),
        "entries": [_entry_json(e, sections) for e in file.entries],
    }
    for blob in file.extra_blobs:
        sections.add(blob)
    odd = set(file.extra_header) & {*known, "sections"}
    if odd:
        raise FormatError(f"the extra header key {min(odd)!r} has a meaning of its own")
    return {**known, **_sorted(dict(file.extra_header))}


def _model_json(model: ModelInfo) -> dict[str, Any]:
    return {
        "name": model.name,
        "format": model.format,
        "source_sha256": model.source_sha256,
        "graph_sha256": model.graph_sha256,
        "macs": model.macs,
        "layers": model.layers,
    }


def _entry_json(entry: Entry, sections: _Sections) -> dict[str, Any]:
    return {
        "name": entry.name,
        "identity": None if entry.identity is None else entry.identity.to_json(),
        "requires": entry.requires.to_json(),
        "requires_features": list(entry.requires_features),
        "programs": {n: _program_json(p, sections) for n, p in sorted(entry.programs.items())},
        "plans": [
            {"input_shapes": {n: list(s) for n, s in sorted(p.input_shapes.items())}, "section": sections.add(p.blob)}
            for p in entry.plans
        ],
        "weights": {n: sections.add(b) for n, b in sorted(entry.weights.items())},
        "selftest": sections.add(entry.selftest),
        "tuning": _sorted(dict(entry.tuning)),
    }


def _program_json(forms: ProgramForms, sections: _Sections) -> dict[str, Any]:
    return {
        "binary": sections.add(forms.binary),
        "il": sections.add(forms.il),
        "source": sections.add(forms.source),
        "options": forms.options,
        "kernels": [_kernel_json(k) for k in forms.kernels],
    }


def _kernel_json(kernel: KernelRecord) -> dict[str, Any]:
    return {"name": kernel.name, "args": [[n, t] for n, t in kernel.args]}


def _sorted(value: Any) -> Any:
    """JSON values with the keys of every object in alphabetical order."""
    if isinstance(value, dict):
        return {k: _sorted(v) for k, v in sorted(value.items())}
    return [_sorted(v) for v in value] if isinstance(value, list | tuple) else value
