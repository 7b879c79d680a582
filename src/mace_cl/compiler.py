"""The driver: import, passes, lower, build, write. It reads as the table of contents of the compiler."""

from __future__ import annotations

import hashlib
import importlib.metadata
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from mace_cl.graph import Graph
from mace_cl.graph.digest import graph_sha256
from mace_cl.graph.evaluate import evaluate_graph
from mace_cl.graph.ops import Conv, ConvTranspose, MatMul
from mace_cl.importers import ImportOptions, import_model, model_format
from mace_cl.kernels.source import program_source
from mace_cl.lowering.lower import Lowered, lower
from mace_cl.opencl.build import build_program
from mace_cl.opencl.devices import DeviceInfo, select_device
from mace_cl.passes.pipeline import PassRun, run_passes
from mace_cl.program.records import Blob, CompiledFile, Entry, ModelInfo, PlanRef, ProgramForms
from mace_cl.program.selftest import SelfTest, make_inputs, sample_outputs
from mace_cl.program.writer import write_file
from mace_cl.runtime.probe import pair_token
from mace_cl.store.store import Store

BUILD_TIMEOUT_S = 600.0
SELFTEST_RANGE = (-1.0, 1.0)

Progress = Callable[[str, int, int], None]
"""Called with what is being done, the number of stages done, and the number of stages."""


@dataclass(frozen=True)
class CompileOptions:
    """Choices for a compilation.

    Attributes:
        importing: What the user says of the model.
        devices: Devices to compile for (`select_device`'s words); the preferred one where empty.
        name: Name of the network; the file's stem where empty.
        selftest: Compute reference results for `mace check --run`.
        input_ranges: Input name to its (low, high), for the self-test.
        checked: Check the graph after every pass.
        build_timeout_s: Longest time that a driver's compiler may take.
        without: Kernel families that may not be used.
        importer: Reads the model file instead of `import_model` with `importing`.
    """

    importing: ImportOptions = field(default_factory=ImportOptions)
    devices: tuple[str | int, ...] = ()
    name: str = ""
    selftest: bool = True
    input_ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    checked: bool = False
    build_timeout_s: float = BUILD_TIMEOUT_S
    without: tuple[str, ...] = ()
    importer: Callable[[Path], Graph] | None = None


@dataclass(frozen=True)
class CompileReport:
    """What a compilation made.

    Attributes:
        model: The network.
        operators: Operator name to its count in the imported graph.
        nodes: Nodes after the passes.
        passes: What each pass did.
        lowered: Device name to its lowering.
        sizes: Kind of section to its bytes in the file.
        file_bytes: Size of the file.
        seconds: Stage to its time.
    """

    model: ModelInfo
    operators: Mapping[str, int]
    nodes: int
    passes: Sequence[PassRun]
    lowered: Mapping[str, Lowered]
    sizes: Mapping[str, int]
    file_bytes: int
    seconds: Mapping[str, float]


class _Stages:
    """Tells progress and times stages."""

    def __init__(self, total: int, progress: Progress | None) -> None:
        self.total, self.progress, self.done = total, progress, 0
        self.seconds: dict[str, float] = {}
        self._name, self._start = "", time.perf_counter()

    def begin(self, name: str, detail: str = "") -> None:
        self.end()
        self._name, self._start = name, time.perf_counter()
        if self.progress is not None:
            self.progress(f"{name} {detail}".strip(), self.done, self.total)

    def end(self) -> None:
        if self._name:
            self.done += 1
            self.seconds[self._name] = self.seconds.get(self._name, 0.0) + time.perf_counter() - self._start
            self._name = ""
            if self.progress is not None:
                self.progress("", self.done, self.total)


def compile_model(
    model: str | Path,
    output: str | Path,
    options: CompileOptions | None = None,
    progress: Progress | None = None,
) -> CompileReport:
    """Compile a model file into a `mace-cl-compiled-program.bin`.

    Args:
        model: An .onnx, .tflite or TensorFlow .pb file.
        output: The file to write; it appears whole or not at all.
        options: Choices.
        progress: Told of each stage.

    Raises:
        MaceError: Any of its family; nothing is written then.
    """
    options = options or CompileOptions()
    devices = [select_device(d) for d in options.devices or (None,)]
    stages = _Stages(4 + 2 * len(devices), progress)
    path = Path(model)

    stages.begin("import", path.name)
    graph = options.importer(path) if options.importer else import_model(path, options.importing)
    info = _describe(graph, path, options.name or path.stem)
    operators = _count(graph)

    stages.begin("reference")
    selftest = _selftest(graph, options) if options.selftest else None

    stages.begin("passes")
    passes = run_passes(graph, checked=options.checked)

    entries: list[Entry] = []
    lowered: dict[str, Lowered] = {}
    for device in devices:
        stages.begin("lower", device.identity.device_name)
        made = lower(graph, device.facts, without=options.without)
        lowered[device.identity.device_name] = made
        stages.begin("build", f"{len(made.specs)} kernels for {device.identity.device_name}")
        entries.append(_entry(info.name, device, made, graph, selftest, options.build_timeout_s))

    stages.begin("write")
    portable = _portable(entries[0])
    identity = devices[0].identity
    file = CompiledFile(
        target_gpu=f"{identity.device_vendor} {identity.device_name}".strip(),
        driver_version=identity.driver_version,
        model=info,
        entries=(*entries, portable),
        provenance={"tool": "mace-cl", "version": importlib.metadata.version("mace-cl")},
    )
    write_file(output, file)
    _vouch(devices, entries)
    stages.end()
    return CompileReport(
        model=info,
        operators=operators,
        nodes=len(graph.nodes),
        passes=passes,
        lowered=lowered,
        sizes=_section_sizes(file),
        file_bytes=Path(output).stat().st_size,
        seconds=stages.seconds,
    )


