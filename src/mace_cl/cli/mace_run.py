"""`mace_run`: the command that users of MACE look for, with its flags and with real exit codes."""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from mace_cl.cli.failures import run_command
from mace_cl.cli.files import open_any, read_any
from mace_cl.cli.mace_run_flags import Flags, help_text, parse_flags
from mace_cl.errors import MaceError, UsageError
from mace_cl.program.container import MAGIC, is_version3
from mace_cl.program.dump_info import dump_info
from mace_cl.program.identity import Identity


def main(argv: Sequence[str] | None = None) -> None:
    """Entry point of `mace_run`."""
    words = sys.argv[1:] if argv is None else list(argv)
    run_command(click.Command("mace_run", callback=lambda: execute(words)), "mace_run", [])


def execute(words: Sequence[str]) -> int:
    """Do what a command line says; the exit code."""
    if {"--help", "-help", "-h"} & set(words):
        click.echo(help_text())
        return 0
    if {"--version", "-version"} & set(words):
        click.echo(f"mace_run (mace-cl) {importlib.metadata.version('mace-cl')}")
        return 0
    flags = parse_flags(words)
    file = _model_file(flags)
    if flags.is_on("dump_binary_info"):
        return _dump(file)
    _read_parameters(flags)
    _use_cache_path(flags)
    return _run(file, flags)


def _model_file(flags: Flags) -> str:
    """The file to run; MACE's separate file of programs is the same file here."""
    file, binary = flags.text("model_file"), flags.text("opencl_binary_file")
    if file and binary and Path(file).resolve() != Path(binary).resolve():
        raise UsageError(
            "programs and network are one file here: give --model_file alone", where=f"--opencl_binary_file={binary}"
        )
    if not file and not binary:
        raise UsageError("--model_file is missing", hint="see mace_run --help")
    return file or binary


def _dump(file: str) -> int:
    info = dump_info(*read_any(file), here=_devices_here)
    for line in info.lines():
        click.echo(line)
    if info.fault:
        click.echo(f"mace_run: error: {file}: {info.fault}", err=True)
        return 1
    return 0


def _devices_here() -> list[Identity]:
    """The devices of this machine, the preferred one first; none if there are none."""
    try:
        return [d.identity for d in importlib.import_module("mace_cl.opencl.devices").list_devices()]
    except MaceError:
        return []


def _read_parameters(flags: Flags) -> None:
    """MACE's tuned parameters are looked at, and said to be for its own kernels."""
    path = flags.text("opencl_parameter_file")
    if not path:
        return
    found = open_any(path)
    if found.contents is None:
        raise UsageError("is no file of MACE's tuned parameters", where=f"--opencl_parameter_file={path}")
    count = len(found.contents.tuned)
    click.echo(
        f"mace_run: note: {path} tunes {count} of MACE's own kernels; the compiled file has its own tuning", err=True
    )


def _use_cache_path(flags: Flags) -> None:
    path = flags.text("opencl_cache_full_path")
    if path:
        os.environ["MACE_CACHE_DIR"] = os.path.abspath(f"{path}.cache")


def _run(file: str, flags: Flags) -> int:
    """Load, run, write outputs, print tables. Imports the runtime here: the other verbs need no driver."""
    run = importlib.import_module("mace_cl.cli.mace_run_session")
    run.run_rounds(_source(file, flags), flags, _network_name(file))
    return 0


def _network_name(file: str) -> str | None:
    """The name that a compiled file states; None for a model, whose name is the file's."""
    data, where = read_any(file)
    if not is_version3(data):
        return None
    compiled = importlib.import_module("mace_cl.program.open").open_bytes(data, where).compiled
    name: str = compiled.model.name
    return name


def _source(file: str, flags: Flags) -> Path | bytes:
    """The compiled file, or what a model is compiled to."""
    path = Path(file)
    data, where = read_any(file)
    if bytes(data[: len(MAGIC)]) == MAGIC:
        return path if file != "-" else bytes(data)
    if file == "-":
        raise UsageError("is no compiled file; a model must be a file", where=where)
    files = importlib.import_module("mace_cl.cli.mace_run_files")
    shapes: Mapping[str, Any] = dict(
        zip(flags.names("input_node"), files.parse_shape_list(flags, "input"), strict=False)
    )
    compiled: Path | bytes = importlib.import_module("mace_cl.compile_cached").compile_cached(
        path, shapes, flags.text("device") or None, use_cache=flags.number("opencl_cache_reuse_policy") == 1
    )
    return compiled
