"""From a checked deployment file to the list of what is to be built."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mace_cl.deploy.read import DEFAULT_GRAPH, ReadDeployment
from mace_cl.deploy.schema import Model, Subgraph, Thresholds
from mace_cl.errors import UsageError
from mace_cl.types import Shape

SUFFIX = ".mace-cl-compiled-program.bin"


@dataclass(frozen=True)
class TensorSpec:
    """An input or output as the deployment file has it.

    Attributes:
        name: Tensor of the model.
        alias: Name in the compiled file; the tensor's own where none is given.
        shape: Its shape in `format`.
        format: 'NHWC', 'NCHW', 'OIHW' or 'NONE', or empty for the model's own layout.
        dtype: Element type, or empty where none is given.
    """

    name: str
    alias: str
    shape: Shape
    format: str = ""
    dtype: str = ""


@dataclass(frozen=True)
class Build:
    """One compiled file.

    Attributes:
        name: Model, with the subgraph's name behind it where there are several.
        output: Name of the file.
        platform: 'tensorflow', 'onnx' or 'tflite'.
        location: The model: a path or an http(s) address.
        sha256: Its checksum, or empty.
        inputs, outputs: Its tensors.
        ranges: (low, high) of each input.
        runtime: 'cpu', 'gpu' or 'cpu+gpu', or empty.
        without: Kernel families that may not be used.
        order: Place among the subgraphs of its model.
        validation_inputs, validation_outputs: Files with arrays, one for each tensor, or none.
        thresholds: Least similarities.
    """

    name: str
    output: str
    platform: str
    location: str
    sha256: str
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    ranges: tuple[tuple[float, float], ...]
    runtime: str = ""
    without: tuple[str, ...] = ()
    order: int = 0
    validation_inputs: tuple[Path, ...] = ()
    validation_outputs: tuple[Path, ...] = ()
    thresholds: Thresholds = field(default_factory=Thresholds)

    @property
    def is_remote(self) -> bool:
        """Whether the model must be downloaded."""
        return self.location.startswith(("http://", "https://"))


def builds_of(read: ReadDeployment) -> tuple[list[Build], list[str]]:
    """Every build in order, and further warnings.

    Raises:
        UsageError: Lists of one subgraph differ in length, or two tensors have one name; says where.
    """
    problems: list[str] = []
    warnings: list[str] = []
    builds: list[Build] = []
    folder = read.source.path.parent
    for name, model in read.deployment.models.items():
        path = ("models", name)
        several = len(model.subgraphs) > 1
        made = []
        for graph_name, graph in model.subgraphs.items():
            where = f"line {read.source.line((*path, 'subgraphs', graph_name))}: {name}.{graph_name}"
            problems += [f"{where}: {p}" for p in _lengths(graph)]
            label = f"{name}.{graph_name}" if several and graph_name != DEFAULT_GRAPH else name
            made.append(_build(label, model, graph, folder))
        line = read.source.line(path)
        warnings += [f"line {line}: {name}: {w}" for w in _warnings(model)]
        builds += sorted(made, key=lambda b: b.order)
    if problems:
        text = "\n".join(f"  - {p}" for p in problems)
        raise UsageError(f"{len(problems)} errors:\n{text}", where=str(read.source.path))
    return builds, warnings


def _lengths(graph: Subgraph) -> list[str]:
    """What does not fit in the lists of a subgraph."""
    found = []
    for side in ("input", "output"):
        names = getattr(graph, f"{side}_tensors")
        if len(set(names)) != len(names):
            found.append(f"{side}_tensors names one tensor twice")
        for key in ("shapes", "data_types", "data_formats", "ranges", "aliases"):
            values: Sequence[object] = getattr(graph, f"{side}_{key}", [])
            if len(values) not in ((len(names),) if key == "shapes" else (0, len(names))):
                found.append(f"{side}_{key} has {len(values)} entries for {len(names)} tensors")
    for key, names in (("inputs", graph.input_tensors), ("outputs", graph.output_tensors)):
        data = getattr(graph, f"validation_{key}_data")
        if len(data) not in (0, len(names)):
            found.append(f"validation_{key}_data has {len(data)} entries for {len(names)} tensors")
    return found


def _warnings(model: Model) -> list[str]:
    found = []
    types = {model.data_type, *(g.data_type for g in model.subgraphs.values())}
    if "fp16_fp32" in types:
        found.append("data_type fp16_fp32: weights are kept in float32, since half storage is not built")
    if model.limit_opencl_kernel_time:
        found.append("limit_opencl_kernel_time: launches are not cut; runs are enqueued in stretches of about 2 ms")
    if model.opencl_queue_window_size:
        found.append("opencl_queue_window_size: the window is two stretches of about 2 ms, whatever the number")
    return found


def _build(name: str, model: Model, graph: Subgraph, folder: Path) -> Build:
    inputs, outputs = (_tensors(graph, side) for side in ("input", "output"))
    ranges = tuple(graph.input_ranges) or ((-1.0, 1.0),) * len(inputs)
    data = [
        tuple(folder / p for p in getattr(graph, key) or getattr(model, key))
        for key in ("validation_inputs_data", "validation_outputs_data")
    ]
    remote = model.model_file_path.startswith(("http://", "https://"))
    return Build(
        name=name,
        output=f"{name}{SUFFIX}",
        platform=model.platform,
        location=model.model_file_path if remote else str(folder / model.model_file_path),
        sha256=model.model_sha256_checksum,
        inputs=inputs,
        outputs=outputs,
        ranges=ranges,
        runtime=graph.runtime or model.runtime or "",
        # MACE's 0 turns Winograd's form off; an absent key leaves the choice to the compiler.
        without=("winograd",) if model.winograd == 0 and "winograd" in model.model_fields_set else (),
        order=graph.order,
        validation_inputs=data[0],
        validation_outputs=data[1],
        thresholds=model.validation_threshold,
    )


def _tensors(graph: Subgraph, side: str) -> tuple[TensorSpec, ...]:
    def item(key: str, i: int, default: str) -> str:
        values = getattr(graph, f"{side}_{key}")
        return str(values[i]) if values else default

    names = getattr(graph, f"{side}_tensors")
    shapes = getattr(graph, f"{side}_shapes")
    return tuple(
        TensorSpec(
            n, item("aliases", i, n), shapes[i] if i < len(shapes) else (), item("data_formats", i, ""),
            item("data_types", i, ""),
        )
        for i, n in enumerate(names)
    )  # fmt: skip
