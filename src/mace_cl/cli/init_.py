"""`mace init`."""

from __future__ import annotations

from pathlib import Path

import click

from mace_cl.cli.parameters import parse_shapes
from mace_cl.deploy.write import deployment_text
from mace_cl.errors import UsageError
from mace_cl.importers import ImportOptions, import_model, model_format
from mace_cl.program.atomic import write_atomically


@click.command("init")
@click.argument("model", type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Deployment file; MODEL with .yml by default.")
@click.option("--input-shape", "shapes", multiple=True, metavar="NAME=1,3,640,640", help="Fix an input's shape.")
@click.option("--force", is_flag=True, help="Replace a file that is there.")
def command(model: Path, output: Path | None, shapes: tuple[str, ...], force: bool) -> None:
    """Write a deployment file for MODEL, with names and shapes filled in."""
    target = output or model.with_suffix(".yml")
    if target.exists() and not force:
        raise UsageError("is there already", where=str(target), hint="--force replaces it")
    graph = import_model(model, ImportOptions(input_shapes=parse_shapes(shapes)))
    text = deployment_text(model, model_format(model), graph, target.parent)
    write_atomically(target, [text.encode("utf-8")])
    click.echo(f"written  {target}")
