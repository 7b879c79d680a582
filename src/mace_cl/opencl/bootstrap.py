"""Makes OpenCL drivers findable and fast before a loader looks for them. Prepare, then load the binding, never after.

* Intel's CPU runtime from PyPI registers no ICD where a loader looks: its driver lies in the environment's `lib`
  folder, and OCL_ICD_VENDORS has to name it.
* A driver takes 15 to 40 ms to load, so only those are shown to the loader that can hold the wanted device.
* Variables that let drivers use every core are set. (PoCL's POCL_BINARY_SPECIALIZE_WG belongs to each build.)

What the user set is never changed.
"""

from __future__ import annotations

import atexit
import ctypes
import importlib.util
import os
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

DRIVER_VARIABLES = {
    "DPCPP_CPU_SCHEDULE": "static",
    "POCL_AFFINITY": "1",
}
"""What drivers need to spread work-groups over the cores (measured: without it all run on one)."""

ALL = "all"
"""The wish that makes every vendor visible."""

VENDOR_KEYS = {
    "intelocl": "intel-cpu",
    "pocl": "pocl",
    "rusticl": "rusticl",
    "mesaopencl": "clover",
    "nvidia": "nvidia",
    "igdrcl": "intel-gpu",
    "amdocl": "amd",
}
"""Part of a driver library's name to the vendor's key."""

GPU_VENDORS = frozenset({"rusticl", "clover", "nvidia", "intel-gpu", "amd"})
"""Drivers that find nothing where there is no GPU."""

_GPU_NODES = ("/dev/dri", "/dev/nvidiactl", "/dev/kfd", "/dev/dxg", "/dev/mali0", "/dev/kgsl-3d0")
_INTEL_DRIVER = "libintelocl.so"
_INTEL_NEEDS = ("libirng.so", "libimf.so", "libintlc.so.5", "libsvml.so")


@dataclass(frozen=True)
class Vendor:
    """A driver that a loader can be pointed at.

    Attributes:
        key: One of VENDOR_KEYS, or 'other'.
        library: Path or name of the driver, as dlopen takes it.
        source: Where it was found: an .icd file, or the library itself.
    """

    key: str
    library: str
    source: str


def intel_cpu_driver() -> Path | None:
    """The Intel CPU runtime that is installed in this Python environment, or None."""
    prefixes = (sys.prefix, sys.base_prefix, os.path.expanduser("~/.local"))
    for prefix in dict.fromkeys(prefixes):
        path = Path(prefix) / "lib" / _INTEL_DRIVER
        if path.exists():
            return path
    return None


def preload_intel(driver: Path) -> bool:
    """Load the libraries that Intel's driver needs, where they do not lie beside it.

    Returns:
        Whether the driver will find all that it needs.
    """
    if all((driver.parent / name).exists() for name in _INTEL_NEEDS):
        return True
    try:
        for name in _INTEL_NEEDS:
            ctypes.CDLL(str(driver.parent / name), mode=ctypes.RTLD_GLOBAL)
    except OSError:
        return False
    return True


def pyopencl_folder() -> Path | None:
    """Where pyopencl is installed; it is not imported for that."""
    try:
        spec = importlib.util.find_spec("pyopencl")
    except (ImportError, ValueError):
        return None
    places = spec.submodule_search_locations if spec is not None else None
    return Path(places[0]) if places else None


def vendor_folders() -> tuple[Path, ...]:
    """Folders in which .icd files are looked for: the system's, the environment's, and the one beside pyopencl."""
    folders = [Path(os.environ.get("OPENCL_VENDOR_PATH") or "/etc/OpenCL/vendors")]
    folders.append(Path(sys.prefix) / "etc" / "OpenCL" / "vendors")
    beside = pyopencl_folder()
    if beside is not None:
        folders.append(beside / ".libs")
    return tuple(dict.fromkeys(folders))


def find_vendors() -> tuple[Vendor, ...]:
    """Every driver at hand, the one in this Python environment first."""
    found: list[Vendor] = []
    intel = intel_cpu_driver()
    if intel is not None:
        found.append(Vendor("intel-cpu", str(intel), str(intel)))
    for folder in vendor_folders():
        try:
            files = sorted(folder.glob("*.icd"))
        except OSError:
            continue
        for file in files:
            library = _icd_library(file)
            if library and not (intel and _INTEL_DRIVER in library):
                found.append(Vendor(_vendor_key(library), library, str(file)))
    return tuple(found)


