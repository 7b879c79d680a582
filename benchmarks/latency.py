"""Steady latency of mace-cl beside ONNX Runtime, OpenVINO and LiteRT: ratios, in one run, engines in turn.

    python benchmarks/latency.py [--rounds 30] [--write docs/latency.md] [NETWORK ...]

Each engine has a process of its own, all are loaded, and they take turns: in each round every engine runs for about
40 ms and gives its least time. A ratio is taken within a round, so that what the machine does meanwhile hits both;
the table shows its median and quartiles over the rounds. Below 1 mace-cl is faster.
"""

from __future__ import annotations

import argparse
import json
import math
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import mace_cl
from engines import READS, THREADS
from mace_cl.importers import ImportOptions, import_model
from zoo import ZOO, Network

HERE = Path(__file__).resolve().parent
TURN_MS = 40.0
OURS = "mace-cl"


class Worker:
    """An engine that is loaded and waits for its turns."""

    def __init__(self, engine: str, model: Path, shapes: dict[str, tuple[int, ...]], inputs: Path) -> None:
        self.engine = engine
        command = [sys.executable, str(HERE / "worker.py"), engine, str(model), json.dumps(shapes), str(inputs)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.runs = 1
        if self._read() != "ready":
            raise RuntimeError(f"{engine} does not start on {model}")
        typical = min(self.turn() for _ in range(3))
        self.runs = max(1, min(200, round(TURN_MS / typical)))

    def _read(self) -> object:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.engine} ended")
        return json.loads(line)

    def turn(self) -> float:
        """Run for a turn; the least time in milliseconds."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{self.runs}\n")
        self.process.stdin.flush()
        times = self._read()
        assert isinstance(times, list)
        return min(times)

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(timeout=60)


@dataclass(frozen=True)
class Row:
    """A network's result.

    Attributes:
        label: The network.
        times: Engine to its least time of each round, milliseconds.
    """

    label: str
    times: dict[str, list[float]]

    @property
    def fastest(self) -> str:
        """The peer with the least median."""
        return min((e for e in self.times if e != OURS), key=lambda e: statistics.median(self.times[e]))

    def ratios(self, engine: str) -> list[float]:
        """Our time over an engine's, round by round."""
        return [a / b for a, b in zip(self.times[OURS], self.times[engine], strict=True)]


def measure(network: Network, rounds: int, folder: Path) -> Row:
    """Compile a network, load every engine that reads it, and take turns."""
    model = network.path()
    compiled = folder / f"{network.asset}.bin"
    options = ImportOptions(input_shapes=network.shapes)
    graph = import_model(model, options)
    rng = np.random.default_rng(0)
    inputs = folder / "inputs.npz"
    np.savez(inputs, **{n: rng.uniform(-1, 1, v.shape).astype(v.dtype.numpy) for n, v in graph.inputs.items()})
    from mace_cl.compiler import CompileOptions

    mace_cl.compile(model, compiled, CompileOptions(importing=options, selftest=False))
    workers = [Worker(OURS, compiled, {}, inputs)]
    try:
        for engine, formats in READS.items():
            if model.suffix in formats:
                try:
                    workers.append(Worker(engine, model, network.shapes, inputs))
                except RuntimeError as error:
                    print(f"  {error}", file=sys.stderr)
        times: dict[str, list[float]] = {w.engine: [] for w in workers}
        for i in range(rounds):
            # The order changes, so that no engine always runs behind the same one.
            for worker in workers[i % len(workers) :] + workers[: i % len(workers)]:
                times[worker.engine].append(worker.turn())
        return Row(network.label, times)
    finally:
        for worker in workers:
            worker.close()


def table(rows: Sequence[Row]) -> str:
    """The rows as Markdown."""
    lines = [
        "| network | mace-cl, ms | fastest peer | its ms | ratio | quartiles | other peers |",
        "|---|---:|---|---:|---:|---|---|",
    ]
    for row in rows:
        best = row.fastest
        ratios = row.ratios(best)
        low, _, high = statistics.quantiles(ratios, n=4)
        others = ", ".join(f"{e} {statistics.median(row.ratios(e)):.2f}" for e in row.times if e not in (OURS, best))
        lines.append(
            f"| {row.label} | {statistics.median(row.times[OURS]):.3f} | {best} | "
            f"{statistics.median(row.times[best]):.3f} | {statistics.median(ratios):.2f} | "
            f"{low:.2f} to {high:.2f} | {others} |"
        )
    return "\n".join(lines)


def summary(rows: Sequence[Row]) -> str:
    """Geometric mean and worst ratio to the fastest peer."""
    ratios = [statistics.median(r.ratios(r.fastest)) for r in rows]
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    return f"Geometric mean of the ratios to the fastest peer: {mean:.2f}; worst {max(ratios):.2f}."


def main() -> None:
    """Measure and print, or write, the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="*", help="parts of names; all by default")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--write", type=Path, help="write the table into this file")
    chosen = parser.parse_args()
    networks = [n for n in ZOO if not chosen.networks or any(p in f"{n.label} {n.asset}" for p in chosen.networks)]
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="mace-cl-latency-") as folder:
        for network in networks:
            rows.append(measure(network, chosen.rounds, Path(folder)))
            print(table(rows[-1:]).splitlines()[-1], flush=True)
    text = f"{table(rows)}\n\n{summary(rows)}\n"
    print(f"\n{text}")
    if chosen.write:
        head = (
            "# Latency\n\nMade by `benchmarks/latency.py`; its head says how it measures. "
            f"{THREADS} threads each, float32, {platform.machine()}, {chosen.rounds} rounds. "
            "Ratios below 1 mean that mace-cl is faster; the milliseconds only say what the ratios are of.\n\n"
        )
        chosen.write.write_text(head + text, encoding="utf-8")


if __name__ == "__main__":
    main()
