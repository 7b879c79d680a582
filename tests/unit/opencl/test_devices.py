from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from mace_cl.errors import NoDeviceError, UsageError
from mace_cl.opencl import devices as module
from mace_cl.opencl.cpu import cpu_features
from mace_cl.opencl.devices import DeviceInfo, list_devices, no_device, select_device
from mace_cl.opencl.units import measure_units
from support.runtimes import devices, run_python, rusticl_environment


def fake(name: str, platform: str, kind: str = "cpu", vendor: str = "other") -> DeviceInfo:
    base = devices()[0]
    plain = dataclasses.replace(base.plain, name=name, platform=platform, kind=kind)
    identity = dataclasses.replace(base.identity, device_name=name, platform_name=platform)
    return DeviceInfo(0, None, vendor, plain, identity, base.capabilities)


@pytest.fixture
def three(monkeypatch: pytest.MonkeyPatch) -> list[DeviceInfo]:
    found = [fake("Big GPU", "Vendor A", "gpu"), fake("Small GPU", "Vendor A", "gpu"), fake("cpu", "Vendor B")]
    found = [dataclasses.replace(d, index=i) for i, d in enumerate(found)]
    monkeypatch.setattr(module, "devices_of", lambda wanted: tuple(found))
    monkeypatch.delenv("MACE_DEVICE", raising=False)
    return found


def test_every_device_is_described() -> None:
    for index, device in enumerate(list_devices()):
        assert device.index == index
        assert device.name
        assert device.identity.driver_version
        assert device.identity.address_bits == 64
        assert device.facts.compute_units >= 1
        assert device.capabilities.work_group_size >= 1
        if device.kind == "cpu":
            assert device.identity.cpu_features
            assert device.shares_host_memory


def test_identity_is_the_same_in_another_process() -> None:
    code = "from mace_cl.opencl.devices import list_devices as l; print(*[d.identity.digest for d in l()])"
    assert run_python(code).stdout.split() == [d.identity.digest for d in list_devices()]


def test_variables_that_change_code_belong_to_the_identity() -> None:
    code = "from mace_cl.opencl.devices import list_devices as l; print(*[d.identity.digest for d in l()])"
    env = {"CL_CONFIG_CPU_VECTORIZER_MODE": "1", "POCL_WORK_GROUP_METHOD": "loops"}
    changed = run_python(code, env=env).stdout.split()
    for device, digest in zip(list_devices(), changed, strict=True):
        assert (digest != device.identity.digest) == (device.vendor in ("intel-cpu", "pocl"))


@pytest.mark.parametrize(("wanted", "index"), [(1, 1), ("2", 2), ("big", 0), ("Vendor B", 2), ("CPU", 2)])
def test_choice(three: list[DeviceInfo], wanted: str | int, index: int) -> None:
    assert select_device(wanted) is three[index]


@pytest.mark.parametrize(("wanted", "said"), [("gpu", "2 devices"), ("tpu", "no device"), (3, "index 3"), (-1, "-1")])
def test_a_choice_that_is_none_lists_the_devices(three: list[DeviceInfo], wanted: str | int, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        select_device(wanted)
    assert said in str(caught.value)
    assert "Big GPU" in str(caught.value)


def test_the_variable_chooses(three: list[DeviceInfo], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MACE_DEVICE", "small")
    assert select_device() is three[1]
    assert select_device("cpu") is three[2]


def test_no_device_says_what_was_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "devices_of", lambda wanted: ())
    for wanted in (None, "x", 0):
        with pytest.raises(NoDeviceError, match=r"looked in .*; install one with: pip install"):
            select_device(wanted)
    monkeypatch.setenv("OCL_ICD_VENDORS", "/some/folder")
    assert "OCL_ICD_VENDORS=/some/folder" in str(no_device())


def test_vendors_wanted_later_are_found() -> None:
    keys = [d.vendor for d in list_devices()]
    if not {"intel-cpu", "pocl"} <= set(keys):
        pytest.skip("needs two runtimes")
    code = (
        "from mace_cl.opencl.devices import select_device, list_devices\n"
        "print(select_device('pocl').vendor, select_device('intel-cpu').vendor, len(list_devices()))"
    )
    result = run_python(code)
    assert result.stdout.split() == ["pocl", "intel-cpu", str(len(keys))], result.stderr


def test_preference() -> None:
    ranks = [
        module._preference(d)
        for d in (
            fake("x", "X", "gpu"),
            fake("x", "Intel(R) OpenCL", "cpu", "intel-cpu"),
            fake("x", "Portable Computing Language", "cpu", "pocl"),
            fake("x", "X", "cpu"),
            fake("llvmpipe (LLVM 15)", "rusticl", "cpu", "rusticl"),
        )
    ]
    assert ranks == sorted(ranks)
    assert len(set(ranks)) == len(ranks)


def test_processor_features_are_instruction_sets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "cpuinfo"
    file.write_text("processor : 0\nflags : fpu sse4_2 avx512f ibrs_enhanced constant_tsc avx2 sha_ni\n\nflags : avx\n")
    monkeypatch.setattr("mace_cl.opencl.cpu._CPUINFO", str(file))
    assert cpu_features() == {"sse4_2", "avx512f", "avx2", "sha_ni"}
    file.write_text("Features : fp asimd sve\n")
    assert cpu_features() == {"fp", "asimd", "sve"}
    monkeypatch.setattr("mace_cl.opencl.cpu._CPUINFO", str(tmp_path / "none"))
    assert len(cpu_features()) == 1


@pytest.mark.slow
@pytest.mark.parametrize("device", devices(), ids=lambda d: d.vendor)
def test_units_are_measured(device: DeviceInfo) -> None:
    assert 1 <= measure_units(device) <= device.facts.compute_units


def test_rusticl_is_seen(tmp_path: Path) -> None:
    code = "from mace_cl.opencl.devices import list_devices as l; print(*[(d.vendor, d.facts.family) for d in l()])"
    assert run_python(code, env=rusticl_environment(str(tmp_path))).stdout.strip() == "('rusticl', 'rusticl')"
