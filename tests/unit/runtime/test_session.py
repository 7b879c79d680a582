from __future__ import annotations

import dataclasses
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import mace_cl
from mace_cl.errors import FormatError, InputError, NoFitError, RunInterrupted, UsageError
from mace_cl.opencl.devices import DeviceInfo
from mace_cl.program.plan import Endpoint, Plan
from mace_cl.program.records import Blob, CompiledFile, PlanRef
from mace_cl.program.writer import to_bytes, write_file
from mace_cl.runtime.session import Session
from mace_cl.types import DataType
from support import tiny_network as tiny
from support.runtimes import devices

every_device = pytest.mark.parametrize("device", devices(), ids=lambda d: d.vendor)


@pytest.fixture(scope="module")
def files() -> dict[str, CompiledFile]:
    return {d.vendor: tiny.compiled_file(tiny.compiled_entry(d), tiny.entry(None)) for d in devices()}


@pytest.fixture
def session(files: dict[str, CompiledFile]) -> Session:
    device = devices()[0]
    return mace_cl.load(files[device.vendor], device=device.vendor)


def inputs(seed: int = 0, n: int = tiny.N) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(n).astype(np.float32)


def check(session: Session, seed: int = 0, n: int = tiny.N) -> None:
    x = inputs(seed, n)
    out = session.run({"x": x})
    assert list(out) == ["y", "z", "w"]
    np.testing.assert_allclose(out["y"], tiny.reference(x), rtol=1e-6)
    np.testing.assert_array_equal(out["z"], out["y"])
    np.testing.assert_array_equal(out["w"], tiny.weights(n))


@every_device
@pytest.mark.parametrize("binder", ["shared", "exact"])
def test_a_compiled_program_runs(device: DeviceInfo, binder: str, files: dict[str, CompiledFile]) -> None:
    with mace_cl.load(files[device.vendor], device=device.vendor, binder=binder) as session:
        for seed in range(4):
            check(session, seed)
        assert session.source_builds == 0
        assert session.launches == 5
        assert [(s.name, s.shape, s.dtype) for s in session.inputs] == [("x", (tiny.N,), DataType.FLOAT32)]
        assert [s.name for s in session.outputs] == ["y", "z", "w"]
        report = session.start_report.to_json()
        assert report["programs"][0]["from"] in ("file", "shared")
        assert report["programs"][0]["why_not"] == []
        assert {"driver", "context", "reading", "hashing", "program", "kernel_objects", "first_run"} <= set(
            report["times_ms"]
        )
        assert str(session.start_report)


@every_device
def test_from_path_and_bytes(device: DeviceInfo, files: dict[str, CompiledFile], tmp_path: Path) -> None:
    path = tmp_path / "tiny.bin"
    write_file(path, files[device.vendor])
    before = path.read_bytes()
    for source in (path, str(path), before, bytearray(before), memoryview(before)):
        with mace_cl.load(source, device=device.vendor) as session:
            check(session)
            assert session.source_builds == 0
    assert path.read_bytes() == before


@every_device
def test_misaligned_bytes(device: DeviceInfo, files: dict[str, CompiledFile]) -> None:
    data = to_bytes(files[device.vendor])
    for shift in (1, 4):
        check(mace_cl.load(memoryview(bytes(shift) + data)[shift:], device=device.vendor))


@every_device
def test_weights_keep_their_bytes(device: DeviceInfo, files: dict[str, CompiledFile]) -> None:
    with mace_cl.load(files[device.vendor], device=device.vendor) as session:
        for seed in range(1000):
            out = session.run({"x": inputs(seed % 3)})
        np.testing.assert_array_equal(out["w"], tiny.weights())


def test_outputs_belong_to_the_caller(session: Session) -> None:
    first = session.run({"x": inputs(1)})["y"]
    kept = first.copy()
    session.run({"x": inputs(2)})
    np.testing.assert_array_equal(first, kept)
    first[:] = 0
    check(session, 1)


