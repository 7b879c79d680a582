"""`mace run`."""

from __future__ import annotations

import importlib
import io
import json
import time
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
import numpy as np

from mace_cl.cli.inputs import PictureOptions, random_inputs, read_inputs
from mace_cl.cli.parameters import parse_shapes
from mace_cl.errors import UsageError
from mace_cl.program.atomic import write_atomically
from mace_cl.runtime.session import Session
from mace_cl.types import TensorType


@click.command("run")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "-i", "--input", "inputs", multiple=True, metavar="[NAME=]FILE", help=".npy, .npz, raw numbers or picture."
)
@click.option("--random", "seed", type=int, help="Seeded random inputs instead of files.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write the outputs into an .npz file, by name.")
@click.option("-d", "--device", help="Index, name or part of one; MACE_DEVICE and then the preferred one by default.")
@click.option("--input-shape", "shapes", multiple=True, metavar="NAME=1,3,640,640", help="For a model: fix a shape.")
@click.option("--repeat", type=click.IntRange(1), default=1, show_default=True, help="Runs.")
@click.option("--time-limit", type=click.FloatRange(0, min_open=True), help="Seconds for all runs together.")
@click.option("--mean", default="0", help="Pictures: subtracted from pixels of 0 to 255, one or one a channel.")
@click.option("--scale", default=str(1 / 255), help="Pictures: multiplied afterwards.  [default: 1/255]")
@click.option("--layout", type=click.Choice(["NHWC", "NCHW"]), help="Pictures: the input's layout.")
@click.option("--bgr", is_flag=True, help="Pictures: channels in reverse order.")
@click.option("--no-cache", is_flag=True, help="Neither read nor write the cache of this machine.")
@click.option(
    "--probe", type=click.Choice(["auto", "always", "never"]), default="auto", help="Try binaries in a child."
)
@click.option("--require-signature", "key", type=click.Path(path_type=Path), help="Run only what this key signed.")
@click.option("--explain-start", is_flag=True, help="Say where each program came from, and what each part took.")
@click.option("--profile", is_flag=True, help="Time each step.")
@click.option("--json", "as_json", is_flag=True, help="Print times, device and output shapes as JSON.")
def command(
    file: Path,
    inputs: tuple[str, ...],
    seed: int | None,
    output: Path | None,
    device: str | None,
    shapes: tuple[str, ...],
    repeat: int,
    time_limit: float | None,
    mean: str,
    scale: str,
    layout: str | None,
    bgr: bool,
    no_cache: bool,
    probe: str,
    key: Path | None,
    explain_start: bool,
    profile: bool,
    as_json: bool,
) -> None:
    """Run FILE: a compiled file, or a model, which is compiled into the cache first."""
    pictures = PictureOptions(_numbers(mean, "--mean"), _numbers(scale, "--scale"), layout, bgr)
    if inputs and seed is not None:
        raise UsageError("--input and --random exclude one another")
    source = _compiled(file, shapes, device, no_cache)
    with Session.load(source, device=device, cache=not no_cache, probe=probe, require_signature=key) as session:
        wanted = {e.name: TensorType(e.dtype, e.shape) for e in session.inputs}
        if seed is None and not inputs and wanted:
            raise UsageError(f"the network reads {_list(wanted)}", hint="give files with --input, or --random 0")
        feeds = random_inputs(wanted, seed) if seed is not None else read_inputs(inputs, wanted, pictures)
        session.time_limit = time_limit
        times: list[float] = []
        outputs: Mapping[str, np.ndarray] = {}
        for _ in range(repeat):
            start = time.perf_counter()
            outputs = session.run(feeds)
            times.append(1e3 * (time.perf_counter() - start))
        if output is not None:
            write_npz(output, outputs)
        report = _report(session, times, outputs)
        if explain_start:
            report["start"] = session.start_report.to_json()
        if profile:
            report["profile"] = session.profile(feeds)
    if as_json:
        click.echo(json.dumps(report, indent=2))
    else:
        _print(report, output)


def write_npz(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write arrays by name; the file appears whole or not at all."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, array in arrays.items():
            # As numpy.savez writes it, but for names that savez takes for its own parameters.
            with archive.open(f"{name}.npy", "w") as member:
                np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)
    write_atomically(path, [buffer.getbuffer()])


def _compiled(file: Path, shapes: tuple[str, ...], device: str | None, no_cache: bool) -> Path | bytes:
    """The compiled file itself, or what a model is compiled to; the compiler is imported for models only."""
    if not file.exists():
        raise UsageError("no such file", where=str(file))
    with file.open("rb") as stream:
        head = stream.read(8)
    reader = importlib.import_module("mace_cl.program.reader")
    if reader.is_version3(head):
        if shapes:
            raise UsageError("--input-shape is for models; a compiled file has its shapes", where=str(file))
        return file
    module = importlib.import_module("mace_cl.compile_cached")
    found: Path | bytes = module.compile_cached(file, parse_shapes(shapes), device, use_cache=not no_cache)
    return found


def _numbers(text: str, flag: str) -> tuple[float, ...]:
    try:
        return tuple(float(v) for v in text.split(","))
    except ValueError:
        raise UsageError(f"{text!r} is not a list of numbers such as 123.7,116.3,103.5", where=flag) from None


def _list(wanted: Mapping[str, TensorType]) -> str:
    return ", ".join(f"{n} {t}" for n, t in wanted.items())


def _report(session: Session, times: list[float], outputs: Mapping[str, np.ndarray]) -> dict[str, Any]:
    ordered = sorted(times)
    return {
        "device": session.device_name,
        "source_builds": session.source_builds,
        "launches": session.launches,
        "runs": len(times),
        "first_ms": times[0],
        "median_ms": ordered[len(ordered) // 2],
        "min_ms": ordered[0],
        "outputs": {n: {"shape": list(a.shape), "type": str(a.dtype)} for n, a in outputs.items()},
    }


def _print(report: dict[str, Any], output: Path | None) -> None:
    click.echo(f"device   {report['device']}")
    click.echo(f"built    {report['source_builds']} programs from source")
    times = f"first {report['first_ms']:.2f} ms"
    if report["runs"] > 1:
        times += f", median {report['median_ms']:.2f} ms, least {report['min_ms']:.2f} ms of {report['runs']} runs"
    click.echo(f"time     {times}")
    for name, about in report["outputs"].items():
        click.echo(f"output   {name}: {about['type']} {about['shape']}")
    if output is not None:
        click.echo(f"written  {output}")
    if "start" in report:
        click.echo(json.dumps(report["start"], indent=2))
    if "profile" in report:
        click.echo(json.dumps(report["profile"], indent=2))
