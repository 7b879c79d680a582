from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from mace_cl.errors import BuildError, DeviceError
from mace_cl.opencl import build as module
from mace_cl.opencl.build import build_program, specialisations, split_sections
from mace_cl.opencl.build_log import first_error, source_lines
from mace_cl.opencl.child import ChildResult
from mace_cl.opencl.devices import DeviceInfo
from mace_cl.opencl.programs import Counter, program_from_binary, program_from_source
from support.runtimes import devices, run_python
from support.tiny_network import KERNELS, SOURCE

every_device = pytest.mark.parametrize("device", devices(), ids=lambda d: d.vendor)


@every_device
def test_a_program_with_its_kernels(device: DeviceInfo) -> None:
    before = Counter.source_builds
    built = build_program(device, SOURCE, kernels=KERNELS)
    assert Counter.source_builds == before, "nothing is compiled in this process"
    assert [k.name for k in built.kernels] == list(KERNELS)
    assert built.kernels[0].args == (("x", "__global float*"), ("y", "__global float*"), ("by", "float"))
    assert built.kernels[2].args[2] == ("t", "__local float*")
    program = program_from_binary(device, built.binary, built.options, KERNELS)
    assert set(KERNELS) <= set(program.kernel_names())
    assert Counter.source_builds == before


@every_device
def test_equal_sources_give_equal_binaries(device: DeviceInfo) -> None:
    if device.vendor == "pocl":
        pytest.skip("PoCL writes the name of a temporary file into its binaries")
    first, second = (build_program(device, SOURCE, kernels=KERNELS).binary for _ in range(2))
    assert first == second


@every_device
def test_an_error_has_file_line_and_source(device: DeviceInfo) -> None:
    wrong = SOURCE.replace("y[i] = x[i] + w[i];", "y[i] = x[i] + nothing[i];")
    with pytest.raises(BuildError) as caught:
        build_program(device, wrong, kernels=KERNELS)
    assert caught.value.where == "add.cl:4"
    assert "y[i] = x[i] + nothing[i];" in caught.value.message
    assert "undeclared" in caught.value.message


@every_device
def test_a_kernel_that_is_missing(device: DeviceInfo) -> None:
    with pytest.raises(DeviceError, match="holds no kernel 'other'"):
        build_program(device, SOURCE, kernels=[*KERNELS, "other"])


@every_device
def test_bad_bytes_are_refused(device: DeviceInfo) -> None:
    if device.vendor == "rusticl":
        pytest.skip("rusticl takes the process along")
    with pytest.raises(DeviceError, match="CL_INVALID_BINARY"):
        program_from_binary(device, b"nothing of the kind", "", KERNELS)


@every_device
def test_source_in_this_process_is_counted(device: DeviceInfo) -> None:
    before = Counter.source_builds
    program_from_source(device, SOURCE, "", KERNELS)
    assert Counter.source_builds == before + 1


def _child(alive: str, dead: ChildResult) -> object:
    """A compiler that survives only sources without a word."""

    def run(_module: str, _request: object, payload: bytes, **_more: object) -> ChildResult:
        if alive in payload.decode():
            return dead
        return ChildResult(("device", "build"), {"ok": True, "log": "", "kernels": []}, b"", 0, False, "")

    return run


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (ChildResult(("device", "build"), None, b"", -11, False, "boom"), "was killed by SIGSEGV"),
        (ChildResult(("device", "build"), None, b"", -9, True, ""), "did not end in time"),
        (ChildResult(("device", "build"), None, b"", 134, False, ""), "ended with status 134"),
    ],
)
def test_a_compiler_that_crashes_names_the_kernel(
    result: ChildResult, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "run_child", _child("x[i] + w[i]", result))
    with pytest.raises(BuildError, match=f"{said} on kernel 'add'") as caught:
        build_program(devices()[0], SOURCE, kernels=KERNELS)
    assert caught.value.where == "add"


def test_a_crash_while_a_kernel_is_made_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    result = ChildResult(("device", "build", "kernel reverse"), None, b"", -6, False, "")
    monkeypatch.setattr(module, "run_child", lambda *a, **k: result)
    with pytest.raises(BuildError, match="SIGABRT on kernel 'reverse'"):
        build_program(devices()[0], SOURCE, kernels=KERNELS)


def test_a_kill_is_no_fault_of_the_source(monkeypatch: pytest.MonkeyPatch) -> None:
    result = ChildResult(("device", "build"), None, b"", -9, False, "")
    monkeypatch.setattr(module, "run_child", lambda *a, **k: result)
    with pytest.raises(DeviceError, match="SIGKILL"):
        build_program(devices()[0], SOURCE, kernels=KERNELS)


def test_a_real_hang_ends() -> None:
    with pytest.raises((BuildError, DeviceError), match="did not end in time"):
        build_program(devices()[0], SOURCE.split("// ---- add")[0], kernels=["scale"], timeout_s=0.01)


def test_sections() -> None:
    preamble, sections = split_sections("#define A\n// ---- f\nx\n// ---- g\ny\n")
    assert preamble == "#define A\n"
    assert sections == [("f", "// ---- f\nx\n"), ("g", "// ---- g\ny\n")]
    assert split_sections("plain") == ("plain", [])


def test_specialisations() -> None:
    assert specialisations([(1,), (8, 4)]) == "1-1-1-goffs0-smallgrid,8-4-1-goffs0-smallgrid"