def test_arrays_that_are_not_contiguous(session: Session) -> None:
    wide = np.zeros((tiny.N, 3), np.float32)
    wide[:, 1] = inputs(5)
    np.testing.assert_allclose(session.run({"x": wide[:, 1]})["y"], tiny.reference(inputs(5)), rtol=1e-6)
    back = inputs(5)[::-1]
    np.testing.assert_allclose(session.run({"x": back})["y"], tiny.reference(back.copy()), rtol=1e-6)
    locked = inputs(6)
    locked.flags.writeable = False
    check(session, 6)
    session.run({"x": locked})


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({}, "no array is given for input 'x'"),
        ({"X": inputs()}, "no input is called 'X'; did you mean 'x'"),
        ({"x": inputs(), "more": inputs()}, "no input is called 'more'"),
        ({"x": inputs().astype(np.float64)}, r"float64, the network takes float32; convert it with x.astype"),
        ({"x": np.arange(tiny.N)}, "int64"),
        ({"x": inputs()[:-1]}, r"shape \[95\], the network takes \[96\]"),
        ({"x": inputs()[None]}, r"shape \[1, 96\]"),
        ({"x": inputs().astype(">f4")}, ">f4"),
        ({"x": list(range(tiny.N))}, "list, not a NumPy array; use numpy.asarray"),
        ({"x": None}, "NoneType, not a NumPy array"),
        ([inputs()], "not a dictionary"),
    ],
)
def test_wrong_inputs(session: Session, arrays: object, said: str) -> None:
    with pytest.raises(InputError, match=said):
        session.run(arrays)  # type: ignore[arg-type]
    check(session)


@every_device
def test_several_plans(device: DeviceInfo) -> None:
    sizes = (32, 96, 64)
    file = tiny.compiled_file(tiny.compiled_entry(device, sizes=sizes))
    with mace_cl.load(file, device=device.vendor) as session:
        for n in (32, 96, 32, 64, 96):
            check(session, n, n)
        assert session.input_shapes == [{"x": (n,)} for n in sizes]
        with pytest.raises(InputError, match=r"shape \[33\]"):
            session.run({"x": inputs(0, 33)})


