"""`mace extract`."""

from __future__ import annotations

from pathlib import Path

import click

from mace_cl.cli.files import open_any
from mace_cl.program.extract import extract_file


@click.command("extract")
@click.argument("file")
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder; the file's name with .parts by default.",
)
@click.option("--weights", is_flag=True, help="Write weights as well.")
@click.option("--force", is_flag=True, help="Replace files that are there.")
def command(file: str, output: Path | None, weights: bool, force: bool) -> None:
    """Write the parts of FILE into a folder: programs, IL, source, plans, header."""
    folder = output or Path("stdin.parts" if file == "-" else Path(file).name + ".parts")
    for path in extract_file(open_any(file), folder, weights=weights, replace=force):
        click.echo(path)
