"""Bytes to records: format 3. Nothing in the file is trusted; only FormatError leaves.

A file on disk is mapped, not read: blobs are slices of the mapping, and what is not asked for is never touched. The CRC
covers the header, the header's hashes cover the sections.
"""

from __future__ import annotations

import json
import mmap
import os
import zlib
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from mace_cl.errors import FormatError
from mace_cl.program.identity import Identity, Requirements
from mace_cl.program.layout import (
    FORMAT_NAME,
    FORMAT_VERSION,
    KNOWN_FEATURES,
    MAGIC,
    MAX_HEADER_BYTES,
    MAX_OFFSET,
    PREFIX,
    aligned,
)
from mace_cl.program.records import Blob, CompiledFile, Entry, KernelRecord, ModelInfo, PlanRef, ProgramForms

_KNOWN_KEYS = frozenset(
    ("format", "target_gpu", "driver_version", "model", "provenance", "requires_features", "entries", "sections")
)


def is_version3(head: bytes) -> bool:
    """Whether a file that starts so is one of format 3."""
    return bytes(head[: len(MAGIC)]) == MAGIC


def read_file(source: str | Path | bytes | memoryview) -> CompiledFile:
    """Read a file from a path, which is mapped, or from bytes.

    Raises:
        FormatError: It is not a file of format 3, or a damaged one.
        OSError: The path cannot be opened.
    """
    if isinstance(source, str | Path):
        return parse(map_file(source), str(source))
    return parse(memoryview(source).cast("B").toreadonly(), "file")


def map_file(path: str | Path) -> memoryview:
    """The content of a file as a read-only mapping; it lives as long as a slice of it does.

    Raises:
        FormatError: The file is empty or no regular file.
        OSError: It cannot be opened or mapped.
    """
    with Path(path).open("rb") as stream:
        if not os.fstat(stream.fileno()).st_size:
            raise FormatError("is empty", where=str(path))
        return memoryview(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ))


def parse(data: memoryview, where: str) -> CompiledFile:
    """Records of the bytes of a file.

    Raises:
        FormatError: Says what is wrong, with the offset or the header's field.
    """
    header, first = read_header(data, where)
    return _Reader(data, where, first).file(header)


def read_header(data: memoryview, where: str) -> tuple[dict[str, Any], int]:
    """The header as JSON values, and the offset behind it.

    Raises:
        FormatError: The fixed part, the length, the CRC or the JSON is wrong.
    """
    if len(data) < PREFIX.size:
        raise FormatError(f"has {len(data)} bytes, less than the fixed part's {PREFIX.size}", where=where)
    magic, version, length, end, crc, zero = PREFIX.unpack_from(data)
    if magic != MAGIC:
        hint = "it looks like a file changed in text mode" if magic[:4] == MAGIC[:4] else None
        raise FormatError("is not a mace-cl file", where=where, hint=hint, offset=0)
    if version != FORMAT_VERSION:
        raise FormatError(
            f"has format version {version}; this program reads {FORMAT_VERSION}",
            where=where,
            hint="update mace-cl",
            offset=8,
        )
    if length > MAX_HEADER_BYTES or PREFIX.size + length > len(data):
        raise FormatError(f"a header of {length} bytes does not fit", where=where, hint="the file is cut", offset=12)
    if end > len(data):
        raise FormatError(
            f"has {len(data)} bytes, the header says {end}", where=where, hint="the file is cut", offset=16
        )
    if zero:
        raise FormatError("reserved bytes are not 0", where=where, offset=28)
    text = data[PREFIX.size : PREFIX.size + length]
    if zlib.crc32(text) != crc:
        raise FormatError("the header is damaged: its CRC-32 is not the stored one", where=where, offset=24)
    header = _json(bytes(text), where)
    if header.get("format") != FORMAT_NAME:
        raise FormatError(f"is not {FORMAT_NAME!r}", where=where, field="format")
    return header, PREFIX.size + length


