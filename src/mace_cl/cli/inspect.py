"""`mace inspect`."""

from __future__ import annotations

import json
from pathlib import Path

import click

from mace_cl.cli.files import read_any
from mace_cl.cli.pages import page
from mace_cl.program.describe import describe_file, describe_folder


@click.command("inspect")
@click.argument("file")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def command(file: str, as_json: bool) -> None:
    """Describe FILE: a compiled program of any version, tuned parameters, or a driver's binary; - is standard input."""
    found = describe_folder(file) if file != "-" and Path(file).is_dir() else None
    if found is None:
        found = describe_file(*read_any(file))
    if as_json:
        click.echo(json.dumps(found, indent=2))
        return
    for line in page(found):
        click.echo(line)
