"""Which OpenCL runtimes the tests find, and how a child process is given one of them alone."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from functools import cache
from pathlib import Path

import pytest

from mace_cl.opencl.devices import DeviceInfo, list_devices

ROOT = Path(__file__).resolve().parents[2]
RUSTICL_VARIABLE = "MACE_TEST_RUSTICL"
"""Path of libRusticlOpenCL.so.1, where it is not installed."""


def devices() -> list[DeviceInfo]:
    """Every device; tests run on each."""
    return list_devices()


def device_ids(device: DeviceInfo) -> str:
    """For test names."""
    return device.vendor


def device_of(vendor: str) -> DeviceInfo:
    """The device of a vendor; skips the test where there is none."""
    for device in devices():
        if device.vendor == vendor:
            return device
    pytest.skip(f"no {vendor} device")


@cache
def rusticl_environment(folder: str) -> dict[str, str]:
    """Environment in which a child process sees rusticl alone; skips the test where it is not installed."""
    for library in (os.environ.get(RUSTICL_VARIABLE, ""), "libRusticlOpenCL.so.1"):
        try:
            _loadable(library)
        except OSError:
            continue
        icd = Path(folder) / "rusticl.icd"
        icd.write_text(library + "\n", encoding="utf-8")
        env = {"OCL_ICD_VENDORS": str(icd), "RUSTICL_ENABLE": "llvmpipe"}
        found = run_python("from mace_cl.opencl.devices import list_devices as l; print(len(l()))", env=env)
        if found.returncode == 0 and found.stdout.strip() != "0":
            return env
        pytest.skip(f"rusticl finds no device: {found.stderr[-300:]}")
    pytest.skip(f"rusticl is not installed (apt-get install mesa-opencl-icd, or set {RUSTICL_VARIABLE})")


def _loadable(library: str) -> None:
    if not library:
        raise OSError
    # In a child: a driver is not loaded into the tests' own process.
    code = f"import ctypes; ctypes.CDLL({library!r})"
    if subprocess.run([sys.executable, "-c", code], capture_output=True).returncode:
        raise OSError


def run_python(
    code: str, *args: str, env: dict[str, str] | None = None, timeout: float = 120.0
) -> subprocess.CompletedProcess[str]:
    """Run a script in a new process that sees the package and the tests' helpers."""
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT / "tests")])
    return subprocess.run(
        [sys.executable, "-c", code, *args],
        env={**os.environ, "PYTHONPATH": paths, **(env or {})},
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


POCL_30 = "pocl-binary-distribution==3.0"
POCL_30_VARIABLE = "MACE_TEST_POCL30"
"""Path of PoCL 3.0's wheel, where it need not be downloaded."""


def pocl_30(folder: Path) -> Path:
    """The driver of PoCL 3.0, unpacked into a folder from its wheel; skips the test where that cannot be had."""
    found = sorted(folder.glob("pyopencl/.libs/libpocl*.so"))
    if found:
        return found[0]
    wheel = os.environ.get(POCL_30_VARIABLE)
    if not wheel:
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(folder), POCL_30]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode:
            pytest.skip(f"PoCL 3.0 cannot be downloaded: {done.stderr.strip()[-200:]}")
        [wheel] = map(str, folder.glob("*.whl"))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return next(iter(sorted(folder.glob("pyopencl/.libs/libpocl*.so"))))
