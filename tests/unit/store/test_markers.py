from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from mace_cl.errors import CacheError
from mace_cl.store.markers import Markers
from mace_cl.store.processes import Process, is_alive, start_time, this_process
from support.runtimes import run_python

CRASH = """
import os, signal, sys
from pathlib import Path
from mace_cl.store.markers import Markers
with Markers(Path(sys.argv[1])).guard(sys.argv[2], "build"):
    os.kill(os.getpid(), int(sys.argv[3]))
"""


@pytest.fixture
def markers(tmp_path: Path) -> Markers:
    return Markers(tmp_path)


def crash(folder: Path, name: str = "binary", number: int = signal.SIGSEGV) -> None:
    assert run_python(CRASH, str(folder), name, str(int(number))).returncode == -number


def test_a_good_run_leaves_nothing(markers: Markers, tmp_path: Path) -> None:
    with markers.guard("binary", "create"):
        assert len(os.listdir(tmp_path)) == 1
        assert markers.strikes("binary") == 0, "our own process lives"
    assert os.listdir(tmp_path) == []


def test_an_error_is_no_crash(markers: Markers) -> None:
    with pytest.raises(ValueError, match="x"), markers.guard("binary", "create"):
        raise ValueError("x")
    assert markers.strikes("binary") == 0


def test_crashes_are_strikes_and_success_takes_them_back(markers: Markers, tmp_path: Path) -> None:
    crash(tmp_path)
    assert markers.strikes("binary") == 1
    assert markers.strikes("binary") == 1, "a strike counts once"
    crash(tmp_path)
    assert markers.strikes("binary") == 2
    assert markers.strikes("other") == 0
    markers.passed("binary")
    assert markers.strikes("binary") == 0
    assert os.listdir(tmp_path) == []


def test_a_zombie_is_dead(markers: Markers, tmp_path: Path) -> None:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    child = subprocess.Popen([sys.executable, "-c", CRASH, str(tmp_path), "binary", "9"], env=env)
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert markers.strikes("binary") == 1
    child.wait()


def test_a_number_used_again_is_another_process(markers: Markers, tmp_path: Path) -> None:
    own = this_process()
    with markers.guard("binary", "create"):
        [file] = os.listdir(tmp_path)
    parts = file.split(".")
    parts[3] = str(own.start - 1)
    (tmp_path / ".".join(parts)).write_text(json.dumps({"host": own.host, "boot": own.boot, "phase": "create"}))
    assert markers.strikes("binary") == 1


def test_what_a_reboot_left_is_no_strike(markers: Markers, tmp_path: Path) -> None:
    crash(tmp_path)
    [file] = os.listdir(tmp_path)
    about = json.loads((tmp_path / file).read_text())
    (tmp_path / file).write_text(json.dumps({**about, "boot": "an earlier one"}))
    assert markers.strikes("binary") == 0
    assert os.listdir(tmp_path) == []


def test_another_hosts_marker_is_left_alone(markers: Markers, tmp_path: Path) -> None:
    crash(tmp_path)
    [file] = os.listdir(tmp_path)
    parts = file.split(".")
    parts[1] = "0" * 12
    os.rename(tmp_path / file, tmp_path / ".".join(parts))
    assert markers.strikes("binary") == 0
    assert len(os.listdir(tmp_path)) == 1


@pytest.mark.parametrize("text", ["", "{", "[]", '{"boot": '])
def test_a_marker_written_in_part_is_no_strike(markers: Markers, tmp_path: Path, text: str) -> None:
    crash(tmp_path)
    [file] = os.listdir(tmp_path)
    (tmp_path / file).write_text(text)
    assert markers.strikes("binary") == 0


@pytest.mark.parametrize("name", ["binary", "binary.active", "binary.a.b.c.d.active", "binary.x.1.2.active"])
def test_odd_names_are_left_alone(markers: Markers, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("{}")
    assert markers.strikes("binary") == 0


def test_verdicts(markers: Markers, tmp_path: Path) -> None:
    crash(tmp_path)
    crash(tmp_path)
    markers.forgive("binary")
    assert markers.strikes("binary") == 0
    assert markers.is_forgiven("binary")
    markers.passed("binary")
    assert not markers.is_forgiven("binary")
    assert markers.condemned("binary") is None
    markers.condemn("binary", "it died")
    assert markers.condemned("binary") == "it died"
    markers.clear()
    assert markers.condemned("binary") is None


def test_a_folder_that_is_gone(tmp_path: Path) -> None:
    markers = Markers(tmp_path / "gone")
    assert markers.strikes("binary") == 0
    assert markers.condemned("binary") is None
    with pytest.raises(CacheError, match="cannot be written"), markers.guard("binary", "create"):
        pass


def test_processes() -> None:
    own = this_process()
    assert is_alive(own)
    assert own.start == start_time(os.getpid())
    assert not is_alive(Process(own.host, own.boot, own.pid, own.start + 1))
    assert start_time(2**22 + 1) is None
