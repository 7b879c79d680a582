"""Version 3 bytes to records. Light: the runtime imports it at every start.

Header keys, entry keys and section kinds that are not known are skipped; requirements that are not known make their
entry unusable, with the reason; file-wide ones refuse the file.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from mace_cl.errors import FormatError
from mace_cl.program.container import Container, is_version3, map_file, parse_json, read_container
from mace_cl.program.identity import Identity, Requirements
from mace_cl.program.plan import KNOWN_FEATURES
from mace_cl.program.records import Blob, CompiledFile, Entry, KernelRecord, ModelInfo, PlanRef, ProgramForms
from mace_cl.types import Shape

__all__ = ["LazyJson", "Source", "is_version3", "open_container", "read_file", "read_records"]

Source: TypeAlias = "str | os.PathLike[str] | bytes | bytearray | memoryview"
"""A path, or a file's bytes."""

HEADER_KEYS = (
    "format",
    "target_gpu",
    "driver_version",
    "entries",
    "model",
    "provenance",
    "requires_features",
    "sections",
)


class LazyJson(Mapping[str, Any]):
    """A JSON object in a section; parsed when it is first looked at."""

    def __init__(self, blob: Blob) -> None:
        self.blob = blob
        self._value: dict[str, Any] | None = None

    def _load(self) -> dict[str, Any]:
        if self._value is None:
            value = parse_json(bytes(self.blob.checked()), f"section {self.blob.name!r}")
            if not isinstance(value, dict):
                raise FormatError("is no object", where=f"section {self.blob.name!r}")
            self._value = value
        return self._value

    def __getitem__(self, key: str) -> Any:
        return self._load()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._load())

    def __len__(self) -> int:
        return len(self._load())

    def __repr__(self) -> str:
        return f"LazyJson({self.blob.name!r}, {self.blob.size} bytes)"


def open_container(source: Source) -> Container:
    """The outer form of a file, given by its path or its bytes; sections stay on disk.

    Raises:
        UsageError: It cannot be opened.
        FormatError: It is damaged or of another version.
    """
    if isinstance(source, str | os.PathLike):
        return read_container(map_file(source), os.fspath(source))
    return read_container(source)


def read_file(source: Source, *, any_features: bool = False) -> CompiledFile:
    """Read a version 3 file; sections stay on disk until they are used.

    Args:
        source: The file's path, or its bytes.
        any_features: Read it although it needs features that are not known (to look at it, not to run it).

    Raises:
        UsageError: It cannot be opened.
        FormatError: It is damaged, of another version, or needs unknown features.
    """
    return read_records(open_container(source), any_features=any_features)


def read_records(container: Container, *, any_features: bool = False) -> CompiledFile:
    """What a file's header says, as records.

    Raises:
        FormatError: The header is not what it should be, or needs unknown features.
    """
    return _Reader(container).file(any_features)