def _icd_library(file: Path) -> str:
    """The driver that a file names; with its folder, if it lies beside the file."""
    try:
        text = file.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
    beside = file.parent / text
    return str(beside) if text and "/" not in text and beside.exists() else text


def _vendor_key(library: str) -> str:
    name = os.path.basename(library).lower()
    return next((key for part, key in VENDOR_KEYS.items() if part in name), "other")


def needed_vendors(vendors: tuple[Vendor, ...], wanted: str | None) -> tuple[Vendor, ...]:
    """Those that can hold the wanted device.

    Args:
        vendors: What was found.
        wanted: A vendor's key; None for the preferred device, or anything else to see all.
    """
    if wanted in VENDOR_KEYS.values():
        return tuple(v for v in vendors if v.key == wanted)
    if wanted is not None:
        return vendors
    has_gpu = any(os.path.exists(node) for node in _GPU_NODES) or "RUSTICL_ENABLE" in os.environ
    has_intel = any(v.key == "intel-cpu" for v in vendors)
    chosen = [v for v in vendors if has_gpu or v.key not in GPU_VENDORS]
    return tuple(v for v in chosen if not (has_intel and v.key == "pocl")) or vendors


class _State:
    """What this process was set up for.

    Attributes:
        prepared: Whether `prepare` ran.
        folder: Temporary folder of .icd files, until `release`.
        own: Variables that `prepare` set and `release` takes back.
        shown: Keys of the vendors that the loader was shown; None where the user chose them.
    """

    prepared = False
    folder: str | None = None
    own: tuple[str, ...] = ()
    shown: tuple[Vendor, ...] | None = None


def shown_vendors() -> tuple[Vendor, ...] | None:
    """The vendors that the loader was shown, or None where the user's OCL_ICD_VENDORS decides."""
    return _State.shown


def prepare(wanted: str | None = None) -> None:
    """Set up the environment of this process for OpenCL. Does nothing the second time.

    Args:
        wanted: A vendor's key ('intel-cpu', 'pocl' ...), 'all', or None for what the preferred device needs.
    """
    if _State.prepared:
        return
    _State.prepared = True
    for name, value in DRIVER_VARIABLES.items():
        os.environ.setdefault(name, value)
    if "OCL_ICD_VENDORS" in os.environ:
        return
    vendors = find_vendors()
    chosen = needed_vendors(vendors, wanted)
    chosen = tuple(v for v in chosen if v.key != "intel-cpu" or preload_intel(Path(v.library)))
    _State.shown = chosen
    if not chosen or (chosen == vendors and not any(v.source == v.library for v in chosen)):
        return  # nothing of our own to show: the loader's default does
    if len(chosen) == 1:
        _set("OCL_ICD_VENDORS", chosen[0].source)
        if chosen[0].source == chosen[0].library:
            _set("OCL_ICD_FILENAMES", chosen[0].library)  # for Khronos' loader, where the other names a folder
        return
    folder = _folder_of(chosen)
    if folder is not None:
        _set("OCL_ICD_VENDORS", folder)
    else:
        _State.shown = None


def release() -> None:
    """Take back what `prepare` left for the loader, once it has looked: temporary folder and its variables."""
    for name in _State.own:
        os.environ.pop(name, None)
    _State.own = ()
    if _State.folder is not None:
        shutil.rmtree(_State.folder, ignore_errors=True)
        _State.folder = None


def _set(name: str, value: str) -> None:
    if name not in os.environ:
        os.environ[name] = value
        _State.own = (*_State.own, name)


def _folder_of(vendors: tuple[Vendor, ...]) -> str | None:
    """A temporary folder with an .icd file for each vendor; None where none can be written."""
    try:
        folder = tempfile.mkdtemp(prefix="mace-cl-icd-")
    except OSError:
        return None
    _State.folder = folder
    atexit.register(release)
    try:
        for i, vendor in enumerate(vendors):
            # Numbers keep our order, which the loader's order of platforms follows.
            Path(folder, f"{i:02}-{vendor.key}.icd").write_text(vendor.library + "\n", encoding="utf-8")
    except OSError:
        release()
        return None
    return folder
