"""`mace prune`."""

from __future__ import annotations

import click

from mace_cl.cli.files import open_version3
from mace_cl.cli.text import plain
from mace_cl.program.prune import PruneOptions, prune_file
from mace_cl.program.writer import write_file


@click.command("prune")
@click.argument("file")
@click.option("-o", "--output", required=True, type=click.Path(dir_okay=False), help="File to write.")
@click.option("--keep", multiple=True, help="Entry to keep: index, part of a name, or 'portable'. Default: all.")
@click.option("--drop", multiple=True, help="Entry to leave out, in the same words.")
@click.option("--no-source", is_flag=True, help="Leave out OpenCL C source.")
@click.option("--no-selftest", is_flag=True, help="Leave out self-tests.")
@click.option("--no-tuning", is_flag=True, help="Leave out tuned parameters.")
def command(
    file: str,
    output: str,
    keep: tuple[str, ...],
    drop: tuple[str, ...],
    no_source: bool,
    no_selftest: bool,
    no_tuning: bool,
) -> None:
    """Keep some entries of FILE. Signatures are dropped."""
    options = PruneOptions(keep, drop, source=not no_source, selftest=not no_selftest, tuning=not no_tuning)
    pruned = prune_file(open_version3(file), options)
    write_file(output, pruned)
    click.echo(f"{output}: {len(pruned.entries)} entries")
    for index, entry in enumerate(pruned.entries):
        click.echo(f"  {index}: {plain(entry.name)}")
