"""A real upgrade and downgrade of a driver: PoCL 3.0 (wheel) and the system's, under one platform name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mace_cl.program.writer import write_file
from support import tiny_network as tiny
from support.runtimes import device_of, pocl_30, run_python

BUILD = """
import sys
from mace_cl.opencl.devices import select_device
from mace_cl.program.writer import write_file
from support import tiny_network as tiny
device = select_device("pocl")
entry = tiny.compiled_entry(device, name=device.identity.driver_version)
write_file(sys.argv[1], tiny.compiled_file(entry, tiny.entry(None)))
"""

RUN = """
import json, sys
import numpy as np
import mace_cl
from support import tiny_network as tiny
session = mace_cl.load(sys.argv[1], device="pocl")
x = np.linspace(-2, 2, tiny.N, dtype=np.float32)
for _ in range(3):
    assert np.allclose(session.run({"x": x})["y"], tiny.reference(x), rtol=1e-6)
print(json.dumps(session.start_report.to_json()))
"""


@pytest.fixture(scope="module")
def old(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of the older driver."""
    assert pytestconfig.cache is not None
    driver = pocl_30(pytestconfig.cache.mkdir("pocl-3.0"))
    folder = tmp_path_factory.mktemp("icd")
    (folder / "pocl.icd").write_text(f"{driver}\n")
    env = {"OCL_ICD_VENDORS": str(folder / "pocl.icd")}
    code = "from mace_cl.opencl.devices import list_devices as l; print(len(l()))"
    found = run_python(code, env=env)
    if found.stdout.strip() != "1":
        pytest.skip(f"PoCL 3.0 finds no device: {found.stderr[-300:]}")
    return env


@pytest.fixture(scope="module")
def new() -> dict[str, str]:
    device_of("pocl")
    return {}


def run(file: Path, env: dict[str, str], cache: Path) -> dict[str, object]:
    result = run_python(RUN, str(file), env={**env, "MACE_CACHE_DIR": str(cache)})
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)["programs"][0]


def test_upgrade_and_downgrade(old: dict[str, str], new: dict[str, str], tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    for name, here, there in (("old", old, new), ("new", new, old)):
        file = tmp_path / f"{name}.bin"
        built = run_python(BUILD, str(file), env=here)
        assert built.returncode == 0, built.stderr
        assert run(file, here, cache)["from"] == "file"
        after = run(file, there, cache)
        assert after["from"] in ("built", "cache"), "another driver's program is not used"
        assert "made for another device" in str(after["why_not"])
        assert "version" in str(after["why_not"])
        assert run(file, there, cache)["from"] == "cache"
        assert run(file, here, cache)["from"] == "file"


def test_the_cache_holds_a_program_for_each_driver(old: dict[str, str], new: dict[str, str], tmp_path: Path) -> None:
    file, cache = tmp_path / "tiny.bin", tmp_path / "cache"
    write_file(file, tiny.compiled_file(tiny.entry(None)))
    origins = [run(file, env, cache)["from"] for env in (old, new, old, new)]
    assert origins == ["built", "built", "cache", "cache"]