class _Reader:
    """Takes the header apart; every failure is a FormatError with the path of the field."""

    def __init__(self, container: Container) -> None:
        self.container = container
        self.used: set[int] = set()
        self.blobs: dict[int, Blob] = {}

    def file(self, any_features: bool) -> CompiledFile:
        header = self.container.header
        features = self.features(header, "header")
        unknown = sorted(set(features) - KNOWN_FEATURES)
        if unknown and not any_features:
            raise self.fail("requires_features", f"needs features that are not known here: {', '.join(unknown)}")
        raw_entries = self.get(header, "entries", list, "header")
        entries = tuple(self.entry(raw, f"entries[{i}]") for i, raw in enumerate(raw_entries))
        return CompiledFile(
            target_gpu=self.get(header, "target_gpu", str, "header"),
            driver_version=self.get(header, "driver_version", str, "header"),
            model=self.model(self.get(header, "model", dict, "header")),
            entries=entries,
            provenance=self.get(header, "provenance", dict, "header", {}),
            requires_features=features,
            extra_header={k: v for k, v in header.items() if k not in HEADER_KEYS},
            extra_blobs=tuple(self.blob_at(i) for i in range(len(self.container.sections)) if i not in self.used),
        )

    def fail(self, field: str, message: str) -> FormatError:
        return FormatError(message, where=self.container.where, field=field)

    def get(self, raw: Any, key: str, kind: type, path: str, default: Any = None) -> Any:
        """A value of a type; the default where the key is missing and there is one."""
        value = raw.get(key, default)
        if type(value) is not kind:
            raise self.fail(f"{path}.{key}", "is missing" if key not in raw else f"is no {kind.__name__}")
        return value

    def object(self, raw: Any, path: str) -> dict[str, Any]:
        if not isinstance(raw, dict):
            raise self.fail(path, "is no object")
        return raw

    def strings(self, raw: Any, path: str) -> tuple[str, ...]:
        if not isinstance(raw, list) or not all(isinstance(v, str) for v in raw):
            raise self.fail(path, "is no list of strings")
        return tuple(raw)

    def features(self, raw: dict[str, Any], path: str) -> tuple[str, ...]:
        return self.strings(raw.get("requires_features", []), f"{path}.requires_features")

    def blob_at(self, index: int) -> Blob:
        """The section of an index: one object, however often it is referred to, so that it is hashed once."""
        if index not in self.blobs:
            self.blobs[index] = self.container.blob(index)
        return self.blobs[index]

    def blob(self, raw: Any, kind: str, path: str) -> Blob:
        if type(raw) is not int or not 0 <= raw < len(self.container.sections):
            raise self.fail(path, "is no index of a section")
        found = self.blob_at(raw)
        if found.kind != kind:
            raise self.fail(path, f"refers to a section of kind {found.kind!r}, not {kind!r}")
        self.used.add(raw)
        return found

    def optional_blob(self, raw: dict[str, Any], key: str, kind: str, path: str) -> Blob | None:
        value = raw.get(key)
        return None if value is None else self.blob(value, kind, f"{path}.{key}")

    def model(self, raw: dict[str, Any]) -> ModelInfo:
        name, format_, source, graph = (
            self.get(raw, k, str, "model") for k in ("name", "format", "source_sha256", "graph_sha256")
        )
        macs, layers = (self.count(raw.get(k, 0), f"model.{k}") for k in ("macs", "layers"))
        return ModelInfo(name, format_, source, graph, macs, layers)

    def count(self, value: Any, path: str) -> int:
        if type(value) is not int or not 0 <= value < 1 << 63:
            raise self.fail(path, "is no integer from 0 to 2^63-1")
        return value

    def entry(self, raw: Any, path: str) -> Entry:
        raw = self.object(raw, path)
        identity, odd_identity = self.identity(raw.get("identity"), f"{path}.identity")
        requires, odd_requires = self.requires(raw.get("requires", {}), f"{path}.requires")
        programs = {
            name: self.program(value, f"{path}.programs[{name!r}]")
            for name, value in self.get(raw, "programs", dict, path, {}).items()
        }
        if raw.get("identity") is None and any(p.binary is not None for p in programs.values()):
            raise self.fail(path, "a compiled program without the device it was made for")
        plans = self.get(raw, "plans", list, path, [])
        return Entry(
            name=self.get(raw, "name", str, path),
            identity=identity,
            requires=requires,
            programs=programs,
            weights={
                name: self.blob(value, "weights", f"{path}.weights[{name!r}]")
                for name, value in self.get(raw, "weights", dict, path, {}).items()
            },
            plans=tuple(self.plan(p, f"{path}.plans[{i}]") for i, p in enumerate(plans)),
            selftest=self.optional_blob(raw, "selftest", "selftest", path),
            tuning=self.tuning(raw, path),
            requires_features=(*self.features(raw, path), *odd_identity, *odd_requires),
        )

    def identity(self, raw: Any, path: str) -> tuple[Identity | None, tuple[str, ...]]:
        """The identity, and a made-up feature for each field that is not known: it cannot be compared."""
        if raw is None:
            return None, ()
        known = Identity.__dataclass_fields__
        values = {k: v for k, v in self.object(raw, path).items() if k in known}
        odd = tuple(f"identity.{k}" for k in sorted(raw) if k not in known)
        return Identity.from_json(values, f"{self.container.where}, {path}"), odd

    def requires(self, raw: Any, path: str) -> tuple[Requirements, tuple[str, ...]]:
        """The requirements, and a made-up feature for each one that is not known: it cannot be checked."""
        known = Requirements.__dataclass_fields__
        values = {k: v for k, v in self.object(raw, path).items() if k in known}
        odd = tuple(f"requires.{k}" for k in sorted(raw) if k not in known)
        return Requirements.from_json(values, f"{self.container.where}, {path}"), odd

    def program(self, raw: Any, path: str) -> ProgramForms:
        raw = self.object(raw, path)
        kernels = self.get(raw, "kernels", list, path, [])
        return ProgramForms(
            binary=self.optional_blob(raw, "binary", "program", path),
            il=self.optional_blob(raw, "il", "il", path),
            source=self.optional_blob(raw, "source", "source", path),
            options=self.get(raw, "options", str, path, ""),
            kernels=tuple(self.kernel(k, f"{path}.kernels[{i}]") for i, k in enumerate(kernels)),
        )

    def kernel(self, raw: Any, path: str) -> KernelRecord:
        raw = self.object(raw, path)
        args = tuple(self.strings(a, f"{path}.args") for a in self.get(raw, "args", list, path, []))
        if any(len(a) != 2 for a in args):
            raise self.fail(f"{path}.args", "is no list of [name, type]")
        return KernelRecord(self.get(raw, "name", str, path), tuple((a[0], a[1]) for a in args))

    def plan(self, raw: Any, path: str) -> PlanRef:
        raw = self.object(raw, path)
        shapes: dict[str, Shape] = {}
        for name, dims in self.get(raw, "input_shapes", dict, path).items():
            if not isinstance(dims, list):
                raise self.fail(f"{path}.input_shapes", "is no list of integers")
            shapes[name] = tuple(self.count(d, f"{path}.input_shapes") for d in dims)
        return PlanRef(shapes, self.blob(raw.get("section"), "plan", f"{path}.section"))

    def tuning(self, raw: dict[str, Any], path: str) -> Mapping[str, Any]:
        blob = self.optional_blob(raw, "tuning", "tuning", path)
        return {} if blob is None else LazyJson(blob)
