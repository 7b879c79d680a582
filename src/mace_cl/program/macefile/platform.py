"""The platform string of a MACE file, taken apart.

QUALCOMM Snapdragon(TM), FULL_PROFILE, OpenCL 2.0 QUALCOMM build: commit #... Date: 03/25/19 Mon ..., v0.11.0-rc0
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_PROFILE = re.compile(r", ((?:FULL|EMBEDDED)_PROFILE), ")
_OPENCL = re.compile(r"OpenCL (\d+\.\d+)\s*(.*)", re.S)
_ADRENO_FIELDS = {
    "commit": re.compile(r"commit #([0-9A-Za-z]+)"),
    "change_id": re.compile(r"changeid #([0-9A-Za-z]+)"),
    "date": re.compile(r"Date: *(\d\d/\d\d/\d\d)"),
    "local_branch": re.compile(r"Local Branch: *(?!Remote Branch:)(\S+)"),
    "remote_branch": re.compile(r"Remote Branch: *(?!Compiler )(\S+)"),
    "compiler": re.compile(r"Compiler (E\d[\w.]*)"),
}


@dataclass(frozen=True)
class AdrenoBuild:
    """Qualcomm's note of how a driver was built; empty where a field is missing. `date` is year-month-day."""

    commit: str = ""
    change_id: str = ""
    date: str = ""
    local_branch: str = ""
    remote_branch: str = ""
    compiler: str = ""


@dataclass(frozen=True)
class PlatformInfo:
    """The parts of a platform string.

    Attributes:
        name: CL_PLATFORM_NAME.
        profile: CL_PLATFORM_PROFILE.
        version: CL_PLATFORM_VERSION.
        opencl: Its OpenCL version, '2.0'.
        driver: What follows the OpenCL version.
        mace_version: `git describe` of the MACE that wrote the file.
        adreno: Qualcomm's build note, or None.
    """

    name: str
    profile: str
    version: str
    opencl: str
    driver: str
    mace_version: str
    adreno: AdrenoBuild | None


def parse_platform(text: str) -> PlatformInfo | None:
    """Take a platform string apart; None where it has no profile. Versions may hold commas themselves."""
    profile = _PROFILE.search(text)
    if profile is None:
        return None
    rest = text[profile.end() :]
    version, comma, mace_version = rest.rpartition(", ")
    if not comma:
        version, mace_version = rest, ""
    opencl = _OPENCL.match(version)
    return PlatformInfo(
        name=text[: profile.start()],
        profile=profile[1],
        version=version.strip(),
        opencl=opencl[1] if opencl else "",
        driver=opencl[2].strip() if opencl else version.strip(),
        mace_version=mace_version.strip(),
        adreno=_adreno_build(version) if "QUALCOMM" in text or "Adreno" in text else None,
    )


def _adreno_build(text: str) -> AdrenoBuild:
    found = {name: match[1] for name, pattern in _ADRENO_FIELDS.items() if (match := pattern.search(text))}
    if "date" in found:
        month, day, year = found["date"].split("/")
        found["date"] = f"20{year}-{month}-{day}"
    return AdrenoBuild(**found)
