"""mace_run: the six lines, MACE's flags, exit codes."""

from __future__ import annotations

import numpy as np
import pytest

from mace_cl.cli.mace_run import main
from mace_cl.cli.mace_run_files import file_tensors, input_sets, read_tensor, write_tensor
from mace_cl.cli.mace_run_flags import FLAGS, parse_flags
from mace_cl.errors import UnsupportedError, UsageError
from mace_cl.program.macefile.files import make_mace_file
from mace_cl.program.writer import to_bytes, write_file
from mace_cl.types import DataType, TensorType
from support.commands import run_main
from support.program_files import small_file

IMAGE = {"in/put:0": TensorType(DataType.FLOAT32, (1, 2, 3, 4))}


def test_dump_binary_info(tmp_path):
    write_file(tmp_path / "a.bin", small_file())
    found = run_main(main, f"--model_file={tmp_path / 'a.bin'}", "--dump_binary_info")
    lines = found.out.splitlines()
    assert found.code == 0
    assert lines[:4] == [
        "Binary format version: 3", "Target GPU: Qualcomm Adreno(TM) 640", "Driver version: 299.0", "Kernel count: 1",
    ]  # fmt: skip
    assert [line.partition(":")[0] for line in lines[4:]] == ["Total binary size", "CRC32 checksum"]


def test_dump_of_a_wrong_checksum(tmp_path):
    data = bytearray(to_bytes(small_file()))
    data[24] ^= 1
    (tmp_path / "a.bin").write_bytes(data)
    found = run_main(main, "--model_file", tmp_path / "a.bin", "-dump_binary_info")
    assert (found.code, len(found.out.splitlines())) == (1, 6)
    assert "checksum is wrong" in found.err


def test_dump_of_mace_files(tmp_path):
    for version in (1, 2):
        (tmp_path / "m").write_bytes(make_mace_file(version, [(b"conv -DA", b"x" * 40)]))
        found = run_main(main, f"--model_file={tmp_path / 'm'}", "--dump_binary_info=true")
        assert found.code == 0
        assert found.out.startswith(f"Binary format version: {version}\nTarget GPU: unknown\nDriver version: unknown\n")


@pytest.mark.parametrize(
    ("argv", "code", "text"),
    [
        (["--model_fil=x"], 2, "did you mean --model_file?"),
        (["--qqq"], 2, "no flag --qqq"),
        (["--noround"], 2, "no flag"),
        (["file.bin"], 2, "is no flag"),
        (["--round"], 2, "has no value"),
        (["--round=x"], 2, "is no integer"),
        (["--round=0"], 2, "is not from 1"),
        (["--gpu_perf_hint=9"], 2, "is not from 0 to 3"),
        (["--benchmark=maybe"], 2, "neither true nor false"),
        (["--num_threads=4"], 1, "driver decides"),
        (["--apu_boost_hint=1", "--accelerator_cache_policy=2"], 1, "--accelerator_cache_policy=2"),
        (["--model_data_file=w.data"], 1, "inside the compiled file"),
        ([], 2, "--model_file is missing"),
        (["--model_file=none.bin"], 2, "none.bin"),
        (["--model_file=none.bin", "--dump_binary_info"], 2, "none.bin"),
        (["--model_file=a", "--opencl_binary_file=b"], 2, "one file here"),
    ],
)
def test_errors(argv, code, text):
    found = run_main(main, *argv)
    assert (found.code, found.out) == (code, "")
    assert text in found.err


def test_help_names_every_flag():
    found = run_main(main, "--help")
    assert found.code == 0
    assert all(f"--{name}" in found.out for name in FLAGS)


def test_styles_of_flags():
    flags = parse_flags(["-round=3", "--model_file", "x", "--benchmark", "--nofake_warmup", "--dump_binary_info=false"])
    assert (flags.number("round"), flags.text("model_file")) == (3, "x")
    assert flags.is_on("benchmark")
    assert not flags.is_on("fake_warmup")
    assert not flags.is_on("dump_binary_info")


def test_defaults_written_out_are_not_refused():
    words = [f"--{n}={str(f.default).lower() if isinstance(f.default, bool) else f.default}" for n, f in FLAGS.items()]
    assert parse_flags(words).values == {n: f.default for n, f in FLAGS.items()}


def test_all_refusals_are_said_at_once():
    with pytest.raises(UnsupportedError) as caught:
        parse_flags(["--num_threads=2", "--cpu_affinity_policy=0", "--malloc_check_cycle=5"])
    assert len(caught.value.items) == 3


# -- files --------------------------------------------------------------------------------------------------------


def test_raw_files_by_name_and_layout(tmp_path):
    flags = parse_flags(["--input_shape=1,4,2,3", "--input_data_format=NCHW", "--input_data_type=float16",
                         f"--input_file={tmp_path / 'in'}"])  # fmt: skip
    (tensor,) = file_tensors(flags, "input", IMAGE)
    values = np.arange(24, dtype=np.float16).reshape(1, 4, 2, 3)
    ((_, paths),) = input_sets(flags, [tensor])
    assert paths["in/put:0"] == tmp_path / "in_in_put_0"
    paths["in/put:0"].write_bytes(values.tobytes())
    array = read_tensor(paths["in/put:0"], tensor)
    assert array.dtype == np.float32
    np.testing.assert_array_equal(array, values.transpose(0, 2, 3, 1))
    write_tensor(tmp_path / "out", array, tensor)
    assert (tmp_path / "out").read_bytes() == values.tobytes()


def test_one_input_may_be_the_file_itself(tmp_path):
    (tmp_path / "in").write_bytes(bytes(96))
    flags = parse_flags([f"--input_file={tmp_path / 'in'}"])
    ((_, paths),) = input_sets(flags, file_tensors(flags, "input", IMAGE))
    assert paths["in/put:0"] == tmp_path / "in"


def test_input_dir(tmp_path):
    for suffix in ("_b.raw", "_a.raw"):
        (tmp_path / f"in_put_0{suffix}").write_bytes(bytes(96))
    flags = parse_flags([f"--input_dir={tmp_path}"])
    assert [s for s, _ in input_sets(flags, file_tensors(flags, "input", IMAGE))] == ["_a.raw", "_b.raw"]


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--input_node=x"], "no input 'x'"),
        (["--input_shape=1,2"], "not 1x2"),
        (["--input_shape=1,4,2,3"], "not 1x4x2x3"),
        (["--input_shape=a"], "is no shape"),
        (["--input_data_type=bfloat16"], "none of"),
        (["--input_data_format=OIHW"], "none of"),
        (["--input_data_type=int8,int8"], "2 values for 1"),
    ],
)
def test_descriptions_that_do_not_fit(words, text):
    with pytest.raises(UsageError, match=text):
        file_tensors(parse_flags(words), "input", IMAGE)


def test_a_file_of_the_wrong_size(tmp_path):
    (tmp_path / "x").write_bytes(bytes(95))
    (tensor,) = file_tensors(parse_flags([]), "input", IMAGE)
    with pytest.raises(UsageError, match="95 bytes"):
        read_tensor(tmp_path / "x", tensor)
