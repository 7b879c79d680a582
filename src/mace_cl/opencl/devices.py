"""The devices of this process: found, described, put in order of preference, and chosen by the user's wish."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from typing import Any

from mace_cl.errors import NoDeviceError, UsageError
from mace_cl.opencl import bootstrap, driver
from mace_cl.opencl.cpu import cpu_features
from mace_cl.program.identity import Capabilities, Identity
from mace_cl.targets.facts import DeviceFacts
from mace_cl.targets.info import PlainInfo

_CODE_VARIABLES = {
    "intel-cpu": ("CL_CONFIG_", "VOLCANO_"),
    "pocl": (
        "POCL_EXTRA_BUILD_FLAGS",
        "POCL_MAX_WORK_GROUP_SIZE",
        "POCL_VECTORIZER",
        "POCL_WORK_GROUP_METHOD",
        "POCL_CPU_LOCAL_MEM_SIZE",
        "POCL_DRIVER_VERSION_OVERRIDE",
    ),
    "rusticl": ("RUSTICL_FEATURES", "LP_NATIVE_VECTOR_WIDTH", "LP_PERF"),
}
"""Starts of the variables that change the code a driver makes."""

_DRIVER_UUID_KHR = 0x106B


@dataclass(frozen=True, eq=False)
class DeviceInfo:
    """One OpenCL device.

    Attributes:
        index: Place in the list that it was found in, the preferred device first.
        handle: pyopencl's object.
        vendor: Key of its driver: 'intel-cpu', 'pocl', 'rusticl', ... or 'other'.
        plain: The driver's description.
        identity: What decides whether a compiled program may be used.
        capabilities: What portable entries may ask for.
    """

    index: int
    handle: Any
    vendor: str
    plain: PlainInfo
    identity: Identity
    capabilities: Capabilities

    @property
    def name(self) -> str:
        """The device's own name."""
        return self.identity.device_name

    @property
    def label(self) -> str:
        """Name and platform, for messages."""
        return f"{self.name} ({self.identity.platform_name})"

    @property
    def kind(self) -> str:
        """'cpu', 'gpu' or 'accelerator'."""
        return self.plain.kind

    @property
    def shares_host_memory(self) -> bool:
        """Whether memory of the host can be used in place."""
        return self.plain.shares_host_memory or self.plain.kind == "cpu"

    @cached_property
    def facts(self) -> DeviceFacts:
        """The device as the compiler sees it."""
        # A run has no use for the table of targets: it is read when somebody asks.
        facts: DeviceFacts = import_module("mace_cl.targets.table").describe(self.plain)
        return facts


@cache
def devices_of(wanted: str | None) -> tuple[DeviceInfo, ...]:
    """The devices of the drivers that can hold the wanted one, the preferred first; see `bootstrap.prepare`."""
    cl = driver.binding()
    found: list[tuple[Any, Any]] = []
    for platform in driver.platforms(wanted):
        try:
            found += [(platform, d) for d in platform.get_devices(cl.device_type.ALL)]
        except cl.Error:  # a platform without devices
            continue
    infos = [_describe(cl, platform, device) for platform, device in found]
    infos.sort(key=_preference)
    return tuple(DeviceInfo(i, d.handle, d.vendor, d.plain, d.identity, d.capabilities) for i, d in enumerate(infos))


def list_devices() -> list[DeviceInfo]:
    """Every device of every driver at hand, the preferred one first."""
    return list(devices_of(bootstrap.ALL))


_ORDER = ("gpu", "accelerator", "intel-cpu", "pocl", "cpu", "rusticl")


def _preference(info: DeviceInfo) -> int:
    software_gpu = info.vendor == "rusticl" and "llvmpipe" in info.name.lower()
    rank = "rusticl" if software_gpu else info.vendor if info.vendor in ("intel-cpu", "pocl") else info.kind
    if info.kind != "cpu" and not software_gpu:
        rank = info.kind
    return _ORDER.index(rank)


def _describe(cl: Any, platform: Any, device: Any) -> DeviceInfo:
    plain = _plain(cl, platform, device)
    vendor = _vendor(plain)
    return DeviceInfo(
        index=0,
        handle=device,
        vendor=vendor,
        plain=plain,
        identity=_identity(cl, platform, device, plain, vendor),
        capabilities=_capabilities(cl, device, plain),
    )


def _get(info: Any, key: Any, default: Any) -> Any:
    """A value of get_info, or the default where the driver does not know the question."""
    try:
        value = info(key)
    except Exception:  # whatever the driver's way to refuse is
        return default
    return value.rstrip("\0 ") if isinstance(value, str) else value


