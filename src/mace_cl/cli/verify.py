"""`mace verify`."""

from __future__ import annotations

import json
from typing import Any

import click

from mace_cl.cli.files import read_any
from mace_cl.cli.text import plain
from mace_cl.errors import FormatError
from mace_cl.program.container import is_version3, read_container
from mace_cl.program.macefile.files import read_mace_file
from mace_cl.program.sign import require_signature, signature_states
from mace_cl.program.verify import verify_container


@click.command("verify")
@click.argument("file")
@click.option("--key", type=click.Path(dir_okay=False), help="Public key that must have signed the file.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def command(ctx: click.Context, file: str, key: str | None, as_json: bool) -> None:
    """Check every hash, checksum, bound and signature of FILE; - is standard input."""
    data, where = read_any(file)
    found = _version3(data, where, key) if is_version3(data) else _mace(data, where, key)
    if as_json:
        click.echo(json.dumps({"file": where, **found}, indent=2))
    else:
        for line in found["checked"]:
            click.echo(f"good   {plain(line)}")
        for signature in found["signatures"]:
            click.echo(f"{signature['state']:6} signature {signature['public_key'] or ''}".rstrip())
        for fault in found["faults"]:
            click.echo(f"WRONG  {plain(fault)}")
    ctx.exit(1 if found["faults"] else 0)


def _version3(data: memoryview, where: str, key: str | None) -> dict[str, Any]:
    container = read_container(data, where)
    report = verify_container(container)
    states = signature_states(container)
    faults = [*report.faults, *(f"signature of {s.public_key} is wrong" for s in states if s.state == "wrong")]
    checked = list(report.checked)
    if key is not None:
        require_signature(container, key)
        checked.append(f"signed with {key}")
    signatures = [{"public_key": s.public_key, "state": s.state} for s in states]
    return {"version": 3, "checked": checked, "signatures": signatures, "faults": faults}


def _mace(data: memoryview, where: str, key: str | None) -> dict[str, Any]:
    found = read_mace_file(data, where)
    if key is not None:
        raise FormatError(f"version {found.version} has no signatures", where=where)
    checked = [f"{len(found.pairs)} pairs of version {found.version}"]
    if found.stored_crc32 is not None:
        checked.append(f"CRC-32 0x{found.stored_crc32:08X}")
    else:
        checked.append("bounds only: version 1 has no checksum")
    if found.tail:
        checked.append(f"a stale tail of {len(found.tail)} bytes, which MACE ignores")
    return {"version": found.version, "checked": checked, "signatures": [], "faults": []}
