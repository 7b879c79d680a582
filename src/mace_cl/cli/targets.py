"""`mace targets`."""

from __future__ import annotations

import json
from importlib import import_module

import click

from mace_cl.cli.text import align, plain
from mace_cl.errors import MaceError
from mace_cl.toolchains.offline import target_rows


@click.command("targets")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(as_json: bool) -> None:
    """List what programs can be compiled for, and what each needs."""
    rows = [*_hosts(), *target_rows()]
    rows.append(
        {
            "target": "any other name",
            "what": "a vendor's own program",
            "needs": "--toolchain 'compiler {in} -o {out}'",
            "state": "",
        }
    )
    if as_json:
        click.echo(json.dumps(rows, indent=2))
        return
    table = [[plain(r[k]) for k in ("target", "what", "needs", "state")] for r in rows]
    for line in align([["target", "what", "needs", "state"], *table]):
        click.echo(line)


def _hosts() -> list[dict[str, str]]:
    """The devices of this machine; none is no error here."""
    needs = "its driver"
    try:
        devices = import_module("mace_cl.opencl.devices").list_devices()
    except MaceError as error:
        return [{"target": "host", "what": "a device of this machine", "needs": needs, "state": str(error)}]
    if not devices:
        state = "no device: pip install 'mace-cl[cpu]'"
        return [{"target": "host", "what": "a device of this machine", "needs": needs, "state": state}]
    rows = [{"target": f"host:{d.index}", "what": d.label, "needs": needs, "state": "present"} for d in devices]
    return [{**rows[0], "target": "host, host:0"}, *rows[1:]]
