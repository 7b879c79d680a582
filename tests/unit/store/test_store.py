from __future__ import annotations

import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from mace_cl.errors import CacheError
from mace_cl.store import folder as folder_module
from mace_cl.store.folder import cache_folder, make_private, write_whole
from mace_cl.store.locks import file_lock
from mace_cl.store.store import CacheWarning, Store
from mace_cl.store.tokens import Tokens, token
from support.runtimes import ROOT, run_python


def test_the_folder_is_the_platforms(monkeypatch: pytest.MonkeyPatch) -> None:
    platformdirs = pytest.importorskip("platformdirs")
    monkeypatch.delenv("MACE_CACHE_DIR", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert str(cache_folder()) == platformdirs.user_cache_dir("mace-cl")
    monkeypatch.setenv("XDG_CACHE_HOME", "/some/where")
    assert str(cache_folder()) == platformdirs.user_cache_dir("mace-cl")
    monkeypatch.setenv("MACE_CACHE_DIR", "~/x")
    assert cache_folder() == Path.home() / "x"


def test_without_home(tmp_path: Path) -> None:
    code = (
        "import os; [os.environ.pop(n, None) for n in ('HOME', 'MACE_CACHE_DIR', 'XDG_CACHE_HOME')]\n"
        "from mace_cl.store.folder import cache_folder; print(cache_folder().is_absolute())"
    )
    assert run_python(code).stdout.strip() == "True"


def test_the_folder_is_ours_alone(tmp_path: Path) -> None:
    store = Store(tmp_path / "a" / "b")
    assert store.usable
    assert (tmp_path / "a" / "b").stat().st_mode & 0o777 == 0o700
    loose = tmp_path / "loose"
    loose.mkdir(mode=0o777)
    loose.chmod(0o777)
    make_private(loose)
    assert loose.stat().st_mode & 0o777 == 0o700


def test_trouble_is_said_once(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    with pytest.warns(CacheWarning, match="is not a folder") as caught:
        store = Store(file)
    assert not store.usable
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        store.keep(lambda: store.vouched.add("x"))
        with store.guard("binary", "create") as written:
            assert not written
        with store.lock("key") as held:
            assert not held
        assert not store.vouched.has("x")
    assert len(caught) == 1
    below = Path("/proc/nowhere/cache")
    with pytest.warns(CacheWarning, match="cannot be made"):
        assert not Store(below).usable


def test_another_users_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder_module.os, "getuid", lambda: 12345)
    with pytest.warns(CacheWarning, match="belongs to another user"):
        assert not Store(tmp_path).usable


def test_a_folder_that_vanishes_later(tmp_path: Path) -> None:
    store = Store(tmp_path / "cache")
    (tmp_path / "cache" / "markers").rmdir()
    with pytest.warns(CacheWarning, match="cannot be written"), store.guard("binary", "create") as written:
        assert not written


def test_whole_or_not_at_all(tmp_path: Path) -> None:
    write_whole(tmp_path / "f", b"one")
    write_whole(tmp_path / "f", b"two")
    assert (tmp_path / "f").read_bytes() == b"two"
    assert os.listdir(tmp_path) == ["f"]
    (tmp_path / "d").mkdir()
    with pytest.raises(CacheError):
        write_whole(tmp_path / "d", b"x")
    assert sorted(os.listdir(tmp_path)) == ["d", "f"]


def test_facts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mace_cl.store.tokens.LIMIT", 10)
    tokens = Tokens(tmp_path)
    names = [token("fact", str(i)) for i in range(11)]
    assert len(set(names)) == 11
    assert token("ab", "c") != token("a", "bc")
    for i, name in enumerate(names):
        tokens.add(name)
        os.utime(tmp_path / name, (i, i))
    assert tokens.has(names[10])
    assert not tokens.has(names[0])
    tokens.clear()
    assert os.listdir(tmp_path) == []


def test_a_lock_is_held_by_one(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with file_lock(path, 0) as first, file_lock(path, 0.05) as second:
        assert first
        assert not second
    with file_lock(path, 0) as again:
        assert again


HOLD = """
import sys, time
from pathlib import Path
from mace_cl.store.locks import file_lock
with file_lock(Path(sys.argv[1]), 1):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_dead_holder_leaves_no_lock(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    with file_lock(path, 0) as held:
        assert not held
    holder.kill()
    holder.wait()
    holder.stdout.close()
    with file_lock(path, 0) as held:
        assert held


def test_a_disk_without_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(95, "not supported")

    monkeypatch.setattr("fcntl.flock", refuse)
    with file_lock(tmp_path / "lock", 10) as held:
        assert not held
    with file_lock(Path("/nowhere/lock"), 10) as held:
        assert not held
