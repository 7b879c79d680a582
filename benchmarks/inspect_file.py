"""Processor time and memory of `mace inspect` on a file of 50 MB, weights included and never read.

python benchmarks/inspect_file.py [--megabytes 50]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from dataclasses import replace

from mace_cl.program.records import Blob
from mace_cl.program.writer import write_file
from support.program_files import small_file

CHILD = """
import json, resource, sys, time
from mace_cl.cli.pages import page
from mace_cl.program.container import map_file
from mace_cl.program.describe import describe_file
before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
lines = list(page(describe_file(map_file(sys.argv[1]), sys.argv[1])))
spent, after = time.process_time() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({"cpu_s": spent, "whole_process_cpu_s": time.process_time(), "memory_kib": after - before}))
"""


def measure(megabytes: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "big.bin"
        file = small_file()
        weights = Blob("weights", "w0", bytes(megabytes * 1_000_000))
        write_file(path, replace(file, entries=tuple(replace(e, weights={"w0": weights}) for e in file.entries)))
        child = subprocess.run([sys.executable, "-c", CHILD, path], capture_output=True, text=True, check=True)
        found: dict[str, float] = json.loads(child.stdout)
        return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=50)
    found = measure(parser.parse_args().megabytes)
    print(f"inspecting      {1e3 * found['cpu_s']:8.1f} ms of processor time")
    print(f"whole process   {1e3 * found['whole_process_cpu_s']:8.1f} ms of processor time")
    print(f"more memory     {found['memory_kib'] / 1024:8.1f} MiB")
    if found["whole_process_cpu_s"] >= 0.5 or found["memory_kib"] > 16 << 10:
        raise SystemExit("more than half a second, or the weights were read")


if __name__ == "__main__":
    main()
