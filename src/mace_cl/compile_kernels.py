"""OpenCL C files to a version 3 file: what `mace_cl_compiler` does. Programs for one or more targets, and no plan."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from mace_cl.errors import UsageError
from mace_cl.opencl.build import build_program
from mace_cl.opencl.devices import DeviceInfo, select_device
from mace_cl.program.identity import Identity, Requirements
from mace_cl.program.records import Blob, CompiledFile, Entry, KernelRecord, ModelInfo, ProgramForms
from mace_cl.program.vendors.description import BinaryDescription
from mace_cl.program.writer import write_file
from mace_cl.toolchains.includes import read_source
from mace_cl.toolchains.offline import OfflineProgram, compile_offline, find_target

HOST = "host"
ANY_DEVICE = "any OpenCL device"

Tell = Callable[[str], None]


@dataclass(frozen=True)
class KernelOptions:
    """Choices for a compilation.

    Attributes:
        targets: 'host', 'host:NAME', 'spirv', 'gfx1030', 'sm_80', 'myriad', or any name with a toolchain.
        defines: NAME or NAME=VALUE.
        includes: Folders for #include.
        options: OpenCL build options, as one text.
        toolchain: Template of a vendor's compiler.
        timeout_s: Longest time of one compilation.
    """

    targets: Sequence[str] = (HOST,)
    defines: Sequence[str] = ()
    includes: Sequence[Path] = ()
    options: str = ""
    toolchain: str | None = None
    timeout_s: float = 600.0


@dataclass(frozen=True)
class TargetReport:
    """What was made for a target: form of the programs, kernels by program, what the user must know."""

    target: str
    form: str
    kernels: Mapping[str, Sequence[str]]
    sizes: Mapping[str, int]
    notes: tuple[str, ...] = ()
    log: str = ""


@dataclass(frozen=True)
class _Source:
    """An input: logical name, its text with includes, hash of the file."""

    name: str
    text: str
    file_sha256: str


@dataclass
class _Made:
    """What has been made so far: entries for devices, IL for any device, reports."""

    entries: list[Entry] = field(default_factory=list)
    il: dict[str, tuple[Blob, tuple[KernelRecord, ...]]] = field(default_factory=dict)
    kernels: dict[str, tuple[KernelRecord, ...]] = field(default_factory=dict)
    reports: list[TargetReport] = field(default_factory=list)


def compile_kernels(
    inputs: Sequence[Path], output: Path, options: KernelOptions | None = None, tell: Tell | None = None
) -> list[TargetReport]:
    """Compile OpenCL C files for every target and write one file.

    Each input is a program of its own, named after its file. The last entry is portable: source, and SPIR-V if that was
    a target.

    Args:
        inputs: OpenCL C files.
        output: File to write; it appears whole or not at all.
        options: Choices.
        tell: Told of each compilation.

    Raises:
        UsageError: A file, target or option is wrong.
        BuildError: A source does not compile; with file, line and the line's text.
        UnsupportedError: A compiler is not installed.
    """
    options = options or KernelOptions()
    sources = _read(inputs, options)
    words = _option_words(options)
    made = _Made()
    for target in dict.fromkeys(options.targets):
        if target == HOST or target.startswith(HOST + ":"):
            _build_host(target, sources, words, options, made, tell)
        else:
            _build_offline(target, sources, words, options, made, tell)
    write_file(output, _file(sources, words, made))
    return made.reports


def _read(inputs: Sequence[Path], options: KernelOptions) -> list[_Source]:
    missing = [f for f in options.includes if not f.is_dir()]
    if missing:
        raise UsageError("is no folder", where=f"-I {missing[0]}")
    sources: list[_Source] = []
    for path in inputs:
        text = read_source(path, options.includes)
        name = path.stem
        if any(s.name == name for s in sources):
            raise UsageError(f"two inputs are called {name!r}; a program is named after its file", where=str(path))
        sources.append(_Source(name, text, hashlib.sha256(path.read_bytes()).hexdigest()))
    if not sources:
        raise UsageError("no input", where="--input")
    return sources


def _option_words(options: KernelOptions) -> list[str]:
    """Build options in words: defines first, in their order."""
    try:
        words = shlex.split(options.options)
    except ValueError as error:
        raise UsageError(f"cannot be split into words: {error}", where="--options") from None
    return [f"-D{d}" for d in options.defines] + words


def _stored_options(words: Sequence[str]) -> str:
    """Options as a driver takes them: one text; OpenCL has no quoting that all drivers know, so spaces are refused."""
    odd = next((w for w in words if any(c.isspace() or c in "\"'" for c in w)), None)
    if odd is not None:
        raise UsageError(f"{odd!r} holds spaces or quotes, which not every driver takes", where="--options")
    return " ".join(words)


# -- devices of this machine ----------------------------------------------------------------------------------------


def _build_host(
    target: str,
    sources: Sequence[_Source],
    words: Sequence[str],
    options: KernelOptions,
    made: _Made,
    tell: Tell | None,
) -> None:
    device = select_device(target.partition(":")[2] or None)
    stored = _stored_options(words)
    programs: dict[str, ProgramForms] = {}
    logs = []
    for source in sources:
        if tell is not None:
            tell(f"{source.name} for {device.label}")
        built = build_program(device, source.text, stored, timeout_s=options.timeout_s)
        made.kernels[source.name] = built.kernels
        logs.append(built.log)
        programs[source.name] = ProgramForms(
            binary=Blob("program", f"{device.name} {source.name}", built.binary),
            source=_source_blob(source),
            options=stored,
            kernels=built.kernels,
        )
    entry = Entry(device.label, device.identity, _host_requirements(device), programs)
    if any(e.identity == entry.identity for e in made.entries):
        return
    made.entries.append(entry)
    made.reports.append(_report(device.label, "binary", programs, (), "\n".join(filter(None, logs))))


def _host_requirements(device: DeviceInfo) -> Requirements:
    return Requirements(base_align_bytes=device.capabilities.base_align_bytes)


def _report(
    target: str, form: str, programs: Mapping[str, ProgramForms], notes: tuple[str, ...], log: str
) -> TargetReport:
    sizes = {n: b.size for n, p in programs.items() if (b := p.il if form == "il" else p.binary) is not None}
    return TargetReport(target, form, {n: [k.name for k in p.kernels] for n, p in programs.items()}, sizes, notes, log)


# -- offline --------------------------------------------------------------------------------------------------------


def _build_offline(
    target: str,
    sources: Sequence[_Source],
    words: Sequence[str],
    options: KernelOptions,
    made: _Made,
    tell: Tell | None,
) -> None:
    stored = _stored_options(words)
    programs: dict[str, ProgramForms] = {}
    results: list[OfflineProgram] = []
    for source in sources:
        if tell is not None:
            tell(f"{source.name} for {target}")
        result = compile_offline(target, source.text, words, options.toolchain, options.timeout_s)
        results.append(result)
        kernels = kernel_records(result.description)
        blob = Blob("il" if result.form == "il" else "program", f"{target} {source.name}", result.compiled.data)
        if result.form == "il":
            made.il[source.name] = (blob, kernels)
            programs[source.name] = ProgramForms(il=blob, options=stored, kernels=kernels)
        else:
            programs[source.name] = ProgramForms(blob, None, _source_blob(source), stored, kernels)
        made.kernels.setdefault(source.name, kernels)
    form = results[0].form
    if any(r.form != form for r in results):
        raise UsageError("the toolchain made SPIR-V of some inputs and other programs of others", where="--toolchain")
    notes = tuple(dict.fromkeys(n for r in results for n in r.compiled.notes))
    if form == "binary":
        made.entries.append(Entry(f"{target} (offline)", _offline_identity(target), Requirements(), programs))
        notes = (*notes, "made without the device: it is stored and can be extracted; a load compiles the source")
    made.reports.append(_report(target, form, programs, notes, "\n".join(r.compiled.log for r in results).strip()))


def _offline_identity(target: str) -> Identity:
    """What is known of a device that nobody has seen: fields that are not known are empty, and equal no device's."""
    kind = find_target(target)
    return Identity(
        platform_name="" if kind is None else kind.platform,
        platform_version="",
        device_name=target,
        device_vendor="" if kind is None else kind.vendor,
        device_version="",
        driver_version="",
        device_type="gpu" if kind is not None and kind.platform else "accelerator",
        address_bits=64,
    )


