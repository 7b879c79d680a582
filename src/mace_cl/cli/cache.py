"""`mace cache`."""

from __future__ import annotations

import contextlib
import json
import os
import time
from pathlib import Path
from typing import Any

import click

from mace_cl.errors import CacheError
from mace_cl.store.folder import cache_folder
from mace_cl.store.programs import FAILED, quota_bytes
from mace_cl.store.store import Store


@click.group("cache")
def command() -> None:
    """List, measure or clear what mace-cl keeps on this machine."""


@command.command("path")
def path() -> None:
    """Print the folder."""
    click.echo(cache_folder())


@command.command("size")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def size(as_json: bool) -> None:
    """Print how much is kept, and how much may be."""
    found = {"bytes": _programs_bytes() + _models_bytes(), "quota_bytes": quota_bytes()}
    if as_json:
        click.echo(json.dumps(found))
    else:
        click.echo(f"{found['bytes'] / 2**20:.1f} MiB of {found['quota_bytes'] / 2**20:.0f} MiB for programs")


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_(as_json: bool) -> None:
    """List programs and models, those used last first."""
    lines = [*_program_lines(), *_model_lines()]
    if as_json:
        click.echo(json.dumps(lines, indent=2))
        return
    for line in lines:
        used = time.strftime("%Y-%m-%d %H:%M", time.localtime(line["used"]))
        click.echo(f"{line['file'][:16]}  {line['bytes'] / 1024:10.1f} KiB  {used}  {line['about']}")
    if not lines:
        click.echo("nothing is kept")


@command.command("clear")
def clear() -> None:
    """Remove everything: programs, models, crash markers, what was tried or verified."""
    if not cache_folder().exists():
        click.echo("nothing was kept")
        return
    store = _store()
    before = _programs_bytes() + _models_bytes()
    store.clear()
    for file in _models():
        with contextlib.suppress(OSError):
            file.unlink()
    click.echo(f"{before / 2**20:.1f} MiB removed")


def _store() -> Store:
    store = Store.open()
    if not store.usable:
        raise CacheError(store.trouble[0])
    return store


def _models() -> list[Path]:
    try:
        return [p for p in (cache_folder() / "models").iterdir() if p.is_file()]
    except OSError:
        return []


def _models_bytes() -> int:
    return sum(p.stat().st_size for p in _models())


def _programs_bytes() -> int:
    return _store().programs.size() if cache_folder().exists() else 0


def _program_lines() -> list[dict[str, Any]]:
    if not cache_folder().exists():
        return []
    lines = []
    for line in _store().programs.lines():
        about = line.about
        if not about:
            text = "damaged"
        elif line.path.name.endswith(FAILED):
            text = f"did not build: {about.get('message', '')}"
        else:
            text = f"{len(about.get('kernels', ()))} kernels for {about.get('device', 'a device')}"
        lines.append({"file": line.path.name, "bytes": line.size, "used": line.used, "about": text})
    return lines


def _model_lines() -> list[dict[str, Any]]:
    found = [(p, os.stat(p)) for p in _models()]
    found.sort(key=lambda pair: -pair[1].st_mtime)
    return [{"file": p.name, "bytes": s.st_size, "used": s.st_mtime, "about": "a model, compiled"} for p, s in found]
