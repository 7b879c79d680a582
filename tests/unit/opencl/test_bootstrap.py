from __future__ import annotations

import os
from pathlib import Path

import pytest

from mace_cl.opencl.bootstrap import Vendor, needed_vendors
from support.runtimes import run_python

INTEL = Vendor("intel-cpu", "/env/lib/libintelocl.so", "/env/lib/libintelocl.so")
POCL = Vendor("pocl", "libpocl.so.2", "/etc/OpenCL/vendors/pocl.icd")
NVIDIA = Vendor("nvidia", "libnvidia-opencl.so.1", "/etc/OpenCL/vendors/nvidia.icd")
OTHER = Vendor("other", "libfoo.so", "/etc/OpenCL/vendors/foo.icd")
EVERY = (INTEL, POCL, NVIDIA, OTHER)


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mace_cl.opencl.bootstrap._GPU_NODES", ())
    monkeypatch.delenv("RUSTICL_ENABLE", raising=False)


@pytest.mark.usefixtures("no_gpu")
def test_default_looks_at_no_vendor_that_is_not_needed() -> None:
    assert needed_vendors((INTEL, POCL, NVIDIA), None) == (INTEL,)
    assert needed_vendors((POCL, NVIDIA), None) == (POCL,)


@pytest.mark.usefixtures("no_gpu")
def test_unknown_vendors_may_be_gpus() -> None:
    assert needed_vendors(EVERY, None) == (INTEL, OTHER)


def test_gpu_vendors_count_where_there_is_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mace_cl.opencl.bootstrap._GPU_NODES", ("/dev/null",))
    assert needed_vendors((INTEL, POCL, NVIDIA), None) == (INTEL, NVIDIA)


def test_a_vendor_by_key_and_all() -> None:
    assert needed_vendors(EVERY, "pocl") == (POCL,)
    assert needed_vendors(EVERY, "all") == EVERY
    assert needed_vendors(EVERY, "AMD EPYC") == EVERY


@pytest.mark.usefixtures("no_gpu")
def test_a_lone_hopeless_vendor_is_still_asked() -> None:
    assert needed_vendors((NVIDIA,), None) == (NVIDIA,)


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    code = (
        "import os\n"
        "from mace_cl.opencl.devices import list_devices\n"
        "list_devices()\n"
        "print(os.environ.get('OCL_ICD_VENDORS'), os.environ.get('DPCPP_CPU_SCHEDULE'))"
    )
    env = {"TMPDIR": str(tmp_path)}
    result = run_python(code, env=env)
    assert result.returncode == 0, result.stderr
    assert result.stdout.split() == [str(os.environ.get("OCL_ICD_VENDORS")), "static"]
    assert list(tmp_path.iterdir()) == []


def test_what_the_user_set_is_not_changed() -> None:
    code = (
        "import os\n"
        "from mace_cl.opencl.devices import list_devices\n"
        "print(len(list_devices()), os.environ['OCL_ICD_VENDORS'], os.environ['DPCPP_CPU_SCHEDULE'])"
    )
    result = run_python(code, env={"OCL_ICD_VENDORS": "/nowhere", "DPCPP_CPU_SCHEDULE": "dynamic"})
    assert result.stdout.split() == ["0", "/nowhere", "dynamic"], result.stderr


def test_a_temporary_folder_that_cannot_be_made_hides_nothing() -> None:
    code = "from mace_cl.opencl.devices import list_devices; print(len(list_devices()))"
    here = int(run_python(code).stdout)
    there = run_python(code, env={"TMPDIR": "/nowhere", "TMP": "/nowhere", "TEMP": "/nowhere"})
    assert there.returncode == 0, there.stderr
    assert int(there.stdout) == here


def test_the_binding_alone_is_loaded() -> None:
    code = (
        "import sys\n"
        "from support import tiny_network as t\n"
        "import mace_cl\n"
        "s = mace_cl.load(t.compiled_file(t.entry(None)))\n"
        "import numpy as np\n"
        "x = np.ones(t.N, np.float32)\n"
        "assert np.array_equal(s.run({'x': x})['y'], t.reference(x))\n"
        "heavy = [m for m in ('pyopencl', 'onnx', 'rich', 'click', 'pydantic', 'platformdirs') if m in sys.modules]\n"
        "print(heavy)\n"
        "import pyopencl\n"
        "assert pyopencl.Context.devices and pyopencl.__version__\n"
    )
    result = run_python(code)
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == "[]"