def _plain(cl: Any, platform: Any, device: Any) -> PlainInfo:
    ask, key = device.get_info, cl.device_info
    bits = int(_get(ask, key.TYPE, 0))
    kind = next(
        (n for n in ("cpu", "gpu", "accelerator") if bits & int(getattr(cl.device_type, n.upper()))), "accelerator"
    )
    return PlainInfo(
        name=_get(ask, key.NAME, ""),
        vendor=_get(ask, key.VENDOR, ""),
        version=_get(ask, key.VERSION, ""),
        kind=kind,
        platform=_get(platform.get_info, cl.platform_info.NAME, ""),
        compute_units=int(_get(ask, key.MAX_COMPUTE_UNITS, 1)),
        max_work_group_size=int(_get(ask, key.MAX_WORK_GROUP_SIZE, 1)),
        local_mem_bytes=int(_get(ask, key.LOCAL_MEM_SIZE, 0)),
        max_alloc_bytes=int(_get(ask, key.MAX_MEM_ALLOC_SIZE, 0)),
        base_align_bytes=max(int(_get(ask, key.MEM_BASE_ADDR_ALIGN, 1024)) // 8, 1),
        shares_host_memory=bool(_get(ask, key.HOST_UNIFIED_MEMORY, False)),
        native_floats=int(_get(ask, key.NATIVE_VECTOR_WIDTH_FLOAT, 4)),
        extensions=frozenset(_get(ask, key.EXTENSIONS, "").split()),
        images=bool(_get(ask, key.IMAGE_SUPPORT, False)),
        cpu_features=_cpu_features() if kind == "cpu" else frozenset(),
    )


_cpu_features = cache(cpu_features)


def _vendor(plain: PlainInfo) -> str:
    """The key of the driver behind a platform."""
    platform = plain.platform.lower()
    if "portable computing language" in platform:
        return "pocl"
    if "rusticl" in platform:
        return "rusticl"
    if plain.kind == "cpu" and "intel(r) opencl" in platform:
        return "intel-cpu"
    return "other"


def _identity(cl: Any, platform: Any, device: Any, plain: PlainInfo, vendor: str) -> Identity:
    ask, key = device.get_info, cl.device_info
    starts = _CODE_VARIABLES.get(vendor, ())
    offers_uuid = "cl_khr_device_uuid" in plain.extensions
    return Identity(
        platform_name=plain.platform,
        platform_version=_get(platform.get_info, cl.platform_info.VERSION, ""),
        device_name=plain.name,
        device_vendor=plain.vendor,
        device_version=plain.version,
        driver_version=_get(ask, key.DRIVER_VERSION, ""),
        device_type=plain.kind,
        address_bits=int(_get(ask, key.ADDRESS_BITS, 64)),
        cpu_features=" ".join(sorted(plain.cpu_features)),
        driver_uuid=driver.device_info_bytes(device, _DRIVER_UUID_KHR).hex() if offers_uuid else "",
        environment={k: v for k, v in sorted(os.environ.items()) if starts and k.startswith(starts)},
        system=_android_fingerprint(),
    )


def _android_fingerprint() -> str:
    if not os.path.exists("/system/build.prop"):
        return ""
    try:
        with open("/system/build.prop", encoding="utf-8", errors="replace") as file:
            lines = [line.partition("=")[2].strip() for line in file if line.startswith("ro.build.fingerprint=")]
    except OSError:
        return ""
    return lines[0] if lines else ""


def _capabilities(cl: Any, device: Any, plain: PlainInfo) -> Capabilities:
    il = _get(device.get_info, cl.device_info.IL_VERSION, "") if hasattr(cl.device_info, "IL_VERSION") else ""
    return Capabilities(
        extensions=plain.extensions,
        work_group_size=plain.max_work_group_size,
        local_mem_bytes=plain.local_mem_bytes,
        max_alloc_bytes=plain.max_alloc_bytes,
        images=plain.images,
        fp16="cl_khr_fp16" in plain.extensions,
        fp64="cl_khr_fp64" in plain.extensions,
        il_versions=tuple(il.split()),
        base_align_bytes=plain.base_align_bytes,
    )


# -- choice -----------------------------------------------------------------------------------------------------


def select_device(wanted: str | int | None = None) -> DeviceInfo:
    """The device that the user wants, by default the preferred one.

    Args:
        wanted: An index of `list_devices`, the key of a vendor ('intel-cpu', 'pocl', 'rusticl' ...), or a name or part
            of one, of the device or its platform. None asks the variable MACE_DEVICE.

    Raises:
        NoDeviceError: There is no OpenCL device.
        UsageError: None of them, or several, are what is wanted.
    """
    if wanted is None:
        wanted = os.environ.get("MACE_DEVICE") or None
    text = None if wanted is None else str(wanted).strip()
    if text is None:
        devices = devices_of(None) or devices_of(bootstrap.ALL)
        if not devices:
            raise no_device()
        return devices[0]
    if text in bootstrap.VENDOR_KEYS.values():
        narrow = [d for d in devices_of(text) if d.vendor == text]
        if narrow:
            return narrow[0]
    return _pick(list_devices(), text)


def _pick(devices: Sequence[DeviceInfo], text: str) -> DeviceInfo:
    if not devices:
        raise no_device()
    if text.lstrip("-").isdecimal():
        if 0 <= int(text) < len(devices):
            return devices[int(text)]
        raise UsageError(f"no device has the index {text}", hint=_listing(devices))
    low = text.lower()
    exact = [d for d in devices if low in (d.name.lower(), d.identity.platform_name.lower(), d.label.lower())]
    matching = exact or [d for d in devices if low in d.label.lower() or low == d.vendor]
    if len(matching) == 1:
        return matching[0]
    problem = "no device is called" if not matching else f"{len(matching)} devices are called"
    raise UsageError(f"{problem} {text!r}", hint=_listing(matching or devices))


def _listing(devices: Sequence[DeviceInfo]) -> str:
    lines = "".join(f"\n  {d.index}: {d.label}" for d in devices)
    return f"there are:{lines}"


def no_device() -> NoDeviceError:
    """The error that says what was searched and how to install a device."""
    shown = os.environ.get("OCL_ICD_VENDORS")
    places = [f"OCL_ICD_VENDORS={shown}"] if shown else [str(f) for f in bootstrap.vendor_folders()]
    drivers = ", ".join(v.library for v in bootstrap.find_vendors()) or "none"
    return NoDeviceError(
        f"there is no OpenCL device (looked in {', '.join(places)} and this Python environment; drivers: {drivers})",
        hint="install one with: pip install 'mace-cl[cpu]' (x86-64 Linux), apt-get install pocl-opencl-icd, or your "
        "GPU's driver",
    )
