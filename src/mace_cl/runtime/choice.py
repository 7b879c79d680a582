"""Which entry of a file a device uses, and in which form.

An equal identity gives the compiled program. Else the first entry, in the file's order, whose requirements the device
meets gives its IL or source, with its own plan and weights. There is no partial match.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mace_cl.opencl.devices import DeviceInfo
from mace_cl.program.plan import KNOWN_FEATURES
from mace_cl.program.records import CompiledFile, Entry, ProgramForms

MAX_DIFFERENCES = 2
"""Differences of identities that a reason spells out."""


@dataclass(frozen=True)
class Candidate:
    """An entry in a form that the device may use.

    Attributes:
        index: Place of the entry in the file.
        entry: The entry.
        form: 'binary' (the file's compiled programs) or 'portable' (IL or source, compiled here or in the cache).
    """

    index: int
    entry: Entry
    form: str

    @property
    def label(self) -> str:
        """For messages."""
        return f"entry {self.index} ({self.entry.name}), {'compiled' if self.form == 'binary' else 'from source'}"


def candidates(file: CompiledFile, device: DeviceInfo) -> list[tuple[Candidate, str]]:
    """Every entry in every form, in order of preference, with what speaks against it ('' if the device may use it)."""
    entries = file.entries
    identical = [i for i, e in enumerate(entries) if e.identity == device.identity]
    others = [i for i in range(len(entries)) if i not in identical]
    return [
        *((Candidate(i, entries[i], "binary"), _why_not_binary(entries[i])) for i in identical),
        *(
            (Candidate(i, e, "binary"), difference(e, device))
            for i, e in enumerate(entries)
            if i in others and e.identity
        ),
        # An entry made for this very device comes first, if its compiled program should fail.
        *((Candidate(i, entries[i], "portable"), _why_not_portable(entries[i], device)) for i in [*identical, *others]),
    ]


def difference(entry: Entry, device: DeviceInfo) -> str:
    """How the entry's device differs from this one, in words."""
    assert entry.identity is not None
    found = entry.identity.differences(device.identity)
    shown = [f"{field} is {there!r}, not {here!r}" for field, here, there in found[:MAX_DIFFERENCES]]
    if len(found) > MAX_DIFFERENCES:
        shown.append(f"{len(found) - MAX_DIFFERENCES} more differences")
    return "made for another device: " + ", ".join(shown)


def _why_not_any(entry: Entry) -> str:
    unknown = sorted(set(entry.requires_features) - KNOWN_FEATURES)
    if unknown:
        return f"needs features that this version does not know: {', '.join(unknown)}"
    return ""


def _why_not_binary(entry: Entry) -> str:
    missing = [n for n, p in entry.programs.items() if p.binary is None]
    return _why_not_any(entry) or (f"holds no compiled form of program {missing[0]!r}" if missing else "")


def _why_not_portable(entry: Entry, device: DeviceInfo) -> str:
    if _why_not_any(entry):
        return _why_not_any(entry)
    unmet = entry.requires.unmet(device.capabilities)
    if unmet:
        return "; ".join(unmet)
    lacking = [n for n, p in entry.programs.items() if not portable_forms(p, device)]
    return f"holds no source of program {lacking[0]!r}" if lacking else ""


def portable_forms(forms: ProgramForms, device: DeviceInfo) -> Sequence[str]:
    """The forms that this device's compiler takes, best first."""
    usable = []
    if forms.il is not None and device.capabilities.il_versions:
        usable.append("il")
    if forms.source is not None:
        usable.append("source")
    return usable
