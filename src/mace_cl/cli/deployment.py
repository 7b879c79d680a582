"""What the commands share that read a deployment file."""

from __future__ import annotations

from pathlib import Path

import click

from mace_cl.deploy.builds import Build, builds_of
from mace_cl.deploy.read import read_deployment


def read_builds(config: Path) -> list[Build]:
    """The builds of a deployment file; its warnings go to standard error."""
    read = read_deployment(config)
    builds, warnings = builds_of(read)
    for text in (*read.warnings, *warnings):
        warn(f"{config}: {text}")
    return builds


def warn(text: str) -> None:
    """Say something on standard error that is no error."""
    click.echo(f"warning: {text}", err=True)


def describe(build: Build) -> str:
    """A build in a few lines, for `--dry-run`."""
    lines = [f"{build.name} -> {build.output}", f"  model    {build.location} ({build.platform})"]
    if build.sha256:
        lines.append(f"  sha256   {build.sha256}")
    for side, specs in (("input", build.inputs), ("output", build.outputs)):
        for spec in specs:
            shape = "x".join(map(str, spec.shape)) or "scalar"
            alias = f" as {spec.alias}" if spec.alias != spec.name else ""
            lines.append(f"  {side:8} {spec.name}{alias}: {shape} {spec.format}".rstrip())
    lines.append(f"  runtime  {build.runtime or 'the preferred device'}")
    return "\n".join(lines)
