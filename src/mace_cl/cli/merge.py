"""`mace merge`."""

from __future__ import annotations

import click

from mace_cl.cli.files import open_version3
from mace_cl.cli.text import plain
from mace_cl.program.merge import PREFER, merge_files
from mace_cl.program.writer import write_file


@click.command("merge")
@click.argument("files", nargs=-1, required=True)
@click.option("-o", "--output", required=True, type=click.Path(dir_okay=False), help="File to write.")
@click.option(
    "--prefer",
    type=click.Choice(PREFER),
    default="none",
    show_default=True,
    help="Which of two different entries for one device; none makes it an error.",
)
def command(files: tuple[str, ...], output: str, prefer: str) -> None:
    """Join the device entries of FILES of one network. Signatures are dropped."""
    merged = merge_files([(name, open_version3(name)) for name in files], prefer)
    write_file(output, merged)
    click.echo(f"{output}: {len(merged.entries)} entries")
    for index, entry in enumerate(merged.entries):
        click.echo(f"  {index}: {plain(entry.name)}")