def _json(text: bytes, where: str) -> dict[str, Any]:
    try:
        header = json.loads(text.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise FormatError("the header is not JSON", where=where, offset=PREFIX.size) from error
    if not isinstance(header, dict):
        raise FormatError("the header is not an object", where=where, offset=PREFIX.size)
    return header


class _Reader:
    """Takes the header apart."""

    def __init__(self, data: memoryview, where: str, first: int) -> None:
        self.data = data
        self.where = where
        self.first = first
        self.blobs: list[Blob] = []
        self.used: set[int] = set()

    # -- pieces of JSON ---------------------------------------------------------------------------------------

    def fail(self, field: str, message: str) -> FormatError:
        return FormatError(message, where=self.where, field=field)

    def get(self, raw: Any, key: str, path: str, kind: type | tuple[type, ...], default: Any = ...) -> Any:
        """Value of a key, of a type."""
        if not isinstance(raw, dict):
            raise self.fail(path, "is not an object")
        if key not in raw:
            if default is not ...:
                return default
            raise self.fail(f"{path}.{key}".lstrip("."), "is missing")
        value = raw[key]
        if not isinstance(value, kind) or isinstance(value, bool):
            raise self.fail(f"{path}.{key}".lstrip("."), "is of the wrong type")
        return value

    def number(self, raw: Any, key: str, path: str, default: Any = ...) -> int:
        value: int = self.get(raw, key, path, int, default)
        if not 0 <= value <= MAX_OFFSET:
            raise self.fail(f"{path}.{key}", "is not an integer from 0 to 2^63-1")
        return value

    def texts(self, raw: Any, key: str, path: str) -> tuple[str, ...]:
        values = self.get(raw, key, path, list, [])
        if not all(isinstance(v, str) for v in values):
            raise self.fail(f"{path}.{key}".lstrip("."), "holds something else than strings")
        return tuple(values)

    # -- sections ---------------------------------------------------------------------------------------------

    def sections(self, raw: Sequence[Any]) -> None:
        """Every section as a blob, after bounds, alignment and overlaps were checked."""
        spans: list[tuple[int, int, int]] = []
        for i, item in enumerate(raw):
            path = f"sections[{i}]"
            kind, name = self.get(item, "kind", path, str), self.get(item, "name", path, str)
            offset, size = self.number(item, "offset", path), self.number(item, "size", path)
            sha256 = self.get(item, "sha256", path, str)
            if len(sha256) != 64 or set(sha256) - set("0123456789abcdef"):
                raise self.fail(f"{path}.sha256", "is not a SHA-256 in hexadecimal")
            if offset < self.first or offset + size > len(self.data):
                raise self.fail(path, f"bytes {offset} to {offset + size} lie outside the file or in the header")
            if offset != aligned(offset, kind):
                raise self.fail(f"{path}.offset", f"{offset} is not aligned for {kind!r}")
            spans.append((offset, offset + size, i))
            self.blobs.append(Blob(kind, name, self.data[offset : offset + size], sha256))
        spans.sort()
        for (_, end, i), (start, stop, j) in pairwise(spans):
            if start < end and stop > start:
                raise self.fail(f"sections[{j}]", f"overlaps sections[{i}]")

    def blob(self, raw: Any, key: str, path: str, kinds: tuple[str, ...]) -> Blob | None:
        """The blob that a key refers to by its index; None for null."""
        if raw.get(key) is None:
            return None
        index = self.number(raw, key, path)
        if index >= len(self.blobs) or self.blobs[index].kind not in kinds:
            raise self.fail(f"{path}.{key}", f"section {index} does not exist or is no {' or '.join(kinds)}")
        self.used.add(index)
        return self.blobs[index]

    # -- records ----------------------------------------------------------------------------------------------

    def file(self, header: dict[str, Any]) -> CompiledFile:
        """The whole file."""
        features = self.texts(header, "requires_features", "")
        unknown = [f for f in features if f not in KNOWN_FEATURES]
        if unknown:
            raise FormatError(
                f"needs features that are not known here: {', '.join(unknown)}",
                where=self.where,
                field="requires_features",
                hint="update mace-cl",
            )
        self.sections(self.get(header, "sections", "", list))
        entries = self.get(header, "entries", "", list)
        return CompiledFile(
            target_gpu=self.get(header, "target_gpu", "", str),
            driver_version=self.get(header, "driver_version", "", str),
            model=self.model(self.get(header, "model", "", dict)),
            entries=tuple(self.entry(e, f"entries[{i}]") for i, e in enumerate(entries)),
            provenance=self.get(header, "provenance", "", dict, {}),
            requires_features=features,
            extra_header={k: v for k, v in header.items() if k not in _KNOWN_KEYS},
            extra_blobs=tuple(b for i, b in enumerate(self.blobs) if i not in self.used),
        )

    def model(self, raw: Any) -> ModelInfo:
        """The network."""
        texts = [self.get(raw, k, "model", str) for k in ("name", "format", "source_sha256", "graph_sha256")]
        name, format_, source, graph = texts
        return ModelInfo(
            name, format_, source, graph, self.number(raw, "macs", "model", 0), self.number(raw, "layers", "model", 0)
        )

    def entry(self, raw: Any, path: str) -> Entry:
        """One entry."""
        identity = self.get(raw, "identity", path, (dict, type(None)), None)
        requires = self.get(raw, "requires", path, dict, {})
        programs = self.get(raw, "programs", path, dict, {})
        weights = self.get(raw, "weights", path, dict, {})
        plans = self.get(raw, "plans", path, list, [])
        features = self.texts(raw, "requires_features", path)
        where = f"{self.where}, {path}"
        return Entry(
            name=self.get(raw, "name", path, str),
            identity=None if identity is None else Identity.from_json(identity, f"{where}.identity"),
            requires=self.requirements(requires, f"{where}.requires", features),
            programs={n: self.program(p, f"{path}.programs.{n}") for n, p in programs.items()},
            weights={n: self.weight_set(weights, n, f"{path}.weights") for n in weights},
            plans=tuple(self.plan(p, f"{path}.plans[{i}]") for i, p in enumerate(plans)),
            selftest=self.blob(raw, "selftest", path, ("selftest",)),
            tuning=self.get(raw, "tuning", path, dict, {}),
            requires_features=features,
        )

    def requirements(self, raw: Mapping[str, Any], where: str, features: tuple[str, ...]) -> Requirements:
        """Requirements; those of an entry with unknown features need not be understood."""
        if any(f not in KNOWN_FEATURES for f in features):
            known = {k: v for k, v in raw.items() if k in Requirements.__dataclass_fields__}
            return Requirements.from_json(known, where)
        return Requirements.from_json(dict(raw), where)

    def program(self, raw: Any, path: str) -> ProgramForms:
        """A program's forms."""
        options = self.get(raw, "options", path, str, "")
        kernels = self.get(raw, "kernels", path, list, [])
        forms = ProgramForms(
            binary=self.blob(raw, "binary", path, ("program",)),
            il=self.blob(raw, "il", path, ("il",)),
            source=self.blob(raw, "source", path, ("source",)),
            options=options,
            kernels=tuple(self.kernel(k, f"{path}.kernels[{i}]") for i, k in enumerate(kernels)),
        )
        if forms.binary is None and forms.il is None and forms.source is None:
            raise self.fail(path, "has neither a binary nor IL nor source")
        return forms

    def kernel(self, raw: Any, path: str) -> KernelRecord:
        """A kernel with its arguments."""
        args = self.get(raw, "args", path, list, [])
        for i, arg in enumerate(args):
            if not isinstance(arg, list) or len(arg) != 2 or not all(isinstance(v, str) for v in arg):
                raise self.fail(f"{path}.args[{i}]", "is not a pair of name and type")
        return KernelRecord(self.get(raw, "name", path, str), tuple((a[0], a[1]) for a in args))

    def weight_set(self, raw: dict[str, Any], name: str, path: str) -> Blob:
        """A weight set."""
        found = self.blob(raw, name, path, ("weights",))
        if found is None:
            raise self.fail(f"{path}.{name}", "refers to no section")
        return found

    def plan(self, raw: Any, path: str) -> PlanRef:
        """A plan's section and the shapes that it is for."""
        shapes = self.get(raw, "input_shapes", path, dict)
        for name, shape in shapes.items():
            good = isinstance(shape, list) and all(type(d) is int and 0 <= d <= MAX_OFFSET for d in shape)
            if not good:
                raise self.fail(f"{path}.input_shapes.{name}", "is not a shape")
        blob = self.blob(raw, "section", path, ("plan",))
        if blob is None:
            raise self.fail(f"{path}.section", "refers to no section")
        return PlanRef({n: tuple(s) for n, s in shapes.items()}, blob)
