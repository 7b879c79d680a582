"""Will a file run on a device without compiling, and if not, why: entry by entry. Needs no OpenCL."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from mace_cl.errors import FormatError, UsageError
from mace_cl.program.identity import Capabilities, Identity
from mace_cl.program.open import ProgramFile, mace_misfits
from mace_cl.program.plan import KNOWN_FEATURES
from mace_cl.program.records import Entry

FITS, COMPILES, REFUSED = "fits", "compiles", "refused"
"""An entry runs as it is; it runs after its source or IL is compiled; it does not run."""


@dataclass(frozen=True)
class EntryFit:
    """What a device can do with an entry.

    Attributes:
        entry: Its name.
        verdict: FITS, COMPILES or REFUSED.
        reasons: Why it does not fit as it is.
        differences: (field, of the device, of the entry) for each field of the identities that differs.
    """

    entry: str
    verdict: str
    reasons: tuple[str, ...] = ()
    differences: tuple[tuple[str, str, str], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        rows = [{"field": f, "device": here, "file": there} for f, here, there in self.differences]
        return {"entry": self.entry, "verdict": self.verdict, "reasons": list(self.reasons), "differences": rows}


@dataclass(frozen=True)
class FitReport:
    """The answer for a file.

    Attributes:
        fits: Whether it runs here without compiling.
        entry: The entry that a load would use; empty if there is none.
        entries: Each entry's answer.
    """

    fits: bool
    entry: str
    entries: tuple[EntryFit, ...]

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {"fits": self.fits, "entry": self.entry, "entries": [e.to_json() for e in self.entries]}


def check_fit(file: ProgramFile, identity: Identity, capabilities: Capabilities | None = None) -> FitReport:
    """Ask every entry of a file.

    Args:
        file: The file.
        identity: The device.
        capabilities: What it offers; where None, requirements are taken as met.
    """
    if file.contents is not None:
        reasons = tuple(mace_misfits(file.contents, identity))
        if not file.programs:
            reasons = (*reasons, "the file holds no program")
        fit = EntryFit("", REFUSED if reasons else FITS, reasons)
        return FitReport(not reasons, "", (fit,))
    assert file.compiled is not None
    unknown = sorted(set(file.compiled.requires_features) - KNOWN_FEATURES)
    if unknown:
        reason = f"the file needs features that are not known here: {', '.join(unknown)}"
        return FitReport(False, "", tuple(EntryFit(e.name, REFUSED, (reason,)) for e in file.entries))
    entries = tuple(_entry_fit(e, identity, capabilities) for e in file.entries)
    chosen = next((e for v in (FITS, COMPILES) for e in entries if e.verdict == v), None)
    return FitReport(chosen is not None and chosen.verdict == FITS, chosen.entry if chosen else "", entries)


def _entry_fit(entry: Entry, identity: Identity, capabilities: Capabilities | None) -> EntryFit:
    unknown = sorted(set(entry.requires_features) - KNOWN_FEATURES)
    if unknown:
        return EntryFit(entry.name, REFUSED, (f"needs features that are not known here: {', '.join(unknown)}",))
    differences: tuple[tuple[str, str, str], ...] = ()
    if entry.identity is None:
        reasons = ["is portable: it has no compiled program"]
    else:
        differences = tuple((f, there, here) for f, here, there in entry.identity.differences(identity))
        reasons = [_difference(*d) for d in differences]
        reasons += _damage(entry)
        reasons += [f"program {n!r} has no compiled form" for n, p in entry.programs.items() if p.binary is None]
    if not reasons:
        return EntryFit(entry.name, FITS)
    unmet = [] if capabilities is None else entry.requires.unmet(capabilities)
    bare = [f"program {n!r} has no source" for n, p in entry.programs.items() if p.source is None and p.il is None]
    verdict = REFUSED if unmet or bare else COMPILES
    return EntryFit(entry.name, verdict, (*reasons, *unmet, *bare), differences)


def _difference(field: str, here: str, there: str) -> str:
    """How a field differs, in words; of two long lists of processor features only what one lacks."""
    if field != "cpu_features" or not (here and there):
        return f"{field} is {here!r} here, {there!r} in the file"
    mine, theirs = set(here.split()), set(there.split())
    parts = [f"{who} lacks {' '.join(sorted(lack))}" for who, lack in
             (("this processor", theirs - mine), ("the file's", mine - theirs)) if lack]  # fmt: skip
    return f"{field}: {', '.join(parts)}"


def _damage(entry: Entry) -> list[str]:
    """Programs and plans whose hash is wrong: a load would refuse them."""
    blobs = [p.binary for p in entry.programs.values() if p.binary is not None] + [p.blob for p in entry.plans]
    faults = []
    for blob in blobs:
        try:
            blob.checked()
        except FormatError as error:
            faults.append(str(error))
    return faults


def read_identity(text: str, where: str) -> tuple[Identity, Capabilities | None]:
    """A device as `mace devices --identity --json` prints it, or a bare identity.

    Raises:
        UsageError: It is neither, or describes several devices.
        FormatError: The identity has wrong fields.
    """
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"is no JSON: {str(error)[:200]}", where=where) from None
    if isinstance(raw, list):
        if len(raw) != 1:
            raise UsageError(f"describes {len(raw)} devices", where=where, hint="keep one: mace devices -d NAME --json")
        raw = raw[0]
    if isinstance(raw, dict) and isinstance(raw.get("identity"), dict):
        return Identity.from_json(raw["identity"], where), _capabilities(raw)
    return Identity.from_json(raw, where), None


def _capabilities(raw: Mapping[str, Any]) -> Capabilities | None:
    """The capabilities beside an identity, if they are all there."""
    value = raw.get("capabilities")
    if not isinstance(value, dict) or {f.name for f in fields(Capabilities)} - set(value):
        return None
    try:
        lists = {"extensions": frozenset(value["extensions"]), "il_versions": tuple(value["il_versions"])}
    except TypeError:
        return None
    return Capabilities(**{f.name: value[f.name] for f in fields(Capabilities)} | lists)
