"""What a version 3 file holds, as records. Reader and writer turn them into bytes and back.

A Blob is the content of a section: bytes in memory or a slice of a mapped file. Its hash is declared (read from the
header) or computed; `checked()` compares them before it hands out the bytes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mace_cl.errors import FormatError
from mace_cl.program.identity import Identity, Requirements
from mace_cl.types import Shape

SECTION_KINDS = ("program", "source", "il", "plan", "weights", "selftest", "tuning")


class Blob:
    """Content of one section.

    Attributes:
        kind: One of SECTION_KINDS, or one that a later version added.
        name: For people: 'face_detection intel-cpu p0' or the like.
        size: Bytes.
    """

    __slots__ = ("_checked", "_data", "_sha256", "kind", "name", "size")

    def __init__(self, kind: str, name: str, data: bytes | memoryview, sha256: str | None = None) -> None:
        self.kind = kind
        self.name = name
        self._data = memoryview(data).cast("B")
        self.size = self._data.nbytes
        self._sha256 = sha256
        self._checked = sha256 is None

    @property
    def sha256(self) -> str:
        """The declared hash, or the computed one of a blob made in memory; hexadecimal."""
        if self._sha256 is None:
            self._sha256 = hashlib.sha256(self._data).hexdigest()
        return self._sha256

    def unchecked(self) -> memoryview:
        """The bytes, whatever their hash. Not for drivers."""
        return self._data

    def checked(self) -> memoryview:
        """The bytes, after their hash was compared with the declared one (once).

        Raises:
            FormatError: They differ: the file is damaged.
        """
        if not self._checked:
            if hashlib.sha256(self._data).hexdigest() != self._sha256:
                raise FormatError("is damaged: its SHA-256 is not the stored one", where=f"section {self.name!r}")
            self._checked = True
        return self._data


@dataclass(frozen=True)
class KernelRecord:
    """A kernel of a program: its name and its arguments as (name, OpenCL type)."""

    name: str
    args: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class ProgramForms:
    """One program in the forms that an entry offers; at least one of them.

    Attributes:
        binary: The driver's bytes; only in an entry with an identity.
        il: SPIR-V.
        source: OpenCL C.
        options: Build options for source and IL.
        kernels: What the program must contain.
    """

    binary: Blob | None = None
    il: Blob | None = None
    source: Blob | None = None
    options: str = ""
    kernels: tuple[KernelRecord, ...] = ()


@dataclass(frozen=True)
class PlanRef:
    """A plan and the input shapes that it is for."""

    input_shapes: Mapping[str, Shape]
    blob: Blob


@dataclass(frozen=True)
class Entry:
    """What one device, or any device that meets the requirements, runs.

    Attributes:
        name: For people.
        identity: The device it was built on; None in a portable entry.
        requires: What any device must offer.
        programs: Logical name ('p0' ...) to its forms.
        weights: Logical name to the packed weights.
        plans: One for each set of input shapes; none in a file that holds only kernels.
        selftest: Fixed inputs with their reference results, or None.
        tuning: Tuned parameters and how they were found: JSON values.
        requires_features: Names that a reader must know to use the entry.
    """

    name: str
    identity: Identity | None
    requires: Requirements
    programs: Mapping[str, ProgramForms]
    weights: Mapping[str, Blob] = field(default_factory=dict)
    plans: tuple[PlanRef, ...] = ()
    selftest: Blob | None = None
    tuning: Mapping[str, Any] = field(default_factory=dict)
    requires_features: tuple[str, ...] = ()


@dataclass(frozen=True)
class ModelInfo:
    """The network, device aside. Two files with equal `graph_sha256` hold the same network.

    Attributes:
        name: For people.
        format: 'onnx', 'tflite', 'tensorflow' or 'opencl'.
        source_sha256: Hash of the model file as it was read.
        graph_sha256: Hash of the imported graph with its constants.
        macs: Multiply-adds of one run.
        layers: Operators of the imported graph.
    """

    name: str
    format: str
    source_sha256: str
    graph_sha256: str
    macs: int = 0
    layers: int = 0


@dataclass(frozen=True)
class CompiledFile:
    """A whole file.

    Attributes:
        target_gpu, driver_version: Of the first entry, for people and for `hexdump`.
        model: The network.
        entries: In order of preference; the portable one last.
        provenance: What made it: tool, version, options; JSON values, no times.
        requires_features: Names that a reader must know to use the file at all.
        extra_header: Header keys that this version does not know, kept as they are.
        extra_blobs: Sections that no entry refers to (unknown kinds), kept as they are.
    """

    target_gpu: str
    driver_version: str
    model: ModelInfo
    entries: tuple[Entry, ...]
    provenance: Mapping[str, Any] = field(default_factory=dict)
    requires_features: tuple[str, ...] = ()
    extra_header: Mapping[str, Any] = field(default_factory=dict)
    extra_blobs: tuple[Blob, ...] = ()