LOGS = [
    "Compilation started\nadd.cl:3:5: error: nothing good\n",
    "error: add.cl:3:5: nothing good\nDevice failed",
    "error: add.cl:3:5 <Spelling=/tmp/x.cl:1:1>: nothing good",
    "add.cl:1:1: warning: x\nadd.cl:3:5: fatal error: nothing good",
]


@pytest.mark.parametrize("log", LOGS)
def test_first_error(log: str) -> None:
    error = first_error(log, '#line 1 "add.cl"\na\nb\n  c\n')
    assert error is not None
    assert (error.place, error.source, error.text) == ("add.cl:3", "  c", "nothing good")


def test_an_error_without_file_is_the_programs() -> None:
    error = first_error("2:2:1: error: odd", "a\nb\n")
    assert error is not None
    assert (error.place, error.source) == ("program.cl:2", "b")
    assert first_error("it just failed", "a") is None


def test_lines_of_a_file_that_stands_twice() -> None:
    lines = source_lines('x\n#line 1 "f.cl"\none\n#line 1 "f.cl"\none\ntwo\n')
    assert lines == {("program.cl", 1): "x", ("f.cl", 1): "one", ("f.cl", 2): "two"}


RUN = """
import os, sys
import numpy as np
import mace_cl
from support import tiny_network as t
from mace_cl.opencl.devices import select_device

def files():
    return sum(f.endswith('.so') for _, _, names in os.walk(os.environ['POCL_CACHE_DIR']) for f in names)

device = select_device('pocl')
binary = open(sys.argv[1], 'rb').read()
entry = t.entry(device, binary=binary, options='-cl-kernel-arg-info')
session = mace_cl.load(t.compiled_file(entry), device='pocl')
before = files()
x = np.arange(t.N, dtype=np.float32)
for _ in range(3):
    assert np.array_equal(session.run({'x': x})['y'], t.reference(x))
print(before, files(), session.source_builds, session.start_report.programs[0].source)
"""


def test_pocl_binaries_hold_final_code(tmp_path: Path) -> None:
    device = next((d for d in devices() if d.vendor == "pocl"), None)
    if device is None:
        pytest.skip("no PoCL")
    counts = {}
    for name, sizes in (("right", [(1,)]), ("wrong", [(2,)])):
        file = tmp_path / name
        file.write_bytes(build_program(device, SOURCE, kernels=KERNELS, local_sizes=sizes).binary)
        (tmp_path / f"{name}-cache").mkdir()
        env = {"POCL_CACHE_DIR": str(tmp_path / f"{name}-cache"), "MACE_CACHE_DIR": str(tmp_path / "cache")}
        result = run_python(RUN, str(file), env=env)
        assert result.returncode == 0, result.stderr
        before, after, builds, source = result.stdout.split()
        assert (builds, source) == ("0", "file")
        counts[name] = int(after) - int(before)
    assert counts["right"] == 0, "the first run compiles nothing"
    assert counts["wrong"] > 0, "the count sees a compilation"


MANY = """
__kernel void flat(__global float *y) { y[get_global_id(0)] = 1.f; }
__kernel void wide(__global float *y) { y[get_global_id(1) * get_global_size(0) + get_global_id(0)] = 2.f; }
"""


def test_pocl_holds_code_for_several_sizes(tmp_path: Path) -> None:
    device = next((d for d in devices() if d.vendor == "pocl"), None)
    if device is None:
        pytest.skip("no PoCL")
    file = tmp_path / "binary"
    file.write_bytes(build_program(device, MANY, local_sizes=[(1,), (4, 2)]).binary)
    code = """
import os, sys
import numpy as np
from mace_cl.opencl.devices import select_device
from mace_cl.opencl.commands import launch
from mace_cl.opencl.context import new_queue
from mace_cl.opencl.memory import Memory, read
from mace_cl.opencl.programs import program_from_binary

def files():
    return sum(f.endswith('.so') for _, _, names in os.walk(os.environ['POCL_CACHE_DIR']) for f in names)

device = select_device('pocl')
program = program_from_binary(device, open(sys.argv[1], 'rb').read(), '-cl-kernel-arg-info', ['flat', 'wide'])
queue, buffer, out = new_queue(device), Memory(device).buffer(4 * 64), np.zeros(64, np.float32)
before = files()
for name, size, local, value in (('flat', (64,), (1,), 1), ('wide', (8, 8), (4, 2), 2)):
    launch(program.kernel(name), [buffer], size, local).enqueue(queue, True)
    read(queue, buffer, out)
    queue.finish()
    assert (out == value).all()
print(files() - before)
"""
    cache = tmp_path / "pocl"
    cache.mkdir()
    result = run_python(code, str(file), env={"POCL_CACHE_DIR": str(cache)})
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == "0"


def test_builds_leave_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    for device in devices():
        build_program(device, SOURCE, kernels=KERNELS)
    assert os.listdir(tmp_path) == []


def test_results_of_a_loaded_binary(tmp_path: Path) -> None:
    from mace_cl.opencl.commands import launch
    from mace_cl.opencl.context import new_queue
    from mace_cl.opencl.memory import Memory, read

    for device in devices():
        built = build_program(device, SOURCE, kernels=KERNELS)
        program = program_from_binary(device, built.binary, built.options, KERNELS)
        memory, queue = Memory(device), new_queue(device)
        x, y = memory.filled(np.arange(8, dtype=np.float32)), memory.buffer(32)
        launch(program.kernel("scale"), [x, y, np.float32(3).tobytes()], (8,), (1,)).enqueue(queue, True)
        out = np.empty(8, np.float32)
        read(queue, y, out)
        queue.finish()
        np.testing.assert_array_equal(out, 3 * np.arange(8, dtype=np.float32))
