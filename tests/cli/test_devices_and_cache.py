from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import mace_cl
from mace_cl.cli.main import main
from mace_cl.store.store import Store
from support import tiny_network as tiny
from support.runtimes import devices


def run(capsys: pytest.CaptureFixture[str], *args: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as end:
        main(list(args))
    out, err = capsys.readouterr()
    return int(end.value.code or 0), out, err


def test_devices(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "devices")
    assert code == 0
    for device in devices():
        assert f"{device.index}: {device.name}" in out
    code, out, _ = run(capsys, "devices", "--json")
    listed = json.loads(out)
    assert [line["identity_digest"] for line in listed] == [d.identity.digest for d in devices()]
    assert all(line["identity"]["driver_version"] for line in listed)


def test_one_device_with_its_identity_and_check(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "devices", "--device", devices()[0].vendor, "--identity", "--check")
    assert code == 0
    assert devices()[0].identity.digest in out
    assert "units work at once" in out or "its unit works" in out


def test_an_unknown_device(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "devices", "--device", "tpu")
    assert code == 2
    assert "no device is called 'tpu'" in err
    assert devices()[0].name in err


def test_cache(capsys: pytest.CaptureFixture[str], empty_cache: Path) -> None:
    assert run(capsys, "cache", "path")[1].strip() == str(empty_cache)
    assert "nothing is kept" in run(capsys, "cache", "list")[1]
    assert not empty_cache.exists()
    session = mace_cl.load(tiny.compiled_file(tiny.entry(None, source=tiny.SOURCE + "// cli\n")))
    session.run({"x": np.ones(tiny.N, np.float32)})
    _, out, _ = run(capsys, "cache", "list", "--json")
    [line] = json.loads(out)
    assert "3 kernels for" in line["about"]
    (empty_cache / "models").mkdir()
    (empty_cache / "models" / "a.bin").write_bytes(bytes(1000))
    assert json.loads(run(capsys, "cache", "size", "--json")[1])["bytes"] == line["bytes"] + 1000
    assert run(capsys, "cache", "clear")[0] == 0
    assert "nothing is kept" in run(capsys, "cache", "list")[1]
    assert Store(empty_cache).programs.size() == 0


def test_a_cache_that_cannot_be_used(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "file"
    file.write_text("")
    monkeypatch.setenv("MACE_CACHE_DIR", str(file))
    with pytest.warns(UserWarning, match="is not a folder"):
        code, _, err = run(capsys, "cache", "clear")
    assert code == 1
    assert "is not a folder" in err
