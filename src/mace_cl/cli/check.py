"""`mace check`."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path

import click

from mace_cl.cli.files import open_any
from mace_cl.cli.text import plain
from mace_cl.errors import UsageError
from mace_cl.program.checkfit import FitReport, check_fit, read_identity
from mace_cl.program.identity import Capabilities, Identity

EXIT_MISFIT = 3


@click.command("check")
@click.argument("file")
@click.option("-d", "--device", help="Index, name or part of one; the preferred one by default.")
@click.option(
    "--identity",
    "identity_file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="A device elsewhere: what `mace devices --json` printed there.",
)
@click.option("--run", "run", is_flag=True, help="Load the file and run its self-test as well (this makes a context).")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def command(
    ctx: click.Context, file: str, device: str | None, identity_file: Path | None, run: bool, as_json: bool
) -> None:
    """Say whether FILE runs on a device without compiling. Exit code: 0 yes, 3 no, 1 its self-test fails."""
    if identity_file is not None and (device is not None or run):
        raise UsageError("--identity excludes --device and --run")
    opened = open_any(file)
    identity, capabilities = _device(device) if identity_file is None else _elsewhere(identity_file)
    report = check_fit(opened, identity, capabilities)
    wrong = _self_test(file, device) if run else None
    if as_json:
        found = {"device": identity.device_name, **report.to_json()}
        click.echo(json.dumps(found if wrong is None else found | {"self_test_faults": wrong}, indent=2))
    else:
        _print(report, identity)
        if wrong is not None:
            click.echo("self-test passed" if not wrong else "\n".join(f"self-test: {plain(w)}" for w in wrong))
    ctx.exit(1 if wrong else 0 if report.fits else EXIT_MISFIT)


def _self_test(file: str, device: str | None) -> list[str]:
    """What the file's self-test finds wrong on a device."""
    if file == "-":
        raise UsageError("--run needs a file, not standard input")
    session = import_module("mace_cl.runtime.session").Session.load(file, device=device)
    with session:
        wrong: list[str] = import_module("mace_cl.runtime.selfcheck").self_test(session)
        return wrong


def _device(wanted: str | None) -> tuple[Identity, Capabilities]:
    """A device of this machine; only its description is asked for, no context is made."""
    found = import_module("mace_cl.opencl.devices").select_device(wanted)
    return found.identity, found.capabilities


def _elsewhere(path: Path) -> tuple[Identity, Capabilities | None]:
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot be read: {getattr(error, 'strerror', None) or error}", where=str(path)) from None
    return read_identity(text, str(path))


def _print(report: FitReport, identity: Identity) -> None:
    device = f"{identity.device_name} ({identity.platform_name})"
    if report.fits:
        click.echo(f"runs on {plain(device)} without compiling" + (f": {plain(report.entry)}" if report.entry else ""))
    elif report.entry:
        click.echo(f"runs on {plain(device)} only after compiling: {plain(report.entry)}")
    else:
        click.echo(f"does not run on {plain(device)}")
    for index, fit in enumerate(report.entries):
        click.echo(f"  {index}: {plain(fit.entry)}: {fit.verdict}" if fit.entry else f"  {fit.verdict}")
        for reason in fit.reasons:
            click.echo(f"       {plain(reason)}")
