"""`mace compile`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from mace_cl.cli.parameters import load_arrays, parse_ranges, parse_shapes
from mace_cl.compiler import CompileOptions, CompileReport, compile_model
from mace_cl.errors import UsageError
from mace_cl.importers import ImportOptions

DEFAULT_OUTPUT = "mace-cl-compiled-program.bin"


@click.command("compile")
@click.argument("model", type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), default=DEFAULT_OUTPUT, show_default=True)
@click.option(
    "-d", "--device", "devices", multiple=True, help="Index, name or part of one; several for several entries."
)
@click.option("--input-shape", "shapes", multiple=True, metavar="NAME=1,3,640,640", help="Fix an input's shape.")
@click.option("--input-range", "ranges", multiple=True, metavar="NAME=-1,1", help="Range of the self-test's input.")
@click.option("--fixed-input", "fixed", multiple=True, metavar="NAME=FILE.npy", help="Make an input a constant.")
@click.option("--input-name", "input_names", multiple=True, help="Inputs, where they are not the model's own.")
@click.option("--output-name", "output_names", multiple=True, help="Outputs, where they are not the model's own.")
@click.option("--name", default="", help="Name of the network; the file's stem by default.")
@click.option("--selftest/--no-selftest", default=True, help="Store reference results for `mace check --run`.")
@click.option("--check-passes", is_flag=True, help="Check the graph after every pass.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def command(
    model: Path,
    output: Path,
    devices: tuple[str, ...],
    shapes: tuple[str, ...],
    ranges: tuple[str, ...],
    fixed: tuple[str, ...],
    input_names: tuple[str, ...],
    output_names: tuple[str, ...],
    name: str,
    selftest: bool,
    check_passes: bool,
    as_json: bool,
) -> None:
    """Compile MODEL (.onnx, .tflite or TensorFlow .pb) into one file."""
    if output.resolve() == model.resolve():
        raise UsageError("the output would replace the model", where=str(output))
    options = CompileOptions(
        importing=ImportOptions(
            input_shapes=parse_shapes(shapes),
            fixed_inputs=load_arrays(fixed, "--fixed-input"),
            input_names=input_names,
            output_names=output_names,
        ),
        devices=devices,
        name=name,
        selftest=selftest,
        input_ranges=parse_ranges(ranges),
        checked=check_passes,
    )
    report = compile_with_progress(model, output, options, quiet=as_json)
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
    """The report as a short table."""
    table = Table(show_header=False, box=None, pad_edge=False)
    operators = ", ".join(f"{n} {k}" for k, n in report.operators.items())
    table.add_row("operators", f"{report.model.layers}: {operators}")
    for name, made in report.lowered.items():
        table.add_row("device", name)
        table.add_row("kernels", f"{len(made.specs)} in {len(made.plan.launches)} launches")
        table.add_row("arena", f"{_size(made.plan.arena_bytes)} ({_size(made.plan.arena_unshared)} without reuse)")
    table.add_row(
        "file", f"{_size(report.file_bytes)}: " + ", ".join(f"{k} {_size(v)}" for k, v in report.sizes.items())
    )
    table.add_row("time", ", ".join(f"{k} {v:.2f} s" for k, v in report.seconds.items()))
    console = Console(soft_wrap=True)
    console.print(f"{report.model.name} -> {output}", highlight=False, markup=False)
    console.print(table)


def _size(nbytes: int) -> str:
    """Bytes in decimal units."""
    for limit, unit, digits in ((1_000, "B", 0), (1_000_000, "kB", 1), (1_000_000_000, "MB", 1)):
        if nbytes < limit:
            return f"{nbytes / (limit / 1000):.{digits}f} {unit}"
    return f"{nbytes / 1e9:.2f} GB"
