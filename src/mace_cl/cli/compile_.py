"""`mace compile`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from mace_cl.cli.deployment import describe, read_builds, warn
from mace_cl.cli.parameters import load_arrays, parse_ranges, parse_shapes
from mace_cl.compiler import CompileOptions, CompileReport, compile_model
from mace_cl.deploy.compile import compile_build
from mace_cl.errors import UsageError
from mace_cl.importers import ImportOptions

DEFAULT_OUTPUT = "mace-cl-compiled-program.bin"


@click.command("compile")
@click.argument("model", type=click.Path(path_type=Path), required=False)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help=f"File [{DEFAULT_OUTPUT}]; a folder with --config."
)
@click.option("--config", type=click.Path(path_type=Path), help="Build every model of a MACE deployment file (YAML).")
@click.option("--dry-run", is_flag=True, help="With --config: check the file and print what would be built.")
@click.option("--download", is_flag=True, help="With --config: fetch models that are named by address.")
@click.option("-d", "--device", "devices", multiple=True, help="Index, name or part; several for several entries.")
@click.option("--input-shape", "shapes", multiple=True, metavar="NAME=1,3,640,640", help="Fix an input's shape.")
@click.option("--input-range", "ranges", multiple=True, metavar="NAME=-1,1", help="Range of the self-test's input.")
@click.option("--fixed-input", "fixed", multiple=True, metavar="NAME=FILE.npy", help="Make an input a constant.")
@click.option("--input-name", "input_names", multiple=True, help="Inputs, where they are not the model's own.")
@click.option("--output-name", "output_names", multiple=True, help="Outputs, where they are not the model's own.")
@click.option("--name", default="", help="Name of the network; the file's stem by default.")
@click.option("--without", multiple=True, metavar="FAMILY", help="A kernel family that may not be used.")
@click.option("--selftest/--no-selftest", default=True, help="Store reference results for `mace check --run`.")
@click.option("--check-passes", is_flag=True, help="Check the graph after every pass.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def command(
    model: Path | None, output: Path | None, config: Path | None, dry_run: bool, download: bool, **choices: Any
) -> None:
    """Compile MODEL (.onnx, .tflite or TensorFlow .pb) into one file, or the models of a deployment file."""
    if (model is None) == (config is None):
        raise UsageError("give a model or --config, one of them")
    if config is not None:
        _compile_config(config, output or Path(), dry_run, download, choices)
        return
    assert model is not None
    if dry_run or download:
        raise UsageError("--dry-run and --download go with --config")
    target = output or Path(DEFAULT_OUTPUT)
    if target.resolve() == model.resolve():
        raise UsageError("the output would replace the model", where=str(target))
    _show(compile_with_progress(model, target, _options(choices), quiet=choices["as_json"]), target, choices["as_json"])


def _options(choices: dict[str, Any]) -> CompileOptions:
    """The flags as options."""
    importing = ImportOptions(
        input_shapes=parse_shapes(choices["shapes"]),
        fixed_inputs=load_arrays(choices["fixed"], "--fixed-input"),
        input_names=choices["input_names"],
        output_names=choices["output_names"],
    )
    return CompileOptions(
        importing=importing,
        devices=choices["devices"],
        name=choices["name"],
        selftest=choices["selftest"],
        input_ranges=parse_ranges(choices["ranges"]),
        checked=choices["check_passes"],
        without=choices["without"],
    )


_FILE_SAYS = {
    "shapes": "--input-shape",
    "ranges": "--input-range",
    "fixed": "--fixed-input",
    "input_names": "--input-name",
    "output_names": "--output-name",
    "name": "--name",
    "without": "--without",
}
"""Flags whose place is taken by the deployment file."""


def _compile_config(config: Path, folder: Path, dry_run: bool, download: bool, choices: dict[str, Any]) -> None:
    """Build every model of a deployment file, or say what would be built."""
    odd = [flag for key, flag in _FILE_SAYS.items() if choices[key]]
    if odd:
        raise UsageError(f"{odd[0]} does not go with --config: the file says it")
    builds = read_builds(config)
    if dry_run:
        click.echo("\n".join(describe(b) for b in builds))
        return
    folder.mkdir(parents=True, exist_ok=True)
    for build in builds:
        report = compile_build(build, folder, download=download, devices=choices["devices"], warn=warn)
        _show(report, folder / build.output, choices["as_json"])


def _show(report: CompileReport, output: Path, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(report_json(report, output), indent=2))
    else:
        print_report(report, output)


def compile_with_progress(model: Path, output: Path, options: CompileOptions, *, quiet: bool) -> CompileReport:
    """Compile behind a progress bar on standard error; silent where that is no terminal."""
    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        return compile_model(model, output, options)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("starting", total=None)

        def tell(what: str, done: int, total: int) -> None:
            bar.update(task, completed=done, total=total, description=what or None)

        return compile_model(model, output, options, tell)


def report_json(report: CompileReport, output: Path) -> dict[str, Any]:
    """The report as plain values."""
    return {
        "file": str(output),
        "file_bytes": report.file_bytes,
        "model": {"name": report.model.name, "format": report.model.format, "macs": report.model.macs},
        "operators": dict(report.operators),
        "sections": dict(report.sizes),
        "seconds": {k: round(v, 4) for k, v in report.seconds.items()},
        "devices": {
            name: {
                "kernels": len(made.specs),
                "launches": len(made.plan.launches),
                "arena_bytes": made.plan.arena_bytes,
                "arena_unshared_bytes": made.plan.arena_unshared,
            }
            for name, made in report.lowered.items()
        },
    }


def print_report(report: CompileReport, output: Path) -> None:
    """The report as a few lines."""
    rows = [("operators", f"{report.model.layers}: " + ", ".join(f"{n} {k}" for k, n in report.operators.items()))]
    for name, made in report.lowered.items():
        rows.append(("device", name))
        rows.append(("kernels", f"{len(made.specs)} in {len(made.plan.launches)} launches"))
        rows.append(("arena", f"{_size(made.plan.arena_bytes)} ({_size(made.plan.arena_unshared)} without reuse)"))
    parts = ", ".join(f"{k} {_size(v)}" for k, v in report.sizes.items())
    rows.append(("file", f"{_size(report.file_bytes)}: {parts}"))
    rows.append(("time", ", ".join(f"{k} {v:.2f} s" for k, v in report.seconds.items())))
    click.echo(f"{report.model.name} -> {output}")
    for label, text in rows:
        click.echo(f"{label:10} {text}")


def _size(nbytes: int) -> str:
    """Bytes in decimal units."""
    for limit, unit, digits in ((1_000, "B", 0), (1_000_000, "kB", 1), (1_000_000_000, "MB", 1)):
        if nbytes < limit:
            return f"{nbytes / (limit / 1000):.{digits}f} {unit}"
    return f"{nbytes / 1e9:.2f} GB"