def _describe(graph: Graph, path: Path, name: str) -> ModelInfo:
    macs = sum(_macs(graph))
    with path.open("rb") as file:
        source = hashlib.file_digest(file, "sha256").hexdigest()
    return ModelInfo(name, model_format(path), source, graph_sha256(graph), macs, len(graph.nodes))


def _macs(graph: Graph) -> list[int]:
    """Multiply-adds of each convolution and matrix product."""
    heavy = [n for n in graph.nodes if isinstance(n.op, Conv | ConvTranspose | MatMul)]
    types = [([None if v is None else v.type for v in n.inputs], [v.type for v in n.outputs]) for n in heavy]
    return [n.op.cost(i, o).flop // 2 for n, (i, o) in zip(heavy, types, strict=True)]


def _count(graph: Graph) -> dict[str, int]:
    counts: dict[str, int] = {}
    for node in graph.nodes:
        counts[node.op.name] = counts.get(node.op.name, 0) + 1
    return dict(sorted(counts.items()))


def _selftest(graph: Graph, options: CompileOptions) -> SelfTest:
    """Reference results of the imported graph on the fixed inputs, by the operators' NumPy references."""
    names = list(graph.inputs)
    ranges = tuple(options.input_ranges.get(n, SELFTEST_RANGE) for n in names)
    arrays = make_inputs([graph.inputs[n].type for n in names], ranges)
    outputs = evaluate_graph(graph, dict(zip(names, arrays, strict=True)), dtype=None)
    return SelfTest(ranges, sample_outputs(outputs))


def _entry(
    name: str, device: DeviceInfo, made: Lowered, graph: Graph, selftest: SelfTest | None, timeout_s: float
) -> Entry:
    """Build the program and put an entry together."""
    source = program_source(made.specs)
    local_sizes = sorted({s.local_size for s in made.plan.launches if s.local_size})
    kernels = [spec.function for spec in made.specs]
    options = " ".join(device.facts.build_options)
    built = build_program(device, source, options, kernels=kernels, local_sizes=local_sizes, timeout_s=timeout_s)
    label = f"{name} {device.identity.device_name}"
    forms = ProgramForms(
        binary=Blob("program", f"{label} p0", built.binary),
        source=Blob("source", f"{name} p0", source.encode()),
        options=built.options,
        kernels=built.kernels,
    )
    plan = PlanRef({n: v.shape for n, v in graph.inputs.items()}, Blob("plan", f"{label} plan", made.plan.to_bytes()))
    return Entry(
        name=label,
        identity=device.identity,
        requires=made.requires,
        programs={"p0": forms} if kernels else {},
        weights={n: Blob("weights", f"{name} {n}", data) for n, data in made.weights.items()},
        plans=(plan,),
        selftest=None if selftest is None else Blob("selftest", f"{name} selftest", selftest.to_bytes()),
    )


def _vouch(devices: Sequence[DeviceInfo], entries: Sequence[Entry]) -> None:
    """Note on this machine that it built these programs for these plans: a start need not try them first."""
    store = Store.open()
    for device, entry in zip(devices, entries, strict=True):
        binaries = [p.binary.sha256 for p in entry.programs.values() if p.binary is not None]
        for plan in entry.plans:
            store.keep(partial(store.vouched.add, pair_token(device, binaries, plan.blob.sha256)))


def _portable(entry: Entry) -> Entry:
    """The same plan, weights and source for any device that meets the requirements; equal sections are stored once."""
    # Options that belong to the first device stay with it; the runtime adds those of the device that it builds on.
    programs = {n: ProgramForms(source=p.source, kernels=p.kernels) for n, p in entry.programs.items()}
    return Entry(
        name="portable",
        identity=None,
        requires=entry.requires,
        programs=programs,
        weights=entry.weights,
        plans=entry.plans,
        selftest=entry.selftest,
    )


def _section_sizes(file: CompiledFile) -> dict[str, int]:
    """Bytes of each kind of section, equal ones once."""
    blobs: dict[str, Blob] = {}
    for entry in file.entries:
        for forms in entry.programs.values():
            blobs.update({b.sha256: b for b in (forms.binary, forms.il, forms.source) if b is not None})
        blobs.update({b.sha256: b for b in (*entry.weights.values(), *(p.blob for p in entry.plans))})
        if entry.selftest is not None:
            blobs[entry.selftest.sha256] = entry.selftest
    sizes: dict[str, int] = {}
    for blob in blobs.values():
        sizes[blob.kind] = sizes.get(blob.kind, 0) + blob.size
    return sizes