def kernel_records(description: BinaryDescription) -> tuple[KernelRecord, ...]:
    """Kernels that a recogniser found, as records."""
    return tuple(KernelRecord(k.name, k.args) for k in description.kernels)


# -- the file -------------------------------------------------------------------------------------------------------


def _source_blob(source: _Source) -> Blob:
    return Blob("source", source.name, source.text.encode())


def _file(sources: Sequence[_Source], words: Sequence[str], made: _Made) -> CompiledFile:
    stored = _stored_options(words)
    portable = {
        s.name: ProgramForms(
            il=made.il[s.name][0] if s.name in made.il else None,
            source=_source_blob(s),
            options=stored,
            kernels=made.kernels.get(s.name, ()),
        )
        for s in sources
    }
    needs = [e.requires.base_align_bytes for e in made.entries if e.identity is not None]
    requires = replace(Requirements(), base_align_bytes=max([128, *needs]))
    entries = (*made.entries, Entry("portable", None, requires, portable))
    first = entries[0].identity
    return CompiledFile(
        target_gpu=ANY_DEVICE if first is None else f"{first.device_vendor} {first.device_name}".strip(),
        driver_version="" if first is None else first.driver_version,
        model=_model(sources, stored),
        entries=entries,
        provenance={"tool": "mace_cl_compiler", "version": importlib.metadata.version("mace-cl")},
    )


def _model(sources: Sequence[_Source], options: str) -> ModelInfo:
    """Kernels alone: the same sources and options are the same 'network', whatever the targets."""
    content = json.dumps([[s.name, s.text] for s in sources] + [options], separators=(",", ":"))
    files = hashlib.sha256("".join(s.file_sha256 for s in sources).encode()).hexdigest()
    name = sources[0].name if len(sources) == 1 else "+".join(s.name for s in sources)
    return ModelInfo(name, "opencl", files, hashlib.sha256(content.encode()).hexdigest())
