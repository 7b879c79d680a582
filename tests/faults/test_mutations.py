"""Damaged programs in a file, on every runtime: as they are, and with their hashes made right again."""

from __future__ import annotations

import dataclasses
import random
import subprocess
from pathlib import Path

import pytest

from mace_cl.program.reader import read_file
from mace_cl.program.records import Blob
from mace_cl.program.writer import write_file
from support.runtimes import run_python, rusticl_environment

TRUNCATIONS = ("nothing", "one byte", "header", "half", "last byte missing", "appended")
RUNTIMES = ("intel-cpu", "pocl", "rusticl")

BUILD = """
import sys
from mace_cl.opencl.devices import list_devices
from mace_cl.program.writer import write_file
from support import tiny_network as tiny
devices = [d for d in list_devices() if d.vendor == sys.argv[2]]
if not devices:
    sys.exit(3)
write_file(sys.argv[1], tiny.compiled_file(tiny.compiled_entry(devices[0], align=4096)))
"""


@pytest.fixture(scope="module", params=RUNTIMES)
def runtime(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, str]]:
    if request.param == "rusticl":
        return "rusticl", rusticl_environment(str(tmp_path_factory.mktemp("icd")))
    return request.param, {}


@pytest.fixture(scope="module")
def good(runtime: tuple[str, dict[str, str]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("good") / "good.bin"
    done = run_python(BUILD, str(file), runtime[0], env=runtime[1])
    if done.returncode == 3:
        pytest.skip(f"no {runtime[0]} device")
    assert done.returncode == 0, done.stderr
    return file


def truncated(data: bytes, kind: str) -> bytes:
    lengths = {"nothing": 0, "one byte": 1, "header": 64, "half": len(data) // 2, "last byte missing": len(data) - 1}
    return data + b"\0more" if kind == "appended" else data[: lengths[kind]]


def mutated(data: bytes, seed: int) -> bytes:
    """A few bytes changed, in the head more often than chance would have it."""
    chance = random.Random(seed)
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 8))):
        end = chance.choice((256, 4096, len(data), len(data)))
        at = chance.randrange(min(end, len(data)))
        changed[at] = chance.choice((changed[at] ^ (1 << chance.randrange(8)), 0, 0xFF, chance.randrange(256)))
    return bytes(changed)


def binary(file: Path) -> bytes:
    forms = read_file(file).entries[0].programs["p0"]
    assert forms.binary is not None
    return bytes(forms.binary.checked())


def variants(file: Path, seeds: range) -> list[bytes]:
    """Every truncation, and a mutation for each seed."""
    data = binary(file)
    made = [truncated(data, kind) for kind in TRUNCATIONS] + [mutated(data, s) for s in seeds]
    return [m for m in made if m != data]


def forge(good: Path, data: bytes, target: Path) -> None:
    """The file with another binary, its hashes right."""
    file = read_file(good)
    entry = file.entries[0]
    forms = dataclasses.replace(entry.programs["p0"], binary=Blob("program", "p0", data))
    write_file(target, dataclasses.replace(file, entries=(dataclasses.replace(entry, programs={"p0": forms}),)))


def damage(good: Path, data: bytes, target: Path) -> bool:
    """The file with the bytes of its binary changed in place; False if their number differs."""
    whole, original = good.read_bytes(), binary(good)
    if len(data) != len(original):
        return False
    target.write_bytes(whole.replace(original, data))
    return True


AS_THEY_ARE = """
import os, sys
import numpy as np
import mace_cl
from mace_cl.runtime import loading
from support import tiny_network as tiny

real = loading.program_from_binary
def watch(device, binary, options, kernels):
    watch.seen.append(bytes(binary))
    return real(device, binary, options, kernels)
watch.seen = []
loading.program_from_binary = watch
x = np.linspace(-2, 2, tiny.N, dtype=np.float32)
for name in sorted(os.listdir(sys.argv[1])):
    data = open(os.path.join(sys.argv[1], name), "rb").read()
    del watch.seen[:]
    try:
        session = mace_cl.load(data, device=sys.argv[2], probe="never")
    except mace_cl.MaceError as error:
        assert type(error).__name__ in ("FormatError", "NoFitError"), error
        assert name.startswith("cut") and not watch.seen
        continue
    program = session.start_report.programs[0]
    assert program.source != "file" and "SHA-256" in program.why_not[0], (name, program)
    assert not [s for s in watch.seen if s in data], "the driver saw bytes of the file"
    assert np.allclose(session.run({"x": x})["y"], tiny.reference(x), rtol=1e-6)
print("right")
"""


