"""`mace validate`."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import click

from mace_cl.cli.deployment import read_builds
from mace_cl.deploy.validate import Comparison, threshold, validate_build
from mace_cl.errors import UsageError
from mace_cl.opencl.devices import select_device

EXIT_MISSED = 1


@click.command("validate")
@click.argument("config", type=click.Path(path_type=Path))
@click.option("--compiled", type=click.Path(path_type=Path), default=".", help="Compiled file, or the folder of them.")
@click.option("-d", "--device", help="Index, name or part of one.")
@click.option("--download", is_flag=True, help="Fetch models that are named by address.")
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON.")
def command(config: Path, compiled: Path, device: str | None, download: bool, as_json: bool) -> int:
    """Compare compiled files with the models of the deployment file CONFIG.

    The inputs are the file's validation data, or random numbers in its ranges; the reference is its validation output,
    or the network computed in float64. Exit code 1 if an output's similarity is below the file's threshold.
    """
    builds = read_builds(config)
    if compiled.is_file() and len(builds) > 1:
        raise UsageError(f"{config} has {len(builds)} builds: --compiled takes the folder of their files")
    kind = select_device(device).kind
    missed = False
    rows = []
    for build in builds:
        path = compiled if compiled.is_file() else compiled / build.output
        if not path.is_file():
            raise UsageError("there is no such file", where=str(path), hint=f"mace compile --config {config} makes it")
        least = threshold(build, kind)
        for result in validate_build(build, path, device, download=download):
            missed |= not result.similarity >= least
            rows.append({"build": build.name, "threshold": least, **dataclasses.asdict(result)})
            if not as_json:
                click.echo(f"{build.name}: {_line(result, least)}")
    if as_json:
        click.echo(json.dumps(rows, indent=2))
    return EXIT_MISSED if missed else 0


def _line(result: Comparison, least: float) -> str:
    verdict = "passes" if result.similarity >= least else "MISSES"
    return (
        f"{result.name}: similarity {result.similarity:.6f}, {verdict} {least}; "
        f"largest difference {result.absolute:.3g}, {result.relative:.2g} of the peak {result.peak:.4g}; "
        f"scale {result.scale:.6f}"
    )
