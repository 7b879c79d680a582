"""One engine in a process of its own, driven over a pipe: a line with a number of runs in, a line of times out."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np

from engines import ENGINES


def main() -> None:
    """`worker.py ENGINE MODEL SHAPES INPUTS.npz`; SHAPES is a JSON object."""
    name, model, shapes, inputs = sys.argv[1], Path(sys.argv[2]), json.loads(sys.argv[3]), sys.argv[4]
    with np.load(inputs) as arrays:
        feeds = {n: arrays[n] for n in arrays.files}
    run = ENGINES[name](model, {n: tuple(s) for n, s in shapes.items()})
    run(feeds)
    print(json.dumps("ready"), flush=True)
    for line in sys.stdin:
        times = []
        for _ in range(int(line)):
            start = time.perf_counter()
            run(feeds)
            times.append(1e3 * (time.perf_counter() - start))
        print(json.dumps(times), flush=True)


if __name__ == "__main__":
    main()
