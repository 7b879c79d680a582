from __future__ import annotations

import dataclasses
import os
import stat
from pathlib import Path

import numpy as np
import pytest

import mace_cl
from mace_cl.errors import BuildError, DeviceError, NoFitError
from mace_cl.opencl.devices import DeviceInfo
from mace_cl.program.records import Blob, CompiledFile
from mace_cl.program.selftest import SelfTest, make_inputs, sample_outputs
from mace_cl.program.writer import to_bytes, write_file
from mace_cl.runtime import loading, opening
from mace_cl.runtime.probe import Trial
from mace_cl.runtime.selfcheck import self_test
from mace_cl.runtime.session import Session
from mace_cl.store.store import CacheWarning, Store
from mace_cl.types import TensorType
from support import tiny_network as tiny
from support.runtimes import devices, run_python

DEVICE = devices()[0]
every_device = pytest.mark.parametrize("device", devices(), ids=lambda d: d.vendor)


@pytest.fixture(scope="module")
def compiled() -> CompiledFile:
    return tiny.compiled_file(tiny.compiled_entry(DEVICE), tiny.entry(None))


def load(file: CompiledFile | Path | bytes, device: DeviceInfo = DEVICE, **more: object) -> Session:
    session: Session = mace_cl.load(file, device=device.vendor, **more)
    x = np.linspace(-1, 1, tiny.N, dtype=np.float32)
    np.testing.assert_allclose(session.run({"x": x})["y"], tiny.reference(x), rtol=1e-6)
    return session


def origin(session: Session) -> str:
    return session.start_report.programs[0].source


def variant(number: int, device: DeviceInfo | None = None, **more: object) -> CompiledFile:
    """A file whose source no other test builds, so that sessions of this process do not share it."""
    source = tiny.SOURCE + f"\n// {number}\n"
    return tiny.compiled_file(tiny.entry(device, source=source, **more))  # type: ignore[arg-type]


# -- the cache --------------------------------------------------------------------------------------------------


@every_device
def test_what_was_built_is_kept_at_once(device: DeviceInfo, empty_cache: Path, tmp_path: Path) -> None:
    path = tmp_path / "tiny.bin"
    write_file(path, variant(1))
    code = (
        "import sys, numpy as np, mace_cl\n"
        "s = mace_cl.load(sys.argv[1], device=sys.argv[2])\n"
        "print(s.source_builds, s.start_report.programs[0].source)\n"
        "import os; os.kill(os.getpid(), 9)\n"
    )
    first = run_python(code.replace("print(s", "print(s", 1), str(path), device.vendor)
    assert first.returncode == -9
    second = run_python(code.replace("import os;", "sys.exit();"), str(path), device.vendor)
    assert second.stdout.split() == ["0", "cache"], second.stderr
    [line] = Store(empty_cache).programs.lines()
    assert line.about["kernels"] == list(tiny.KERNELS)


def test_without_cache_nothing_is_written(empty_cache: Path) -> None:
    session = load(variant(2), cache=False)
    assert origin(session) == "built"
    assert not empty_cache.exists()
    assert any("no crash markers" in n for n in session.start_report.notes)


def test_a_change_of_source_is_a_miss(empty_cache: Path) -> None:
    for number in (3, 4):
        assert origin(load(variant(number))) == "built"
    assert len(Store(empty_cache).programs.lines()) == 2


