"""`mace_cl_compiler`: OpenCL C to a compiled file."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click

from mace_cl.cli.failures import run_command
from mace_cl.cli.text import plain, size_text
from mace_cl.compile_kernels import KernelOptions, TargetReport, compile_kernels
from mace_cl.errors import UsageError

DEFAULT_OUTPUT = "mace-cl-compiled-program.bin"


@click.command("mace_cl_compiler", context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="mace-cl", prog_name="mace_cl_compiler")
@click.option(
    "--input", "inputs", multiple=True, required=True, type=click.Path(path_type=Path), help="OpenCL C file; several."
)
@click.option("-o", "--output", type=click.Path(path_type=Path), default=DEFAULT_OUTPUT, show_default=True)
@click.option(
    "--target",
    "targets",
    multiple=True,
    default=("host",),
    show_default=True,
    help="host, host:NAME, host:INDEX, spirv, gfx1030, sm_80, myriad ...; several. See: mace targets.",
)
@click.option("-D", "defines", multiple=True, metavar="NAME[=VALUE]", help="Define a macro.")
@click.option("-I", "includes", multiple=True, type=click.Path(path_type=Path), help="Folder for #include.")
@click.option("--options", default="", help="OpenCL build options, for example '-cl-fast-relaxed-math'.")
@click.option("--toolchain", help="A vendor's compiler: 'clc {in} -o {out}'; {options} and {target} are filled in too.")
@click.option("--timeout", type=click.FloatRange(0, min_open=True), default=600.0, show_default=True, help="Seconds.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def command(
    inputs: tuple[Path, ...],
    output: Path,
    targets: tuple[str, ...],
    defines: tuple[str, ...],
    includes: tuple[Path, ...],
    options: str,
    toolchain: str | None,
    timeout: float,
    as_json: bool,
) -> None:
    """Compile OpenCL C into a mace-cl-compiled-program.bin, for one or more targets."""
    if any(output.resolve() == path.resolve() for path in inputs):
        raise UsageError("the output would replace an input", where=str(output))
    chosen = KernelOptions(targets, defines, includes, options, toolchain, timeout)
    reports = compile_kernels(inputs, output, chosen)
    if as_json:
        click.echo(json.dumps({"file": str(output), "targets": [asdict(r) for r in reports]}, indent=2))
        return
    for report in reports:
        for line in _lines(report):
            click.echo(line)
    click.echo(f"{output}: {size_text(output.stat().st_size)}")


def _lines(report: TargetReport) -> list[str]:
    lines = [f"{plain(report.target)}: {'SPIR-V' if report.form == 'il' else 'compiled program'}"]
    for name, kernels in report.kernels.items():
        lines.append(f"  {plain(name)}: {size_text(report.sizes.get(name, 0))}, kernels {plain(', '.join(kernels))}")
    lines += [f"  note: {plain(n)}" for n in report.notes]
    if "warning" in report.log:
        lines += [f"  | {plain(line)}" for line in report.log.splitlines() if line.strip()]
    return lines


def main(argv: Sequence[str] | None = None) -> None:
    """Entry point of `mace_cl_compiler`."""
    run_command(command, "mace_cl_compiler", sys.argv[1:] if argv is None else list(argv))