def test_a_network_without_steps() -> None:
    plan = tiny.plan()
    ends = (Endpoint("same", 0, (2, tiny.N // 2), DataType.FLOAT32), Endpoint("w", 6, (tiny.N,), DataType.FLOAT32))
    entry = dataclasses.replace(
        tiny.entry(None), plans=(_ref(dataclasses.replace(plan, steps=(), outputs=ends)),), programs={}
    )
    with mace_cl.load(tiny.compiled_file(entry)) as session:
        out = session.run({"x": inputs(3)})
        np.testing.assert_array_equal(out["same"], inputs(3).reshape(2, -1))
        np.testing.assert_array_equal(out["w"], tiny.weights())
        assert session.launches == 0


def test_empty_tensors() -> None:
    plan = tiny.plan()
    tensors = tuple(dataclasses.replace(t, shape=(0,)) if i == 0 else t for i, t in enumerate(plan.tensors))
    ends = Endpoint("x", 0, (0, 3), DataType.FLOAT32)
    empty = dataclasses.replace(plan, steps=(), tensors=tensors, inputs=(ends,), outputs=(ends,))
    entry = dataclasses.replace(tiny.entry(None), plans=(_ref(empty),), programs={})
    out = mace_cl.load(tiny.compiled_file(entry)).run({"x": np.zeros((0, 3), np.float32)})
    assert out["x"].shape == (0, 3)


def _ref(plan: Plan) -> PlanRef:
    return PlanRef({"x": plan.inputs[0].shape}, Blob("plan", "plan", plan.to_bytes()))


def test_closing(files: dict[str, CompiledFile]) -> None:
    with mace_cl.load(files[devices()[0].vendor], device=devices()[0].vendor) as session:
        check(session)
    session.close()
    with pytest.raises(UsageError, match="closed"):
        session.run({"x": inputs()})


@every_device
def test_profile(device: DeviceInfo, files: dict[str, CompiledFile]) -> None:
    with mace_cl.load(files[device.vendor], device=device.vendor) as session:
        check(session, 1)
        lines = session.profile({"x": inputs()}, repeat=3)
        assert [line["step"] for line in lines] == ["double", "shift", "turn", "triple", "again"]
        assert all(0 <= line["min_us"] <= line["mean_us"] for line in lines)
        check(session, 2)


@every_device
def test_many_threads_and_sessions(device: DeviceInfo, files: dict[str, CompiledFile]) -> None:
    shared = mace_cl.load(files[device.vendor], device=device.vendor)
    faults: list[BaseException] = []

    def work(number: int) -> None:
        try:
            own = mace_cl.load(files[device.vendor], device=device.vendor)
            for i in range(20):
                check(own, number * 100 + i)
                check(shared, number * 100 + i)
        except BaseException as error:
            faults.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults


SLOW = """\
__kernel void slow(__global const float *restrict x, __global float *restrict y, const int n)
{
    const size_t i = get_global_id(0);
    float a = x[i];
    for (int k = 0; k < n; k++)
        a = a * 0.999f + x[(k * 7 + (int)a) & 31];
    y[i] = a;
}
"""


def slow_file(device: DeviceInfo, count: int, work: int) -> CompiledFile:
    """A network of `count` launches of equal length, one after the other."""
    from mace_cl.opencl.build import build_program
    from mace_cl.program.plan import Launch, TensorArg

    built = build_program(device, SLOW, kernels=["slow"])
    entry = tiny.entry(device, binary=built.binary, options=built.options)
    plan = tiny.plan()

    def step(i: int) -> Launch:
        args = (TensorArg(3 + i % 2, "r"), TensorArg(4 - i % 2, "w"), tiny.integer(work))
        return Launch(f"s{i}", "slow", "p0", "slow", args, (32,), (1,))

    steps = tuple(step(i) for i in range(count))
    forms = dataclasses.replace(entry.programs["p0"], kernels=built.kernels, source=Blob("source", "p0", SLOW.encode()))
    return tiny.compiled_file(
        dataclasses.replace(entry, programs={"p0": forms}, plans=(_ref(dataclasses.replace(plan, steps=steps)),))
    )


@every_device
def test_a_time_limit_stops_between_steps(device: DeviceInfo) -> None:
    session = mace_cl.load(slow_file(device, 60, 150_000), device=device.vendor)
    start = time.perf_counter()
    session.run({"x": inputs()})
    whole = time.perf_counter() - start
    session.time_limit = whole / 10
    start = time.perf_counter()
    with pytest.raises(RunInterrupted, match="time limit"):
        session.run({"x": inputs()})
    assert time.perf_counter() - start < whole / 2
    session.time_limit = None
    session.run({"x": inputs()})


@every_device
def test_ctrl_c_stops_between_steps(device: DeviceInfo) -> None:
    import _thread

    session = mace_cl.load(slow_file(device, 60, 150_000), device=device.vendor)
    start = time.perf_counter()
    session.run({"x": inputs()})
    whole = time.perf_counter() - start
    timer = threading.Timer(whole / 10, _thread.interrupt_main)
    timer.start()
    start = time.perf_counter()
    with pytest.raises(RunInterrupted, match="Ctrl-C"):
        session.run({"x": inputs()})
    assert time.perf_counter() - start < whole / 2
    timer.join()
    session.run({"x": inputs()})


def test_arguments_of_load() -> None:
    file = tiny.compiled_file(tiny.entry(None))
    with pytest.raises(UsageError, match="probe is one of"):
        mace_cl.load(file, probe="maybe")
    with pytest.raises(UsageError, match="binder is one of"):
        mace_cl.load(file, binder="none")
    with pytest.raises(UsageError, match="cannot load from a int"):
        mace_cl.load(3)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="no such file"):
        mace_cl.load("/nowhere/at.all")
    with pytest.raises(UsageError, match="is a folder"):
        mace_cl.load("/tmp")
    with pytest.raises(FormatError):
        mace_cl.load(b"nothing of the kind")


def test_a_file_of_kernels_only() -> None:
    entry = dataclasses.replace(tiny.entry(None), plans=())
    with pytest.raises(NoFitError, match="kernels only"):
        mace_cl.load(tiny.compiled_file(entry))
