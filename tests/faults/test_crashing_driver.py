"""A driver that kills the process on bytes that it does not like: rusticl."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from mace_cl.program.reader import read_file
from mace_cl.program.records import Blob
from mace_cl.program.writer import write_file
from support.runtimes import run_python, rusticl_environment

BUILD = """
import sys
from mace_cl.opencl.devices import select_device
from mace_cl.program.writer import write_file
from support import tiny_network as tiny
device = select_device("rusticl")
entry = tiny.compiled_entry(device, align=4096)
write_file(sys.argv[1], tiny.compiled_file(entry))
"""

RUN = """
import json, sys
import numpy as np
import mace_cl
from support import tiny_network as tiny
session = mace_cl.load(sys.argv[1], device="rusticl", probe=sys.argv[2])
x = np.linspace(-2, 2, tiny.N, dtype=np.float32)
assert np.allclose(session.run({"x": x})["y"], tiny.reference(x), rtol=1e-6)
print(json.dumps(session.start_report.to_json()))
"""


@pytest.fixture(scope="module")
def env(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return rusticl_environment(str(tmp_path_factory.mktemp("icd")))


@pytest.fixture(scope="module")
def good(env: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("good") / "good.bin"
    done = run_python(BUILD, str(file), env=env)
    assert done.returncode == 0, done.stderr
    return file


@pytest.fixture
def bad(good: Path, tmp_path: Path) -> Path:
    """The same file with a program of another kind, its hashes right."""
    file = read_file(good)
    entry = file.entries[0]
    forms = dataclasses.replace(entry.programs["p0"], binary=Blob("program", "p0", b"poclbin\0" + bytes(1000)))
    path = tmp_path / "bad.bin"
    write_file(path, dataclasses.replace(file, entries=(dataclasses.replace(entry, programs={"p0": forms}),)))
    return path


def run(file: Path, probe: str, env: dict[str, str], cache: Path) -> tuple[int, dict[str, object]]:
    result = run_python(RUN, str(file), probe, env={**env, "MACE_CACHE_DIR": str(cache)})
    return result.returncode, json.loads(result.stdout)["programs"][0] if result.returncode == 0 else {}


def test_a_good_program_runs(good: Path, env: dict[str, str], tmp_path: Path) -> None:
    code, program = run(good, "auto", env, tmp_path / "cache")
    assert (code, program["from"]) == (0, "file")


@pytest.mark.parametrize("probe", ["auto", "always"])
def test_with_the_probe_on_only_the_child_dies(bad: Path, probe: str, env: dict[str, str], tmp_path: Path) -> None:
    for _ in range(2):
        code, program = run(bad, probe, env, tmp_path / "cache")
        assert code == 0
        assert program["from"] in ("built", "cache")
        assert "SIGABRT at load of program p0" in str(program["why_not"])


def test_with_the_probe_off_it_dies_twice_and_no_more(bad: Path, env: dict[str, str], tmp_path: Path) -> None:
    codes = [run(bad, "never", env, tmp_path / "cache") for _ in range(4)]
    assert [code for code, _ in codes] == [-6, -6, 0, 0]
    assert "two starts in a row did not survive it" in str(codes[2][1]["why_not"])


def test_without_a_cache_the_probe_still_saves_the_process(bad: Path, env: dict[str, str]) -> None:
    code, program = run(bad, "auto", env, Path("/proc/nowhere"))
    assert code == 0
    assert program["from"] == "built"
