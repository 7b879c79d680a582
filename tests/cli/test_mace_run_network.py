"""mace_run on a network: files in, files out, tables, exit codes."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from mace_cl.cli.mace_run import main
from mace_cl.program.writer import write_file
from support import tiny_network
from support.commands import run_main
from support.runtimes import device_ids, device_of, devices


@cache
def entry_of(vendor):
    return tiny_network.compiled_entry(device_of(vendor), sizes=(96, 32))


@pytest.fixture(params=devices(), ids=device_ids)
def file(request, tmp_path, monkeypatch):
    """(a file with plans for two shapes, name of the device)."""
    monkeypatch.setenv("MACE_CACHE_DIR", str(tmp_path / "cache"))
    write_file(tmp_path / "a.bin", tiny_network.compiled_file(entry_of(request.param.vendor)))
    return tmp_path / "a.bin", request.param.vendor


def run(file, *argv):
    path, device = file
    return run_main(main, f"--model_file={path}", f"--device={device}", *argv)


def test_outputs_are_written(file, tmp_path):
    x = np.linspace(-1, 1, 96, dtype=np.float32)
    x.tofile(tmp_path / "in_x")
    found = run(
        file, f"--input_file={tmp_path / 'in'}", f"--output_file={tmp_path / 'out'}", "--round=2", "--benchmark"
    )
    assert found.code == 0, found.err
    np.testing.assert_array_equal(np.fromfile(tmp_path / "out_y", np.float32), tiny_network.reference(x))
    lines = found.out.splitlines()
    assert any(line.split()[:1] == ["time"] for line in lines)
    for title in ("Sort by Run Order", "Sort by Computation Time", "Stat by Op Type", "Summary of Ops' Stat"):
        assert title in found.out
    assert "reverse" in found.out


def test_another_shape_and_other_types(file, tmp_path):
    x = np.arange(32, dtype=np.float16)
    x.tofile(tmp_path / "in")
    found = run(
        file, "--input_node=x", "--input_shape=32", "--input_data_type=float16", f"--input_file={tmp_path / 'in'}",
        "--output_node=y", "--output_data_type=int32", f"--output_file={tmp_path / 'out'}",
    )  # fmt: skip
    assert found.code == 0, found.err
    expected = tiny_network.reference(x.astype(np.float32)).astype(np.int32)
    np.testing.assert_array_equal(np.fromfile(tmp_path / "out_y", np.int32), expected)
    assert not (tmp_path / "out_z").exists()


def test_a_folder_of_inputs(file, tmp_path):
    (tmp_path / "inputs").mkdir()
    for i in range(3):
        np.full(96, i, np.float32).tofile(tmp_path / "inputs" / f"x.{i}")
    found = run(file, f"--input_dir={tmp_path / 'inputs'}", f"--output_dir={tmp_path / 'outputs'}")
    assert found.code == 0, found.err
    for i in range(3):
        expected = tiny_network.reference(np.full(96, i, np.float32))
        np.testing.assert_array_equal(np.fromfile(tmp_path / "outputs" / f"y.{i}", np.float32), expected)


def test_random_inputs_are_said(file):
    found = run(file, "--restart_round=2")
    assert found.code == 0
    assert "random" in found.err
    assert sum(line.startswith("time ") for line in found.out.splitlines()) == 2


@pytest.mark.parametrize(
    ("argv", "text"),
    [
        (["--model_name=other"], "holds 'tiny'"),
        (["--input_shape=7"], "not 7"),
        (["--output_node=q"], "no output 'q'"),
        (["--input_file=/no/such/file"], "cannot be read"),
    ],
)
def test_failures_have_exit_codes(file, argv, text):
    found = run(file, *argv)
    assert found.code == 2
    assert text in found.err


def test_cache_path(file, tmp_path):
    found = run(file, f"--opencl_cache_full_path={tmp_path / 'mine'}")
    assert found.code == 0
    assert run(file, "--opencl_cache_reuse_policy=0").code == 0