def test_a_source_that_does_not_build_is_not_tried_again(empty_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tiny.compiled_file(tiny.entry(None, source=tiny.SOURCE + "\n// 5\n#error never\n"))
    with pytest.raises(NoFitError, match="never"):
        load(file)

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("it was tried again")

    monkeypatch.setattr(loading, "build_program", refuse)
    with pytest.raises(NoFitError, match="did not build on this device at an earlier start"):
        load(file)


def test_a_full_disk_is_not_remembered_as_a_bad_source(empty_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise BuildError("it failed", log="LLVM ERROR: IO failure: No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(loading, "build_program", full)
        with pytest.raises(NoFitError):
            load(variant(6))
    assert origin(load(variant(6))) == "built"


@pytest.mark.parametrize("damage", ["truncate", "flip", "empty", "folder", "other"])
def test_a_damaged_cache_file_is_built_anew(empty_cache: Path, damage: str, tmp_path: Path) -> None:
    file = tmp_path / "tiny.bin"
    write_file(file, variant(7))
    code = (
        "import sys, warnings, numpy as np, mace_cl\n"
        "from support import tiny_network as t\n"
        "s = mace_cl.load(sys.argv[1])\n"
        "x = np.ones(t.N, np.float32)\n"
        "assert np.allclose(s.run({'x': x})['y'], t.reference(x))\n"
        "print(s.start_report.programs[0].source, len(s.start_report.notes))\n"
    )
    assert run_python(code, str(file)).stdout.split()[0] == "built"
    [path] = (empty_cache / "programs").iterdir()
    data = path.read_bytes()
    if damage == "truncate":
        path.write_bytes(data[: len(data) // 2])
    elif damage == "flip":
        path.write_bytes(data[:-100] + bytes([data[-100] ^ 1]) + data[-99:])
    elif damage == "empty":
        path.write_bytes(b"")
    elif damage == "other":
        path.write_bytes(b"not a cache file at all" * 100)
    else:
        path.unlink()
        path.mkdir()
    result = run_python(code, str(file))
    assert result.stdout.split()[0] == "built", result.stderr
    assert int(result.stdout.split()[1]) >= 1
    again = run_python(code, str(file))
    assert again.stdout.split()[0] == ("built" if damage == "folder" else "cache"), again.stderr
    assert again.returncode == 0


def test_a_folder_that_cannot_be_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "file"
    file.write_text("")
    monkeypatch.setenv("MACE_CACHE_DIR", str(file))
    with pytest.warns(CacheWarning, match="is not a folder") as caught:
        session = load(variant(8))
    assert len([w for w in caught if w.category is CacheWarning]) == 1
    assert origin(session) == "built"
    assert any("crash markers" in n for n in session.start_report.notes)


def test_another_users_folder(empty_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if os.getuid() != 0:
        pytest.skip("needs the superuser to give a folder away")
    empty_cache.mkdir(mode=0o755)
    os.chown(empty_cache, 12345, 12345)
    with pytest.warns(CacheWarning, match="belongs to another user"):
        load(variant(9))
    assert list(empty_cache.iterdir()) == []


def test_what_is_kept_is_ours_alone(empty_cache: Path) -> None:
    load(variant(10))
    for path in [empty_cache, *empty_cache.rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path


def test_a_binary_that_the_driver_refuses_is_built_anew(empty_cache: Path, tmp_path: Path) -> None:
    load(variant(11))
    programs = Store(empty_cache).programs
    [line] = programs.lines()
    key = line.path.name.partition(".")[0]
    programs.put(key, b"\x7fELF of another driver", line.about["options"], {})
    write_file(tmp_path / "tiny.bin", variant(11))
    code = "import sys, mace_cl; s = mace_cl.load(sys.argv[1], probe='never'); print(s.start_report.programs[0].source)"
    first = run_python(code, str(tmp_path / "tiny.bin"))
    assert first.stdout.split() == ["built"], first.stderr


# -- binaries of the file ---------------------------------------------------------------------------------------


def test_a_damaged_binary_is_a_named_miss(compiled: CompiledFile, empty_cache: Path) -> None:
    data = bytearray(to_bytes(compiled))
    forms = compiled.entries[0].programs["p0"]
    assert forms.binary is not None
    at = bytes(data).index(bytes(forms.binary.unchecked()))
    data[at + 1000] ^= 1
    session = load(bytes(data))
    assert session.start_report.programs[0].source == "built"
    assert "SHA-256 is not the stored one" in session.start_report.programs[0].why_not[0]


def test_damaged_weights_and_plans_are_refused(compiled: CompiledFile, empty_cache: Path, tmp_path: Path) -> None:
    for blob in (compiled.entries[0].weights["w0"], compiled.entries[0].plans[0].blob):
        data = bytearray(to_bytes(compiled))
        data[bytes(data).index(bytes(blob.unchecked())) + blob.size - 3] ^= 1
        path = tmp_path / "broken.bin"
        path.write_bytes(data)
        for source in (path, bytes(data)):
            with pytest.raises(NoFitError, match="SHA-256"):
                load(source)


def test_weights_are_hashed_once_a_file(
    compiled: CompiledFile, empty_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "tiny.bin"
    write_file(path, compiled)
    hashed: list[str] = []
    checked = Blob.checked
    monkeypatch.setattr(Blob, "checked", lambda self: (hashed.append(self.kind), checked(self))[1])
    load(path)
    load(path)
    assert hashed.count("weights") == 1
    data = bytearray(path.read_bytes())
    path.write_bytes(data)  # the same bytes, another time
    load(path)
    assert hashed.count("weights") == 2


def test_a_kernel_that_cannot_be_made_falls_back_to_source(
    compiled: CompiledFile, monkeypatch: pytest.MonkeyPatch, empty_cache: Path
) -> None:
    real = loading.program_from_binary
    calls: list[object] = []

    def refuse_first(*args: object, **more: object) -> object:
        calls.append(args)
        if len(calls) == 1:
            raise DeviceError("CL_INVALID_KERNEL_NAME")
        return real(*args, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(loading, "program_from_binary", refuse_first)
    entry = dataclasses.replace(compiled.entries[0])
    forms = entry.programs["p0"]
    fresh = dataclasses.replace(forms, source=Blob("source", "p0", (tiny.SOURCE + "\n// 12\n").encode()), options="-DZ")
    session = load(tiny.compiled_file(dataclasses.replace(entry, programs={"p0": fresh})))
    assert session.start_report.programs[0].source == "built"
    assert "CL_INVALID_KERNEL_NAME" in session.start_report.programs[0].why_not[0]


# -- probes -----------------------------------------------------------------------------------------------------


@pytest.fixture
def trials(monkeypatch: pytest.MonkeyPatch) -> list[Trial]:
    """Trials in a child process, as they happen."""
    made: list[Trial] = []
    run = Trial.run
    monkeypatch.setattr(opening.Trial, "run", lambda self: (made.append(self), run(self))[1])
    return made


def test_a_foreign_program_is_tried_once(
    compiled: CompiledFile, empty_cache: Path, trials: list[Trial], tmp_path: Path
) -> None:
    path = tmp_path / "tiny.bin"
    write_file(path, compiled)
    for source in (path, to_bytes(compiled)):
        load(source)
        assert len(trials) == 1
    load(path, probe="always")
    assert len(trials) == 2
    Store(empty_cache).vouched.clear()
    load(path, probe="never")
    assert len(trials) == 2


def test_bytes_are_tried_without_a_file(compiled: CompiledFile, empty_cache: Path, trials: list[Trial]) -> None:
    load(to_bytes(compiled))
    assert len(trials) == 1


def test_what_this_process_made_needs_no_trial(compiled: CompiledFile, empty_cache: Path, trials: list[Trial]) -> None:
    load(compiled)
    assert not trials


def test_another_plan_is_another_pair(compiled: CompiledFile, empty_cache: Path, trials: list[Trial]) -> None:
    load(to_bytes(compiled))
    entry = compiled.entries[0]
    plan = tiny.plan()
    renamed = dataclasses.replace(plan, steps=(dataclasses.replace(plan.steps[0], name="other"), *plan.steps[1:]))
    ref = dataclasses.replace(entry.plans[0], blob=Blob("plan", "plan", renamed.to_bytes()))
    load(to_bytes(tiny.compiled_file(dataclasses.replace(entry, plans=(ref,)))))
    assert len(trials) == 2


def test_without_a_cache_every_start_is_tried(compiled: CompiledFile, trials: list[Trial]) -> None:
    for _ in range(2):
        load(to_bytes(compiled), cache=False)
    assert len(trials) == 2


def test_a_death_in_the_child_condemns_the_binary(
    compiled: CompiledFile, empty_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening.Trial, "run", lambda self: "it died" if self.codes[0].source == "file" else None)
    session = load(to_bytes(compiled))
    assert session.start_report.programs[0].why_not == (
        "entry 0 (intel-cpu), compiled: it died".replace("intel-cpu", DEVICE.vendor),
    )
    again = load(to_bytes(compiled))
    assert "set aside until the driver changes: it died" in again.start_report.programs[0].why_not[0]
    never = load(to_bytes(compiled), probe="never")
    assert "set aside" in never.start_report.programs[0].why_not[0]


def strike(compiled: CompiledFile, cache: Path, times: int) -> None:
    """Processes that are killed in the first launch of the file's program."""
    cache.parent.joinpath("f.bin").write_bytes(to_bytes(compiled))
    code = (
        "import os, signal, sys, mace_cl, numpy as np\n"
        "from mace_cl.runtime.running import RunningPlan\n"
        "RunningPlan.run = lambda *a: os.kill(os.getpid(), signal.SIGKILL)\n"
        "s = mace_cl.load(sys.argv[1], probe='never', device=sys.argv[2])\n"
        f"s.run({{'x': np.ones({tiny.N}, np.float32)}})\n"
    )
    for _ in range(times):
        killed = run_python(code, str(cache.parent / "f.bin"), DEVICE.vendor)
        assert killed.returncode == -9, killed.stderr


def test_two_kills_do_not_set_a_good_binary_aside(
    compiled: CompiledFile, empty_cache: Path, trials: list[Trial]
) -> None:
    load(to_bytes(compiled))
    strike(compiled, empty_cache, 1)
    assert origin(load(to_bytes(compiled))) in ("file", "shared")
    assert len(trials) == 1, "one strike needs no trial"
    strike(compiled, empty_cache, 2)
    assert origin(load(to_bytes(compiled))) in ("file", "shared")
    assert len(trials) == 2, "two strikes are judged in a child process"
    assert origin(load(to_bytes(compiled))) in ("file", "shared")
    assert len(trials) == 2


def test_two_strikes_set_a_binary_aside_where_no_child_may_judge(compiled: CompiledFile, empty_cache: Path) -> None:
    strike(compiled, empty_cache, 2)
    session = load(to_bytes(compiled), probe="never")
    assert "two starts in a row did not survive it" in session.start_report.programs[0].why_not[0]
    assert origin(session) in ("built", "shared")
    assert origin(load(to_bytes(compiled), probe="auto")) in ("file", "shared"), "a child clears it"
    assert origin(load(to_bytes(compiled), probe="never")) in ("file", "shared")


# -- self-test --------------------------------------------------------------------------------------------------


def with_selftest(file: CompiledFile, factor: float) -> CompiledFile:
    ranges = ((-1.0, 1.0),)
    from mace_cl.types import DataType

    [x] = make_inputs([TensorType(DataType.FLOAT32, (tiny.N,))], ranges)
    y = tiny.reference(x) * np.float32(factor)
    test = SelfTest(ranges, sample_outputs({"y": y, "z": y, "w": tiny.weights()}))
    entry = dataclasses.replace(file.entries[0], selftest=Blob("selftest", "t", test.to_bytes()))
    return tiny.compiled_file(entry, *file.entries[1:])


def test_a_self_test_passes(compiled: CompiledFile, empty_cache: Path) -> None:
    assert self_test(load(with_selftest(compiled, 1.0))) == []


def test_a_wrong_result_sets_the_entry_aside(compiled: CompiledFile, empty_cache: Path) -> None:
    wrong = with_selftest(compiled, 1.01)
    lines = self_test(load(wrong))
    assert lines[0].startswith("output 'y' differs")
    session = load(wrong)
    assert "set aside until the driver changes: its self-test failed" in session.start_report.programs[0].why_not[0]