def check_as_they_are(good: Path, runtime: tuple[str, dict[str, str]], seeds: range, folder: Path) -> None:
    files = folder / "files"
    files.mkdir()
    for i, data in enumerate(variants(good, seeds)):
        damage(good, data, files / f"{i:05}.bin")
    whole = good.read_bytes()
    for i, length in enumerate((0, 1, 8, 31, 32, 200, len(whole) // 2, len(whole) - 1)):
        (files / f"cut{i}.bin").write_bytes(whole[:length])
    env = {**runtime[1], "MACE_CACHE_DIR": str(folder / "cache")}
    done = run_python(AS_THEY_ARE, str(files), runtime[0], env=env, timeout=3000)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.strip() == "right"


PROBED = """
import sys
import mace_cl
try:
    session = mace_cl.load(sys.argv[1], device=sys.argv[2])
except mace_cl.MaceError as error:
    print(type(error).__name__)
else:
    print(session.start_report.programs[0].source, flush=True)
print("lives", flush=True)
"""


def check_probed(good: Path, runtime: tuple[str, dict[str, str]], seeds: range, folder: Path, step: int = 1) -> None:
    """Each forged file in a process of its own: load and probe do not crash it."""
    env = {**runtime[1], "MACE_CACHE_DIR": str(folder / "cache")}
    for i, data in enumerate(variants(good, seeds)[::step]):
        forge(good, data, folder / "forged.bin")
        done = run_python(PROBED, str(folder / "forged.bin"), runtime[0], env=env, timeout=300)
        assert done.stdout.split()[-1:] == ["lives"], (i, done.returncode, done.stderr[-2000:])


NEVER = """
import sys
import numpy as np
import mace_cl
from support import tiny_network as tiny
session = mace_cl.load(sys.argv[1], device=sys.argv[2], probe="never")
x = np.linspace(-2, 2, tiny.N, dtype=np.float32)
right = np.allclose(session.run({"x": x})["y"], tiny.reference(x), rtol=1e-6)
print(session.start_report.programs[0].source, right)
"""


def check_never(good: Path, runtime: tuple[str, dict[str, str]], data: bytes, folder: Path) -> None:
    folder.mkdir()
    forge(good, data, folder / "forged.bin")
    env = {**runtime[1], "MACE_CACHE_DIR": str(folder / "cache")}
    crashes = 0
    for _ in range(3):
        try:
            done = run_python(NEVER, str(folder / "forged.bin"), runtime[0], env=env, timeout=60)
        except subprocess.TimeoutExpired:
            crashes += 1
            continue
        if done.returncode == 0:
            source, right = done.stdout.split()
            # A forged program may give anything; one that was built here may not.
            assert source == "file" or right == "True"
        else:
            assert done.returncode < 0 or "Error" in done.stderr, done.stderr
            crashes += done.returncode < 0
    assert crashes <= 2
    if crashes == 2:
        done = run_python(NEVER, str(folder / "forged.bin"), runtime[0], env=env, timeout=60)
        assert done.returncode == 0, done.stderr
        assert done.stdout.split()[1] == "True"


def test_as_they_are(good: Path, runtime: tuple[str, dict[str, str]], tmp_path: Path) -> None:
    check_as_they_are(good, runtime, range(20), tmp_path)


def test_made_right_with_the_probe_on(good: Path, runtime: tuple[str, dict[str, str]], tmp_path: Path) -> None:
    check_probed(good, runtime, range(2), tmp_path, 2)


def test_made_right_with_the_probe_off(good: Path, runtime: tuple[str, dict[str, str]], tmp_path: Path) -> None:
    data = binary(good)
    for i, forged in enumerate((truncated(data, "half"), truncated(data, "last byte missing"), mutated(data, 1))):
        check_never(good, runtime, forged, tmp_path / str(i))


@pytest.mark.slow
def test_a_thousand_as_they_are(good: Path, runtime: tuple[str, dict[str, str]], tmp_path: Path) -> None:
    check_as_they_are(good, runtime, range(1000), tmp_path)


@pytest.mark.slow
def test_a_thousand_with_the_probe_on(good: Path, runtime: tuple[str, dict[str, str]], tmp_path: Path) -> None:
    check_probed(good, runtime, range(1000), tmp_path)


@pytest.mark.slow
def test_a_thousand_with_the_probe_off(good: Path, runtime: tuple[str, dict[str, str]], tmp_path: Path) -> None:
    for i, forged in enumerate(variants(good, range(1000))):
        check_never(good, runtime, forged, tmp_path / str(i))
