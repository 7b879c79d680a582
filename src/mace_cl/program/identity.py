"""Which device a program was built on, and what a portable one asks of a device.

Two identities are equal or they are not: there is no partial match (an Adreno's model stands only in its device
version; on Arm PoCL calls every device "cpu"; Intel's CPU runtime does not name the processor's features).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from mace_cl.errors import FormatError


@dataclass(frozen=True)
class Identity:
    """Everything that decides whether a compiled program may be used.

    Attributes:
        platform_name, platform_version: CL_PLATFORM_NAME, CL_PLATFORM_VERSION.
        device_name, device_vendor, device_version: CL_DEVICE_NAME, CL_DEVICE_VENDOR, CL_DEVICE_VERSION.
        driver_version: CL_DRIVER_VERSION.
        device_type: 'cpu', 'gpu' or 'accelerator'.
        address_bits: CL_DEVICE_ADDRESS_BITS.
        cpu_features: For CPU devices the processor's feature flags, sorted, joined by spaces; else empty.
        driver_uuid: CL_DRIVER_UUID_KHR in hexadecimal where offered, else empty.
        environment: Variables in the driver's environment that change the code it makes.
        system: ro.build.fingerprint on Android, else empty.
    """

    platform_name: str
    platform_version: str
    device_name: str
    device_vendor: str
    device_version: str
    driver_version: str
    device_type: str
    address_bits: int
    cpu_features: str = ""
    driver_uuid: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    system: str = ""

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values; keys in alphabetical order."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        values["environment"] = dict(sorted(self.environment.items()))
        return dict(sorted(values.items()))

    @classmethod
    def from_json(cls, raw: Any, where: str = "identity") -> Identity:
        """Read an identity; keys that are not known make it unequal to all of ours and are refused.

        Raises:
            FormatError: A field is missing, unknown or of the wrong type.
        """
        if not isinstance(raw, dict):
            raise FormatError("is not an object", where=where)
        known = {f.name for f in fields(cls)}
        odd = sorted(set(raw) - known) or sorted(known - set(raw))
        if odd:
            raise FormatError(f"has a field {odd[0]!r} too many or too few", where=where)
        for name, value in raw.items():
            wanted: type = dict if name == "environment" else int if name == "address_bits" else str
            if type(value) is not wanted:
                raise FormatError(f"is not of type {wanted.__name__}", where=where, field=name)
        if not all(isinstance(k, str) and isinstance(v, str) for k, v in raw["environment"].items()):
            raise FormatError("holds something else than strings", where=where, field="environment")
        return cls(**raw)

    @property
    def digest(self) -> str:
        """SHA-256 of the canonical JSON; names files in the cache."""
        text = json.dumps(self.to_json(), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def differences(self, other: Identity) -> list[tuple[str, str, str]]:
        """(field, here, there) for each field that differs; empty if they are equal."""
        mine, theirs = self.to_json(), other.to_json()
        return [(k, str(mine[k]), str(theirs[k])) for k in mine if mine[k] != theirs[k]]


@dataclass(frozen=True)
class Capabilities:
    """What a device offers, for the check of a portable entry."""

    extensions: frozenset[str] = frozenset()
    work_group_size: int = 1
    local_mem_bytes: int = 0
    max_alloc_bytes: int = 0
    images: bool = False
    fp16: bool = False
    fp64: bool = False
    il_versions: tuple[str, ...] = ()
    base_align_bytes: int = 128


@dataclass(frozen=True)
class Requirements:
    """What an entry asks of a device, whatever its identity.

    Attributes:
        extensions: OpenCL extensions by name.
        work_group_size: Largest work-group that the plans launch.
        local_mem_bytes: Largest use of local memory.
        max_alloc_bytes: Largest buffer.
        images, fp16, fp64: Whether they are used.
        base_align_bytes: Tensors lie at multiples of this; a device must not ask for more.
    """

    extensions: tuple[str, ...] = ()
    work_group_size: int = 1
    local_mem_bytes: int = 0
    max_alloc_bytes: int = 0
    images: bool = False
    fp16: bool = False
    fp64: bool = False
    base_align_bytes: int = 128

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values; keys in alphabetical order."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        values["extensions"] = sorted(self.extensions)
        return dict(sorted(values.items()))

    @classmethod
    def from_json(cls, raw: Any, where: str = "requires") -> Requirements:
        """Read requirements. A key that is not known is a requirement that nobody can check: refused.

        Raises:
            FormatError: A field is unknown or of the wrong type.
        """
        if not isinstance(raw, dict):
            raise FormatError("is not an object", where=where)
        values: dict[str, Any] = {}
        kinds = {f.name: type(f.default) for f in fields(cls)}
        for name, value in raw.items():
            if name not in kinds:
                raise FormatError("is not known", where=where, field=name)
            got = tuple(value) if isinstance(value, list) else value
            if type(got) is not kinds[name] or (isinstance(got, tuple) and not all(isinstance(v, str) for v in got)):
                raise FormatError(f"is not of type {kinds[name].__name__}", where=where, field=name)
            values[name] = got
        return cls(**values)

    def unmet(self, device: Capabilities) -> list[str]:
        """One line for each requirement that the device does not meet."""
        lines = [f"needs extension {e}" for e in self.extensions if e not in device.extensions]
        for name, unit in (
            ("work_group_size", "work-items"),
            ("local_mem_bytes", "bytes"),
            ("max_alloc_bytes", "bytes"),
        ):
            wanted, there = getattr(self, name), getattr(device, name)
            if wanted > there:
                lines.append(f"needs {name} of {wanted} {unit}, the device has {there}")
        lines += [f"needs {n}" for n in ("images", "fp16", "fp64") if getattr(self, n) and not getattr(device, n)]
        if device.base_align_bytes > self.base_align_bytes:
            lines.append(f"aligned to {self.base_align_bytes} bytes, the device asks for {device.base_align_bytes}")
        return lines
