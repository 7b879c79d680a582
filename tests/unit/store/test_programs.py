from __future__ import annotations

import hashlib
import json
import os
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mace_cl.errors import CacheError
from mace_cl.store.programs import FAILED, MAGIC, ProgramCache, parse, program_key, quota_bytes

KEY = program_key("device", "source", "0" * 64, "-cl", ["f"], [(1, 1, 1)])


@pytest.fixture
def cache(tmp_path: Path) -> ProgramCache:
    return ProgramCache(tmp_path)


def keep(cache: ProgramCache, key: str, size: int, age: float) -> None:
    cache.put(key, os.urandom(size), "", {})
    os.utime(cache.path(key), (time.time() - age,) * 2)


def test_what_is_put_is_got(cache: ProgramCache) -> None:
    assert cache.get(KEY) == (None, "")
    cache.put(KEY, b"binary", "-cl-opt", {"device": "d"})
    found, why = cache.get(KEY)
    assert found is not None
    assert (found.binary, found.options, why) == (b"binary", "-cl-opt", "")
    [line] = cache.lines()
    assert line.about["device"] == "d"
    assert cache.size() == line.size
    cache.clear()
    assert list(cache.folder.iterdir()) == []


@pytest.mark.parametrize(
    "change",
    [
        ("other", "source", "0" * 64, "-cl", ["f"], [(1, 1, 1)]),
        ("device", "il", "0" * 64, "-cl", ["f"], [(1, 1, 1)]),
        ("device", "source", "1" * 64, "-cl", ["f"], [(1, 1, 1)]),
        ("device", "source", "0" * 64, "", ["f"], [(1, 1, 1)]),
        ("device", "source", "0" * 64, "-cl", ["g"], [(1, 1, 1)]),
        ("device", "source", "0" * 64, "-cl", ["f"], [(2, 1, 1)]),
    ],
)
def test_all_that_decides_is_in_the_name(change: tuple) -> None:  # type: ignore[type-arg]
    assert program_key(*change) != KEY


def test_every_truncation_is_a_miss_with_a_reason(cache: ProgramCache) -> None:
    cache.put(KEY, b"binary", "", {})
    whole = cache.path(KEY).read_bytes()
    for length in range(len(whole)):
        cache.path(KEY).write_bytes(whole[:length])
        found, why = cache.get(KEY)
        assert found is None
        assert "damaged" in why
        assert not cache.path(KEY).exists(), "a damaged file is removed"


@settings(max_examples=50, deadline=None)
@given(at=st.integers(0, 10_000), bit=st.integers(0, 7))
def test_every_flipped_bit_is_a_miss(at: int, bit: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    cache = ProgramCache(tmp_path_factory.mktemp("c"))
    cache.put(KEY, b"binary" * 10, "", {})
    data = bytearray(cache.path(KEY).read_bytes())
    data[at % len(data)] ^= 1 << bit
    cache.path(KEY).write_bytes(data)
    found, _ = cache.get(KEY)
    assert found is None or found.binary == b"binary" * 10


def test_a_file_of_another_program_is_refused(cache: ProgramCache) -> None:
    cache.put(KEY, b"binary", "", {})
    other = "f" * 64
    os.rename(cache.path(KEY), cache.path(other))
    assert cache.get(other)[1] == "is damaged: it belongs to another program"


@pytest.mark.parametrize("header", [b"[1]", b"{}", b'{"key":1}', b"\xff", b"[" * 100_000])
def test_odd_headers(header: bytes) -> None:
    with pytest.raises(CacheError):
        parse(MAGIC + len(header).to_bytes(4, "little") + hashlib.sha256(header).digest() + header, KEY)


def test_a_folder_or_link_where_a_file_should_be(cache: ProgramCache, tmp_path: Path) -> None:
    cache.path(KEY).mkdir()
    found, why = cache.get(KEY)
    assert found is None
    assert "cannot be read" in why
    with pytest.raises(CacheError, match="cannot be written"):
        cache.put(KEY, b"x", "", {})
    cache.path(KEY).rmdir()
    secret = tmp_path / "secret"
    secret.write_bytes(b"x")
    cache.path(KEY).symlink_to(secret)
    assert cache.get(KEY)[0] is None
    os.unlink(cache.path(KEY))
    os.mkfifo(cache.path(KEY))
    assert cache.get(KEY)[0] is None


def test_unused_programs_go_first(cache: ProgramCache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MACE_CACHE_SIZE", str(5800 / 2**20))
    for name, age in (("a", 30_000), ("b", 10_000), ("c", 20_000)):
        keep(cache, name * 64, 1500, age)
    cache.get("a" * 64)  # used: now the youngest
    keep(cache, "d" * 64, 1500, 0)
    assert {p.name[0] for p, _ in cache._files()} == {"a", "b", "d"}


def test_one_program_larger_than_the_quota_is_kept(cache: ProgramCache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MACE_CACHE_SIZE", "0")
    keep(cache, "a" * 64, 100, 0)
    keep(cache, "b" * 64, 100, 0)
    assert [p.name[0] for p, _ in cache._files()] == ["b"]


def test_a_clock_that_was_set_back(cache: ProgramCache) -> None:
    cache.put(KEY, b"x", "", {})
    os.utime(cache.path(KEY), (time.time() + 1e8,) * 2)
    assert cache.get(KEY)[0] is not None
    assert cache.path(KEY).stat().st_mtime < time.time() + 10


def test_leftovers_of_killed_writers_go(cache: ProgramCache) -> None:
    old, new = cache.folder / ".new-old", cache.folder / ".new-new"
    for file in (old, new):
        file.write_bytes(b"")
    os.utime(old, (1, 1))
    cache.put(KEY, b"x", "", {})
    assert not old.exists()
    assert new.exists()


def test_failures_are_remembered_until_it_builds(cache: ProgramCache) -> None:
    assert cache.failure(KEY) is None
    cache.put_failure(KEY, "no", "line 1")
    assert cache.failure(KEY) == "no\nline 1"
    cache.put(KEY, b"x", "", {})
    assert cache.failure(KEY) is None
    assert not cache.path(KEY, FAILED).exists()


@pytest.mark.parametrize(("text", "size"), [("1", 2**20), ("0.5", 2**19), ("x", 2**29), ("-1", 0), ("inf", 2**29)])
def test_quota(text: str, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MACE_CACHE_SIZE", text)
    assert quota_bytes() == size


def test_the_header_can_be_read_by_others(cache: ProgramCache) -> None:
    cache.put(KEY, b"body", "", {"device": "d"})
    data = cache.path(KEY).read_bytes()
    length = int.from_bytes(data[8:12], "little")
    assert json.loads(data[44 : 44 + length])["size"] == 4
    assert data[44 + length :] == b"body"
