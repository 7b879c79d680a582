"""inspect, verify, sign, merge, prune, diff, extract, check on small files."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from mace_cl.cli.main import main
from mace_cl.opencl import context, driver
from mace_cl.opencl.devices import list_devices, select_device
from mace_cl.program.macefile.files import make_mace_file
from mace_cl.program.reader import read_file
from mace_cl.program.writer import to_bytes, write_file
from support import made_binaries
from support.commands import run_main
from support.program_files import DESKTOP, PHONE, device_entry, portable_entry, small_file

PLATFORM = (
    b"QUALCOMM Snapdragon(TM), FULL_PROFILE, OpenCL 2.0 QUALCOMM build: commit #d6b520a changeid #I5c Date: 03/25/19 "
    b"Mon Local Branch: Remote Branch: quic/gfx-adreno.lnx.1.0.r69-rel, v0.11.0"
)
MACE = [
    (b"conv_2d_3x3  -DBIAS -Dconv_2d_3x3=c44CimylqKs", made_binaries.pocl(9)),
    (b"mace_opencl_precompiled_device_name_key", b"QUALCOMM Adreno(TM) 640"),
    (b"mace_opencl_precompiled_platform_info_key", PLATFORM),
]


def mace(*argv, stdin=b""):
    return run_main(main, *argv, stdin=stdin)


@pytest.fixture
def file(tmp_path):
    write_file(tmp_path / "a.bin", small_file())
    return tmp_path / "a.bin"


@pytest.fixture
def phone(tmp_path):
    path = tmp_path / "phone.json"
    path.write_text(json.dumps(PHONE.to_json()))
    return path


# -- inspect ------------------------------------------------------------------------------------------------------


def test_inspect(file):
    found = mace("inspect", file)
    assert found.code == 0
    for text in ("version 3", "Qualcomm Adreno(TM) 640", "299.0", "tiny (onnx)", "16x8/8x1", "__global float* x",
                 "arena 1.0 kB", "SPIR-V", "portable", "POCL_VECTORIZER=1", "weights"):  # fmt: skip
        assert text in found.out


def test_inspect_json(file):
    found = json.loads(mace("inspect", file, "--json").out)
    assert found["version"] == 3
    assert len(found["entries"]) == 3


def test_inspect_standard_input(file):
    assert "version 3" in mace("inspect", "-", stdin=file.read_bytes()).out


@pytest.mark.parametrize("version", [1, 2])
def test_inspect_mace_files(tmp_path, version):
    path = tmp_path / "m.bin"
    path.write_bytes(make_mace_file(version, MACE))
    found = mace("inspect", path)
    assert found.code == 0
    for text in (f"version {version}", "QUALCOMM Adreno(TM) 640", "2019-03-25", "quic/gfx-adreno.lnx.1.0.r69-rel",
                 "conv_2d_3x3 (as c44CimylqKs)", "PoCL", "v0.11.0"):  # fmt: skip
        assert text in found.out


def test_inspect_a_bare_binary(tmp_path):
    (tmp_path / "b").write_bytes(made_binaries.zebin())
    assert "kernel vecadd" in mace("inspect", tmp_path / "b").out


def test_inspect_other_engines(tmp_path):
    (tmp_path / "c").write_bytes(b"GGMLCLBC" + bytes(9))
    assert "llama.cpp" in mace("inspect", tmp_path / "c").out


def test_inspect_a_pyopencl_cache_entry(tmp_path):
    for name in ("info", "binary", "source.cl"):
        (tmp_path / name).write_bytes(b"x")
    assert "pyopencl" in mace("inspect", tmp_path).out
    assert mace("inspect", tmp_path, "--json").code == 0


def test_inspect_does_not_drive_the_terminal(tmp_path):
    write_file(tmp_path / "a.bin", replace(small_file(), target_gpu="\x1b[2Jevil\x07"))
    found = mace("inspect", tmp_path / "a.bin")
    assert "\x1b" not in found.out
    assert "\\x1b[2Jevil\\x07" in found.out


@pytest.mark.parametrize("command", ["inspect", "verify", "extract", "check"])
def test_missing_files_folders_and_damage(tmp_path, command):
    (tmp_path / "cut.bin").write_bytes(to_bytes(small_file())[:1000])
    (tmp_path / "folder").mkdir()
    for name, code in (("none.bin", 2), ("folder", 2), ("cut.bin", 1)):
        found = mace(command, tmp_path / name)
        assert (found.code, found.out) == (code, "")
        assert found.err.startswith("mace: error: ")
        assert name in found.err


# -- verify and sign ----------------------------------------------------------------------------------------------


def test_verify(file):
    assert mace("verify", file).code == 0
    data = bytearray(file.read_bytes())
    data[data.index(b"phone binary")] ^= 1
    file.write_bytes(data)
    found = mace("verify", file)
    assert found.code == 1
    assert "WRONG" in found.out
    assert json.loads(mace("verify", file, "--json").out)["faults"]


def test_sign_then_verify(file, tmp_path):
    key = tmp_path / "key"
    assert mace("sign", file, "--new-key", key).code == 0
    assert mace("verify", file, "--key", f"{key}.pub").code == 0
    assert "good   signature" in mace("verify", file).out
    mace("sign", "--new-key", tmp_path / "other")
    found = mace("verify", file, "--key", tmp_path / "other.pub")
    assert found.code == 1
    assert "is not signed" in found.err


def test_sign_without_a_key(file):
    assert mace("sign", file).code == 2
    assert mace("sign").code == 2


def test_verify_mace_files(tmp_path):
    path = tmp_path / "m.bin"
    path.write_bytes(make_mace_file(2, MACE))
    assert "CRC-32" in mace("verify", path).out
    path.write_bytes(path.read_bytes()[:-1] + b"\xff")
    assert mace("verify", path).code == 1


# -- merge, prune, diff, extract ----------------------------------------------------------------------------------


def test_merge_and_prune(tmp_path):
    for name, identity in (("a", PHONE), ("b", DESKTOP)):
        entries = (device_entry(identity, name.encode()), portable_entry())
        write_file(tmp_path / name, replace(small_file(), entries=entries))
    found = mace("merge", tmp_path / "a", tmp_path / "b", "-o", tmp_path / "c")
    assert found.code == 0
    assert len(read_file(tmp_path / "c").entries) == 3
    assert mace("prune", tmp_path / "c", "-o", tmp_path / "d", "--keep", "cpu").code == 0
    assert [e.identity for e in read_file(tmp_path / "d").entries] == [DESKTOP]


def test_merge_conflict(tmp_path):
    for name in ("a", "b"):
        write_file(tmp_path / name, replace(small_file(), entries=(device_entry(PHONE, name.encode()),)))
    found = mace("merge", tmp_path / "a", tmp_path / "b", "-o", tmp_path / "c")
    assert found.code == 2
    assert "binary of program p0" in found.err
    assert not (tmp_path / "c").exists()
    assert mace("merge", tmp_path / "a", tmp_path / "b", "-o", tmp_path / "c", "--prefer", "last").code == 0


def test_diff(file, tmp_path):
    assert mace("diff", file, file).code == 0
    write_file(tmp_path / "b", replace(small_file(), driver_version="300"))
    found = mace("diff", file, tmp_path / "b")
    assert found.code == 1
    assert "- 299.0" in found.out
    assert "+ 300" in found.out
    assert json.loads(mace("diff", file, tmp_path / "b", "--json").out)[0]["name"] == "driver_version"


def test_extract(file, tmp_path):
    assert mace("extract", file, "-o", tmp_path / "out").code == 0
    assert (tmp_path / "out" / "1-cpu" / "plan-0.json").exists()
    assert mace("extract", file, "-o", tmp_path / "out").code == 2
    assert mace("extract", file, "-o", tmp_path / "out", "--force").code == 0


def test_version3_commands_on_mace_files(tmp_path):
    path = tmp_path / "m.bin"
    path.write_bytes(make_mace_file(1, MACE))
    for argv in (("merge", path, "-o", tmp_path / "x"), ("prune", path, "-o", tmp_path / "x")):
        found = mace(*argv)
        assert found.code == 1
        assert "version 1" in found.err


# -- check --------------------------------------------------------------------------------------------------------


def test_check_elsewhere(file, phone):
    found = mace("check", file, "--identity", phone)
    assert found.code == 0
    assert "fits" in found.out


def test_check_names_the_difference(file, tmp_path):
    path = tmp_path / "new.json"
    path.write_text(json.dumps(replace(PHONE, driver_version="300.0").to_json()))
    found = mace("check", file, "--identity", path)
    assert found.code == 3
    assert "driver_version is '300.0' here, '299.0' in the file" in found.out
    report = json.loads(mace("check", file, "--identity", path, "--json").out)
    assert report["entries"][0]["differences"] == [{"field": "driver_version", "device": "300.0", "file": "299.0"}]


@pytest.mark.skipif(not list_devices(), reason="no OpenCL device")
def test_check_of_this_machine_makes_no_context(file, tmp_path, monkeypatch):
    def refuse(*_):
        raise AssertionError("a context was made")

    monkeypatch.setattr(context, "context_of", refuse)
    monkeypatch.setattr(driver.binding(), "Context", refuse)
    assert mace("check", file).code == 3
    here = device_entry(select_device(None).identity, b"binary")
    write_file(tmp_path / "here.bin", replace(small_file(), entries=(here,)))
    assert mace("check", tmp_path / "here.bin").code == 0


def test_check_with_odd_identities(file, tmp_path):
    (tmp_path / "x").write_text("{")
    assert mace("check", file, "--identity", tmp_path / "x").code == 2
    assert mace("check", file, "--identity", tmp_path / "none").code == 2
    assert mace("check", file, "--identity", tmp_path / "x", "--device", "0").code == 2
