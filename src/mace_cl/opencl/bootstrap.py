"""Makes OpenCL drivers findable and fast before pyopencl loads them. Import this before pyopencl, always.

* Intel's CPU runtime from PyPI registers no ICD where a loader looks. Its libraries lie in the environment's `lib`
  folder; the ones that it depends on are loaded first, and OCL_ICD_VENDORS names the driver.
* Variables that let drivers use every core and store final code are set, unless the user set them.
"""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

DRIVER_VARIABLES = {
    "DPCPP_CPU_SCHEDULE": "static",
    "POCL_AFFINITY": "1",
}
"""What drivers need to spread work-groups over the cores (measured: without it all run on one)."""

_INTEL_DRIVER = "libintelocl.so"
_INTEL_NEEDS = ("libirng.so", "libimf.so", "libintlc.so.5", "libsvml.so")


def intel_cpu_driver() -> Path | None:
    """The Intel CPU runtime that is installed in this Python environment, or None."""
    for prefix in dict.fromkeys((sys.prefix, sys.base_prefix)):
        path = Path(prefix) / "lib" / _INTEL_DRIVER
        if path.exists():
            return path
    return None


def preload_intel(driver: Path) -> bool:
    """Load the libraries that Intel's driver needs from its own folder."""
    try:
        for name in _INTEL_NEEDS:
            ctypes.CDLL(str(driver.parent / name), mode=ctypes.RTLD_GLOBAL)
    except OSError:
        return False
    return True


def prepare() -> None:
    """Set up the environment of this process for OpenCL. Does nothing the second time."""
    for name, value in DRIVER_VARIABLES.items():
        os.environ.setdefault(name, value)
