"""Accuracy of every network of the zoo on every OpenCL runtime: distance to the float64 reference, beside the peers'.

    python benchmarks/accuracy.py [--device NAME ...] [--write docs/accuracy.md] [NETWORK ...]

The distance of an output is its largest difference from the reference, as a fraction of the reference's largest
magnitude; the reference is the imported graph, before any pass, computed with the operators' NumPy references in
float64. At most LIMIT is allowed.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import mace_cl
from engines import ENGINES, READS
from inputs import natural_input, random_input
from mace_cl.compiler import CompileOptions
from mace_cl.graph.evaluate import evaluate_graph
from mace_cl.importers import ImportOptions, import_model
from zoo import ZOO, Network

LIMIT = 2e-4
PEERS = ("ONNX Runtime", "LiteRT")

Arrays = Mapping[str, np.ndarray]


def distance(got: Arrays, reference: Arrays) -> float:
    """The worst output's largest difference over the reference's largest magnitude."""
    worst = 0.0
    for name, wanted in reference.items():
        scale = float(np.abs(wanted).max(initial=0.0)) or 1.0
        difference = np.abs(got[name].astype(np.float64) - wanted)
        worst = max(worst, float(np.nan_to_num(difference, nan=np.inf).max(initial=0.0)) / scale)
    return worst


@dataclass(frozen=True)
class Case:
    """A network with one set of inputs and its reference.

    Attributes:
        kind: 'random' or 'natural'.
    """

    network: Network
    kind: str
    feeds: Arrays
    reference: Arrays


def cases(network: Network) -> list[Case]:
    """Both sets of inputs of a network, with their references."""
    graph = import_model(network.path(), ImportOptions(input_shapes=network.shapes))
    made = []
    for kind in ("random", "natural"):
        feeds = {
            n: random_input(v.type, 7) if kind == "random" else natural_input(network, v.type)
            for n, v in graph.inputs.items()
        }
        made.append(Case(network, kind, feeds, evaluate_graph(graph, feeds)))
    return made


def ours(network: Network, device: str, made: Sequence[Case]) -> list[float]:
    """Our distance for each case on a device."""
    with tempfile.TemporaryDirectory(prefix="mace-cl-accuracy-") as folder:
        path = Path(folder) / "network.bin"
        importing = ImportOptions(input_shapes=network.shapes)
        mace_cl.compile(network.path(), path, CompileOptions(importing, devices=(device,), selftest=False))
        with mace_cl.load(path, device=device) as session:
            return [distance(session.run(dict(c.feeds)), c.reference) for c in made]


def peer(network: Network, made: Sequence[Case]) -> tuple[str, list[float]]:
    """The peer that reads the model, and its distance for each case."""
    path = network.path()
    name = next(p for p in PEERS if path.suffix in READS[p])
    run = ENGINES[name](path, network.shapes)
    return name, [distance(run(c.feeds), c.reference) for c in made]


def main() -> None:
    """Measure and print, or write, the table; exit code 1 if a distance is beyond the limit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="*", help="parts of names; all by default")
    parser.add_argument("--device", action="append", help="device; Intel and PoCL by default")
    parser.add_argument("--write", type=Path, help="write the table into this file")
    chosen = parser.parse_args()
    devices = chosen.device or ["Intel", "Portable"]
    lines = [
        "| network | input | " + " | ".join(devices) + " | peer |",
        "|---|---|" + "---:|" * len(devices) + "---:|",
    ]
    worst = 0.0
    for network in ZOO:
        if chosen.networks and not any(p in f"{network.label} {network.asset}" for p in chosen.networks):
            continue
        made = cases(network)
        columns = [ours(network, d, made) for d in devices]
        name, theirs = peer(network, made)
        for i, case in enumerate(made):
            values = " | ".join(f"{c[i]:.1e}" for c in columns)
            lines.append(f"| {network.label} | {case.kind} | {values} | {name} {theirs[i]:.1e} |")
            worst = max(worst, *(c[i] for c in columns))
            print(lines[-1], flush=True)
    text = "\n".join(lines) + f"\n\nWorst: {worst:.1e}; the limit is {LIMIT:.0e}.\n"
    if chosen.write:
        head = "# Accuracy\n\nMade by `benchmarks/accuracy.py`; its head says what the figures are.\n\n"
        chosen.write.write_text(head + text, encoding="utf-8")
    raise SystemExit(worst > LIMIT)


if __name__ == "__main__":
    main()
