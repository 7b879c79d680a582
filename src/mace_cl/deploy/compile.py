"""Builds every model of a deployment file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from mace_cl.compiler import CompileOptions, CompileReport, Progress, compile_model
from mace_cl.deploy.builds import Build
from mace_cl.deploy.fetch import model_path
from mace_cl.deploy.formats import apply, native_shape
from mace_cl.errors import MaceError, UsageError
from mace_cl.graph import Graph
from mace_cl.importers import ImportOptions, import_model, model_format
from mace_cl.opencl.devices import DeviceInfo, list_devices, select_device

Warn = Callable[[str], None]


def import_build(build: Build, path: Path) -> Graph:
    """The model of a build, in the names and layouts that the file asks for.

    Raises:
        MaceError: The model cannot be read, or is not what the file says.
    """
    if model_format(path) != build.platform:
        raise UsageError(f"is a {model_format(path)} model, platform says {build.platform}", where=str(path))
    graph = import_model(path, import_options(build))
    apply(graph, build)
    return graph


def import_options(build: Build) -> ImportOptions:
    """What the importer is told."""
    return ImportOptions(
        input_shapes={t.name: native_shape(t, build.platform) for t in build.inputs if t.shape},
        input_names=tuple(t.name for t in build.inputs),
        output_names=tuple(t.name for t in build.outputs),
    )


def device_for(runtime: str, warn: Warn) -> DeviceInfo:
    """The device that a runtime asks for: a CPU for 'cpu', a GPU where there is one for the others."""
    if not runtime:
        return select_device(None)
    devices = list_devices()
    kinds = ("cpu",) if runtime == "cpu" else ("gpu", "accelerator")
    for device in devices:
        if device.kind in kinds:
            return device
    chosen = select_device(None)
    warn(f"runtime {runtime}: there is no such OpenCL device; {chosen.label} is used")
    return chosen


def compile_build(
    build: Build,
    folder: Path,
    *,
    download: bool,
    devices: Sequence[str | int] = (),
    warn: Warn,
    progress: Progress | None = None,
) -> CompileReport:
    """Compile one build into a folder.

    Args:
        build: What to build.
        folder: Where its file goes.
        download: Whether a model may be fetched.
        devices: Devices; those that the file's runtime asks for where empty.
        warn: Told of what is not as the file asks.
        progress: Told of each stage.

    Raises:
        MaceError: It cannot be built; nothing is written then.
    """
    path = model_path(build.location, build.sha256, download=download)
    chosen: tuple[str | int, ...] = tuple(devices) or (device_for(build.runtime, warn).index,)
    options = CompileOptions(
        devices=chosen,
        name=build.name,
        input_ranges={t.alias: r for t, r in zip(build.inputs, build.ranges, strict=True)},
        without=build.without,
        importer=lambda model: import_build(build, model),
    )
    try:
        return compile_model(path, folder / build.output, options, progress)
    except MaceError as error:
        error.where = f"{build.name}: {error.where}" if error.where else build.name
        raise
