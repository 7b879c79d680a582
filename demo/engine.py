"""One engine in a process of its own: imports, loads, runs both pictures, and prints its times as JSON."""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

START = time.perf_counter()

import numpy as np  # noqa: E402  its import is part of what is timed

Run = Callable[[np.ndarray], Mapping[str, np.ndarray]]


def mace(model: Path) -> tuple[Run, dict[str, float], float, float]:
    """mace-cl: the runner, the parts of its start, and when imports and load ended."""
    import mace_cl

    session_type = mace_cl.load
    imported = time.perf_counter()
    session = session_type(model)
    loaded = time.perf_counter()
    name = session.inputs[0].name
    return lambda x: session.run({name: x}), session.start_report.to_json()["times_ms"], imported, loaded


def litert(model: Path) -> tuple[Run, dict[str, float], float, float]:
    """LiteRT with two threads."""
    from ai_edge_litert.interpreter import Interpreter

    imported = time.perf_counter()
    interpreter = Interpreter(model_path=str(model), num_threads=2)
    interpreter.allocate_tensors()
    loaded = time.perf_counter()
    (entry,) = interpreter.get_input_details()
    outputs = interpreter.get_output_details()

    def run(x: np.ndarray) -> dict[str, np.ndarray]:
        interpreter.set_tensor(entry["index"], x)
        interpreter.invoke()
        return {o["name"]: interpreter.get_tensor(o["index"]) for o in outputs}

    return run, {}, imported, loaded


def main() -> None:
    """`engine.py NAME MODEL FOLDER RUNS`."""
    name, model, folder, runs = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4])
    run, parts, imported, loaded = {"mace": mace, "litert": litert}[name](model)
    with np.load(folder / "inputs.npz") as arrays:
        inputs = {n: arrays[n] for n in arrays.files}
    begin = time.perf_counter()
    results = {"face": run(inputs["face"])}
    first = time.perf_counter()
    results["no_face"] = run(inputs["no_face"])
    times = []
    for _ in range(runs):
        t = time.perf_counter()
        run(inputs["face"])
        times.append(1e3 * (time.perf_counter() - t))
    np.savez(folder / f"{name}.npz", **{f"{p}.{o}": a for p, r in results.items() for o, a in r.items()})
    report: dict[str, Any] = {
        "import_ms": 1e3 * (imported - START),
        "load_ms": 1e3 * (loaded - imported),
        "first_ms": 1e3 * (first - begin),
        "steady_ms": statistics.median(times),
        "steady_total_ms": 1e3 * (time.perf_counter() - first),
        "parts": parts,
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main()
