"""A start from a compiled file builds nothing, imports nothing of the compiler, and leaves its weights as they are."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mace_cl.compiler import CompileOptions, compile_model
from mace_cl.program.plan import Plan
from mace_cl.program.reader import read_file
from mace_cl.program.writer import write_file
from packages import fetch
from support.runtimes import device_of

# Counts, from outside mace-cl, the calls that can compile: programs made of source or IL, and what is launched.
COUNTER = """
import json, sys
import pyopencl as cl
import mace_cl.opencl.driver
made = {"source": 0, "il": 0, "binary": 0, "launches": 0, "children": 0}
def hook(event, args):
    # Sources are built in child processes.
    made["children"] += event in ("subprocess.Popen", "os.posix_spawn", "os.fork", "os.exec")
sys.addaudithook(hook)
real = cl._cl._Program
class Program(real):
    def __init__(self, *args):
        kind = "binary" if len(args) == 3 else "il" if isinstance(args[1], (bytes, bytearray)) else "source"
        made[kind] += 1
        super().__init__(*args)
for module in (cl, cl._cl):
    if getattr(module, "_Program", None) is real:
        module._Program = Program
launch = cl._cl.enqueue_nd_range_kernel
def counted(*args, **more):
    made["launches"] += 1
    return launch(*args, **more)
cl._cl.enqueue_nd_range_kernel = cl.enqueue_nd_range_kernel = counted
"""

RUN = """
from mace_cl.opencl import bootstrap
bootstrap.prepare()
{counter}
import os, numpy as np
import mace_cl
session = mace_cl.load({path!r}, device={device!r}, cache=False, probe="never")
made["launches"] = 0
cache = os.environ.get("POCL_CACHE_DIR", "")
def objects():
    return sorted(f for _, _, files in os.walk(cache) for f in files if f.endswith(".so")) if cache else []
before = objects()
end = session.inputs[0]
session.run({{end.name: np.zeros(end.shape, np.float32)}})
odd = [m for m in sys.modules if m.split(".")[0] in ("onnx", "tflite", "rich", "pydantic", "onnxruntime")
       or m.startswith(("mace_cl.graph", "mace_cl.importers", "mace_cl.passes", "mace_cl.kernels", "mace_cl.lowering"))]
print(json.dumps({{**made, "own": session.source_builds, "odd": odd, "new": len(objects()) - len(before)}}))
"""


@pytest.fixture(scope="module", params=["intel-cpu", "pocl"])
def compiled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    device = device_of(request.param)
    path = tmp_path_factory.mktemp("compiled") / "network.bin"
    compile_model(fetch("face_detection_short_range"), path, CompileOptions(devices=(device.index,), selftest=False))
    return path, request.param


@pytest.mark.models
def test_a_second_process_builds_nothing(compiled: tuple[Path, str], tmp_path: Path) -> None:
    path, vendor = compiled
    code = RUN.format(counter=COUNTER, path=str(path), device=vendor)
    environment = {**os.environ, "POCL_CACHE_DIR": str(tmp_path / "pocl"), "MACE_CACHE_DIR": str(tmp_path / "cache")}
    (tmp_path / "pocl").mkdir()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout.splitlines()[-1])
    plan = Plan.from_bytes(read_file(str(path)).entries[0].plans[0].blob.checked())
    assert (seen["source"], seen["il"], seen["binary"], seen["children"], seen["own"]) == (0, 0, 1, 0, 0), seen
    assert seen["odd"] == []
    assert seen["new"] == 0, "the first run compiled"
    assert seen["launches"] == len(plan.launches)


@pytest.mark.models
def test_the_count_sees_a_build(compiled: tuple[Path, str], tmp_path: Path) -> None:
    """A file without a program for the device is built, and the counter of the test above sees it."""
    path, vendor = compiled
    file = read_file(str(path))
    write_file(tmp_path / "portable.bin", replace(file, entries=file.entries[1:]))
    code = RUN.format(counter=COUNTER, path=str(tmp_path / "portable.bin"), device=vendor)
    environment = {**os.environ, "MACE_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout.splitlines()[-1])
    assert seen["source"] + seen["children"] > 0
    assert seen["own"] == 1


@pytest.mark.models
def test_weights_are_what_they_were_after_a_thousand_runs(compiled: tuple[Path, str]) -> None:
    path, vendor = compiled
    code = f"""
from mace_cl.opencl import bootstrap
bootstrap.prepare({vendor!r})
import hashlib, json, numpy as np
import mace_cl
from mace_cl.opencl import memory
session = mace_cl.load({str(path)!r}, device={vendor!r}, probe="never")
end = session.inputs[0]
x = np.random.default_rng(0).uniform(-1, 1, end.shape).astype(np.float32)
for _ in range(1000):
    session.run({{end.name: x}})
entry = session._open
found = {{}}
for name, weights in entry.weights.items():
    data = np.empty(weights.data.nbytes, np.uint8)
    memory.read(session._queue, weights.buffer, data)
    session._queue.finish()
    found[name] = hashlib.sha256(data.tobytes()).hexdigest()
print(json.dumps(found))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    stored = {n: b.sha256 for n, b in read_file(str(path)).entries[0].weights.items()}
    assert json.loads(done.stdout.splitlines()[-1]) == stored


def test_the_hash_would_see_a_change() -> None:
    data = np.zeros(100, np.uint8)
    before = hashlib.sha256(data.tobytes()).hexdigest()
    data[50] = 1
    assert hashlib.sha256(data.tobytes()).hexdigest() != before
