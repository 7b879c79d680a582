"""`mace devices`."""

from __future__ import annotations

import json
from typing import Any

import click

from mace_cl.errors import MaceError
from mace_cl.opencl.devices import DeviceInfo, list_devices, no_device, select_device
from mace_cl.opencl.units import measure_units


@click.command("devices")
@click.option("-d", "--device", help="Only this one: index, name or part of one.")
@click.option("--check", is_flag=True, help="Run a small kernel and say how many units really work at once.")
@click.option("--identity", is_flag=True, help="Show all that decides whether a compiled program fits.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(device: str | None, check: bool, identity: bool, as_json: bool) -> None:
    """List OpenCL devices, the preferred one first."""
    devices = [select_device(device)] if device is not None else list_devices()
    if not devices:
        raise no_device()
    lines = [_line(d, check) for d in devices]
    if as_json:
        click.echo(json.dumps(lines, indent=2))
        return
    for line in lines:
        _print(line, identity)


def _line(device: DeviceInfo, check: bool) -> dict[str, Any]:
    facts = device.facts
    line: dict[str, Any] = {
        "index": device.index,
        "name": device.name,
        "platform": device.identity.platform_name,
        "vendor": device.vendor,
        "family": facts.family,
        "kind": device.kind,
        "driver": device.identity.driver_version,
        "units": facts.compute_units,
        "work_group_size": facts.max_work_group_size,
        "local_mem_bytes": facts.local_mem_bytes,
        "max_alloc_bytes": facts.max_alloc_bytes,
        "fp16": facts.has_fp16,
        "images": facts.has_images,
        "il": list(device.capabilities.il_versions),
        "identity": device.identity.to_json(),
        "identity_digest": device.identity.digest,
    }
    if check:
        line |= _checked(device)
    return line


def _checked(device: DeviceInfo) -> dict[str, Any]:
    try:
        return {"working_units": measure_units(device), "problem": ""}
    except MaceError as error:
        return {"working_units": 0, "problem": str(error)}


def _print(line: dict[str, Any], identity: bool) -> None:
    click.echo(f"{line['index']}: {line['name']}")
    click.echo(f"   platform  {line['platform']}, driver {line['driver']}")
    click.echo(f"   kind      {line['kind']}, family {line['family']}, {line['units']} compute units")
    click.echo(
        f"   memory    buffers to {line['max_alloc_bytes'] >> 20} MiB, local {line['local_mem_bytes'] >> 10} KiB, "
        f"work-groups to {line['work_group_size']}"
    )
    extras = [name for name in ("fp16", "images") if line[name]] + (["SPIR-V"] if line["il"] else [])
    click.echo(f"   offers    {', '.join(extras) or 'no more than OpenCL C'}")
    if "working_units" in line:
        click.echo(f"   check     {line['problem'] or _verdict(line)}")
    if identity:
        for key, value in line["identity"].items():
            click.echo(f"   {key:17} {value if value != {} else ''}")
        click.echo(f"   {'digest':17} {line['identity_digest']}")


def _verdict(line: dict[str, Any]) -> str:
    working, units = line["working_units"], line["units"]
    if working == units:
        return f"all {units} units work at once" if units > 1 else "its unit works"
    return f"only {working} of {units} units work at once"
