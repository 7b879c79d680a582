"""Many processes start cold on one cache, and one of them is killed at a random moment."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mace_cl.program.writer import write_file
from mace_cl.store.programs import parse
from mace_cl.store.store import Store
from support import tiny_network as tiny
from support.runtimes import ROOT, devices

PROCESSES = 8

START = """
import sys
import numpy as np
import mace_cl
from support import tiny_network as tiny
session = mace_cl.load(sys.argv[1], device=sys.argv[2])
x = np.linspace(-2, 2, tiny.N, dtype=np.float32)
for _ in range(2):
    assert np.allclose(session.run({"x": x})["y"], tiny.reference(x), rtol=1e-6)
print("right", session.start_report.programs[0].source)
"""


def start(file: Path, device: str, cache: Path) -> subprocess.Popen[str]:
    env = {
        **os.environ,
        "MACE_CACHE_DIR": str(cache),
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT / "tests")]),
    }
    command = [sys.executable, "-W", "error", "-c", START, str(file), device]
    return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def one_round(folder: Path, number: int, seed: random.Random, longest: float) -> float:
    """One round on a new cache; returns the time that it took."""
    device = devices()[number % len(devices())]
    file = folder / f"{number}.bin"
    write_file(file, tiny.compiled_file(tiny.entry(None, source=tiny.SOURCE + f"// {number}\n")))
    cache = folder / f"cache-{number}"
    began = time.monotonic()
    started = [start(file, device.vendor, cache) for _ in range(PROCESSES)]
    victim = seed.choice(started)
    time.sleep(seed.uniform(0, longest))
    victim.send_signal(signal.SIGKILL)
    ends = [p.communicate(timeout=300) for p in started]
    for process, (out, err) in zip(started, ends, strict=True):
        if process is not victim:
            assert process.returncode == 0, err
            assert out.startswith("right"), err
    check_cache(cache)
    return time.monotonic() - began


def check_cache(cache: Path) -> None:
    """Every file verifies, and no good binary is set aside."""
    for path in (cache / "programs").iterdir():
        if not path.name.startswith(".new-"):
            parse(path.read_bytes(), path.name.partition(".")[0])
    left = [p.name for p in (cache / "markers").iterdir()]
    assert not [n for n in left if n.endswith(".condemned")]
    store = Store(cache)
    for name in {n.partition(".")[0] for n in left}:
        assert store.markers.strikes(name) < 2


def test_a_few_rounds(tmp_path: Path) -> None:
    seed = random.Random(7)
    longest = 2.0
    for number in range(2):
        longest = one_round(tmp_path, number, seed, longest)


@pytest.mark.slow
def test_two_hundred_rounds(tmp_path: Path) -> None:
    seed = random.Random(8)
    longest = 2.0
    for number in range(2, 202):
        longest = one_round(tmp_path, number, seed, min(longest, 6.0))
