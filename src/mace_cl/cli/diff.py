"""`mace diff`."""

from __future__ import annotations

import json
from dataclasses import asdict
from itertools import groupby

import click

from mace_cl.cli.files import open_any
from mace_cl.cli.text import plain
from mace_cl.program.diff import Difference, diff_files


@click.command("diff")
@click.argument("first")
@click.argument("second")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def command(ctx: click.Context, first: str, second: str, as_json: bool) -> None:
    """Compare two files: identity, kernels, tuned parameters, sections. Exit code 0 if they say the same, else 1."""
    found = diff_files(open_any(first), open_any(second))
    if as_json:
        click.echo(json.dumps([asdict(d) for d in found], indent=2))
    elif not found:
        click.echo("the two files say the same")
    else:
        for group, rows in groupby(found, key=lambda d: d.group):
            click.echo(group)
            for row in rows:
                click.echo("\n".join(_lines(row)))
    ctx.exit(1 if found else 0)


def _lines(row: Difference) -> list[str]:
    lines = [f"  {plain(row.name)}"]
    if row.first is not None:
        lines.append(f"    - {plain(row.first)}")
    if row.second is not None:
        lines.append(f"    + {plain(row.second)}")
    return lines
