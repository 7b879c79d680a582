"""Starts of mace-cl beside ONNX Runtime, OpenVINO (its cache on) and LiteRT, and beside a bare OpenCL program.

    python benchmarks/start.py [--rounds 7] [--write docs/benchmarks.md] [NETWORK ...]

Each start is a new process with the files in the page cache; engines take turns. The bare program maps the file, loads
the same program, creates the same kernels, binds the same weights and launches every step once: the floor of any start
from these binaries. "Load + first" is taken with imports, driver and context done; "process" is the whole process to
its first result. Medians over the rounds.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import mace_cl
from engines import READS
from mace_cl.compiler import CompileOptions
from mace_cl.importers import ImportOptions, import_model
from zoo import ZOO, Network

HERE = Path(__file__).resolve().parent
LABELS = (
    "MobileNetV2", "face detector, short range", "text detector 640x640", "text recogniser 48x320",
    "pose landmarks, full",
)  # fmt: skip
LONG_MS = 20.0
OURS, FLOOR = "mace-cl", "bare"


@dataclass(frozen=True)
class Start:
    """Medians of one engine on one network, milliseconds."""

    process: float
    load_first: float
    first: float
    steady: float


def once(engine: str, model: Path, shapes: str, inputs: Path, folder: Path) -> dict[str, float]:
    """One start in a new process, with the driver's own cache empty."""
    environment = {**os.environ, "POCL_CACHE_DIR": str(folder / "pocl"), "MACE_CACHE_DIR": str(folder / "cache")}
    command = [sys.executable, str(HERE / "start_worker.py"), engine, str(model), shapes, str(inputs)]
    begin = time.perf_counter()
    done = subprocess.run(
        [*command, str(folder / "openvino")], capture_output=True, text=True, check=False, env=environment
    )
    total = 1e3 * (time.perf_counter() - begin)
    if done.returncode:
        raise RuntimeError(f"{engine}: {done.stderr.strip().splitlines()[-1] if done.stderr.strip() else 'failed'}")
    report: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    report["process"] = total - report["after"]
    return report


def measure(network: Network, rounds: int, folder: Path) -> dict[str, Start]:
    """Every engine's start on a network, and the seconds of a cold compile."""
    model = network.path()
    compiled = folder / f"{network.asset}.bin"
    importing = ImportOptions(input_shapes=network.shapes)
    graph = import_model(model, importing)
    rng = np.random.default_rng(0)
    inputs = folder / f"{network.asset}.npz"
    np.savez(inputs, **{n: rng.uniform(-1, 1, v.shape).astype(v.dtype.numpy) for n, v in graph.inputs.items()})
    begin = time.perf_counter()
    mace_cl.compile(model, compiled, CompileOptions(importing, selftest=False))
    cold = 1e3 * (time.perf_counter() - begin)
    engines = [OURS, FLOOR, *(e for e, formats in READS.items() if model.suffix in formats)]
    shapes = json.dumps(network.shapes)
    seen: dict[str, list[dict[str, float]]] = {e: [] for e in engines}
    for i in range(rounds + 1):
        for engine in engines[i % len(engines) :] + engines[: i % len(engines)]:
            path, given = (compiled, "{}") if engine in (OURS, FLOOR) else (model, shapes)
            report = once(engine, path, given, inputs, folder)
            if i:  # the first round fills page cache and OpenVINO's cache
                seen[engine].append(report)
    result = {e: _median(reports) for e, reports in seen.items()}
    result["cold"] = Start(cold, cold, 0.0, 0.0)
    return result


def _median(reports: list[dict[str, float]]) -> Start:
    def middle(value: Any) -> float:
        return statistics.median(value(r) for r in reports)

    return Start(
        middle(lambda r: r["process"]),
        middle(lambda r: r["load"] + r["first"]),
        middle(lambda r: r["first"]),
        middle(lambda r: r["steady"]),
    )


def table(rows: dict[str, dict[str, Start]]) -> str:
    """Everything as Markdown."""
    lines = [
        "| network | engine | process, ms | load + first, ms | first, ms | steady, ms |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for label, starts in rows.items():
        lines += [
            f"| {label} | {e} | {s.process:.0f} | {s.load_first:.1f} | {s.first:.1f} | {s.steady:.2f} |"
            for e, s in starts.items()
            if e != "cold"
        ]
        lines.append(f"| {label} | mace-cl, cold compile | {starts['cold'].process:.0f} | | | |")
    return "\n".join(lines)


def summary(rows: dict[str, dict[str, Start]]) -> str:
    """What the table says about the goals."""
    ratios, long_ratios, lines = [], [], []
    for label, starts in rows.items():
        peers = {e: s for e, s in starts.items() if e not in (OURS, FLOOR, "cold")}
        name, best = min(peers.items(), key=lambda item: item[1].load_first)
        ours = starts[OURS]
        ratio = ours.load_first / best.load_first
        ratios.append(ratio)
        if best.load_first > LONG_MS:
            long_ratios.append(ratio)
        lines.append(
            f"* {label}: {ours.load_first - starts[FLOOR].load_first:+.1f} ms from its floor; "
            f"load + first {ratio:.2f} of {name}'s; first run {ours.first / ours.steady:.2f} of a steady one; "
            f"warm {starts['cold'].process / ours.load_first:.0f} times faster than cold."
        )
    lines.append(f"* Geometric mean of load + first against the fastest peer: {_mean(ratios):.2f} over all")
    if long_ratios:
        lines[-1] += f", {_mean(long_ratios):.2f} where the peer takes more than {LONG_MS:.0f} ms"
    return "\n".join(lines) + "."


def _mean(ratios: list[float]) -> float:
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def main() -> None:
    """Measure and print, or write, the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="*", help="parts of names; five networks by default")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--write", type=Path, help="write the table into this file")
    chosen = parser.parse_args()
    wanted = [n for n in ZOO if n.label in LABELS]
    if chosen.networks:
        wanted = [n for n in ZOO if any(p in n.label for p in chosen.networks)]
    rows: dict[str, dict[str, Start]] = {}
    with tempfile.TemporaryDirectory(prefix="mace-cl-start-") as folder:
        for network in wanted:
            rows[network.label] = measure(network, chosen.rounds, Path(folder))
            print(table({network.label: rows[network.label]}).split("\n", 2)[2], flush=True)
    text = f"{table(rows)}\n\n{summary(rows)}\n"
    print(f"\n{summary(rows)}")
    if chosen.write:
        head = "# Starts\n\nMade by `benchmarks/start.py`; its head says how it measures.\n\n"
        chosen.write.write_text(head + text, encoding="utf-8")


if __name__ == "__main__":
    main()
