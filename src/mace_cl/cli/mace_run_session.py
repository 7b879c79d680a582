"""The running half of `mace_run`."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import click
import numpy as np

from mace_cl.cli.inputs import random_inputs
from mace_cl.cli.mace_run_files import (
    FileTensor,
    file_tensors,
    input_sets,
    output_path,
    parse_shape_list,
    read_tensor,
    write_tensor,
)
from mace_cl.cli.mace_run_flags import Flags
from mace_cl.cli.mace_run_tables import step_tables, time_table
from mace_cl.errors import UsageError
from mace_cl.runtime.session import Session
from mace_cl.types import TensorType


def run_rounds(source: Path | bytes, flags: Flags, network: str | None) -> None:
    """Load the file `restart_round` times; each time run every set of inputs.

    Raises:
        MaceError: Anything that goes wrong; the exit code is not 0 then.
    """
    wanted = flags.text("model_name")
    if wanted and network is not None and wanted != network:
        raise UsageError(f"the file holds {network!r}", where=f"--model_name={wanted}")
    for _ in range(flags.number("restart_round")):
        start = time.perf_counter()
        session = Session.load(
            source, device=flags.text("device") or None, cache=flags.number("opencl_cache_reuse_policy") == 1
        )
        init_ms = 1e3 * (time.perf_counter() - start)
        with session:
            _hints(flags, session)
            _run_sets(session, flags, init_ms)


def _hints(flags: Flags, session: Session) -> None:
    """Say where a hint that was given has no effect."""
    for name in ("gpu_perf_hint", "gpu_priority_hint"):
        if name in flags.given:
            extension = f"cl_qcom_{name.removeprefix('gpu_')}"
            click.echo(
                f"mace_run: note: --{name} has no effect: {session.device_name} is used without {extension}", err=True
            )


def _run_sets(session: Session, flags: Flags, init_ms: float) -> None:
    inputs = file_tensors(flags, "input", _input_types(session, flags))
    outputs = file_tensors(flags, "output", {e.name: TensorType(e.dtype, e.shape) for e in session.outputs})
    sets = input_sets(flags, inputs)
    feeds: Mapping[str, np.ndarray]
    if not sets:
        feeds = random_inputs({t.name: t.type for t in inputs}, 0)
        if inputs:
            click.echo("mace_run: note: no --input_file: inputs are random numbers", err=True)
        _timed(session, flags, init_ms, feeds, outputs, "")
    for suffix, paths in sets:
        feeds = {t.name: read_tensor(paths[t.name], t) for t in inputs}
        _timed(session, flags, init_ms, feeds, outputs, suffix)


def _input_types(session: Session, flags: Flags) -> dict[str, TensorType]:
    """The inputs' types; of a file with plans for several shapes, those that the flags ask for."""
    names = flags.names("input_node") or [e.name for e in session.inputs]
    asked = dict(zip(names, parse_shape_list(flags, "input"), strict=False))
    for shapes in session.input_shapes:
        if all(shape == asked.get(name, shape) for name, shape in shapes.items()):
            return {e.name: TensorType(e.dtype, shapes[e.name]) for e in session.inputs}
    return {e.name: TensorType(e.dtype, e.shape) for e in session.inputs}


def _timed(
    session: Session,
    flags: Flags,
    init_ms: float,
    feeds: Mapping[str, np.ndarray],
    outputs: Sequence[FileTensor],
    suffix: str,
) -> None:
    """Warm up, run `round` times, write the outputs, print the tables."""
    start = time.perf_counter()
    results = session.run(feeds)
    warmup_ms = 1e3 * (time.perf_counter() - start)
    rounds = flags.number("round")
    start = time.perf_counter()
    for _ in range(rounds):
        results = session.run(feeds)
    run_ms = 1e3 * (time.perf_counter() - start) / rounds
    for tensor in outputs:
        path = output_path(flags, tensor, suffix)
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_tensor(path, results[tensor.name], tensor)
            click.echo(f"write output {tensor.name} to {path}")
    for line in time_table(init_ms, warmup_ms, run_ms):
        click.echo(line)
    if flags.is_on("benchmark"):
        for line in step_tables(session.profile(feeds)):
            click.echo(line)
