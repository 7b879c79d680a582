"""Disks that are full, read-only or not there: the network runs, and one warning says what and why."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from mace_cl.program.writer import write_file
from support import tiny_network as tiny
from support.runtimes import devices, run_python

RUN = """
import os, sys, warnings
for name in sys.argv[2:]:
    os.environ.pop(name, None)
import numpy as np
import mace_cl
from support import tiny_network as tiny
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    session = mace_cl.load(sys.argv[1])
    x = np.linspace(-2, 2, tiny.N, dtype=np.float32)
    for _ in range(2):
        assert np.allclose(session.run({"x": x})["y"], tiny.reference(x), rtol=1e-6)
print(len(caught), *(str(w.message) for w in caught))
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with a binary for the preferred device, and one that has to be built."""
    path = tmp_path_factory.mktemp("file") / "tiny.bin"
    write_file(path, tiny.compiled_file(tiny.entry(None, source=tiny.SOURCE + "// disks\n")))
    return path


def mount(*command: str) -> None:
    if shutil.which("mount") is None:
        pytest.skip("there is no mount command")
    done = subprocess.run(["mount", *command], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"cannot mount: {done.stderr.strip()}")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "small"
    folder.mkdir()
    mount("-t", "tmpfs", "-o", "size=64k,nr_inodes=64,mode=0700", "tmpfs", str(folder))
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.fixture
def read_only(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "locked"
    folder.mkdir(mode=0o700)
    mount("--bind", str(folder), str(folder))
    subprocess.run(["mount", "-o", "remount,ro,bind", str(folder)], check=True)
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def run(file: Path, cache: Path | str, *unset: str) -> list[str]:
    result = run_python(RUN, str(file), *unset, env={"MACE_CACHE_DIR": str(cache)})
    assert result.returncode == 0, result.stderr
    count, *words = result.stdout.split()
    assert int(count) <= 1, result.stdout
    return words


def test_a_full_disk(file: Path, small_disk: Path) -> None:
    (small_disk / "filler").write_bytes(bytes(56 * 1024))
    assert "No space left" in " ".join(run(file, small_disk))


def test_a_disk_that_fills_up_with_the_program(file: Path, small_disk: Path) -> None:
    (small_disk / "filler").write_bytes(bytes(30 * 1024))
    for _ in range(2):
        run(file, small_disk)
    assert not list(small_disk.rglob(".new-*"))


def test_a_disk_without_inodes(file: Path, small_disk: Path) -> None:
    for i in range(70):
        try:
            (small_disk / str(i)).touch()
        except OSError:
            break
    assert "No space left" in " ".join(run(file, small_disk))


def test_a_read_only_disk(file: Path, read_only: Path) -> None:
    assert "Read-only file system" in " ".join(run(file, read_only))


def test_the_file_itself_on_a_read_only_disk(file: Path, tmp_path: Path) -> None:
    folder = tmp_path / "shipped"
    folder.mkdir()
    shutil.copy(file, folder)
    mount("--bind", str(folder), str(folder))
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", str(folder)], check=True)
        assert run(folder / file.name, tmp_path / "cache") == []
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def test_without_a_home(file: Path, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    run_python(RUN, str(file), "MACE_CACHE_DIR", env={"HOME": str(gone), "XDG_CACHE_HOME": ""})
    assert (gone / ".cache" / "mace-cl").is_dir(), "a home that is missing is made, as far as it may"
    result = run_python(RUN, str(file), "MACE_CACHE_DIR", env={"HOME": "/proc/none", "XDG_CACHE_HOME": ""})
    assert result.returncode == 0, result.stderr
    assert "cannot be made" in result.stdout


def test_the_clock_jumps(file: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    run(file, cache)
    for path in cache.rglob("*"):
        for when in (0, 4_000_000_000):
            os.utime(path, (when, when))
    assert run(file, cache) == []


def test_every_part_of_the_cache_may_be_missing_or_odd(file: Path, tmp_path: Path) -> None:
    for part in ("programs", "markers", "vouched", "verified", "locks"):
        cache = tmp_path / part
        run(file, cache)
        shutil.rmtree(cache / part)
        run(file, cache)
        shutil.rmtree(cache / part)
        (cache / part).write_text("a file where a folder should be")
        assert "is not a folder" in " ".join(run(file, cache))


def test_a_file_replaced_while_it_is_used(file: Path, tmp_path: Path) -> None:
    code = """
import os, shutil, sys
import numpy as np
import mace_cl
from support import tiny_network as tiny
session = mace_cl.load(sys.argv[1])
with open(sys.argv[1] + ".new", "wb") as new:
    new.write(b"something else")
os.replace(sys.argv[1] + ".new", sys.argv[1])
x = np.linspace(-2, 2, tiny.N, dtype=np.float32)
assert np.allclose(session.run({"x": x})["y"], tiny.reference(x), rtol=1e-6)
"""
    copy = tmp_path / "copy.bin"
    shutil.copy(file, copy)
    assert run_python(code, str(copy), devices()[0].vendor).returncode == 0
