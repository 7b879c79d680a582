"""Makes a smaller file: some entries, with or without source, self-tests and tuned parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mace_cl.errors import UsageError
from mace_cl.program.records import CompiledFile, Entry, ProgramForms


@dataclass(frozen=True)
class PruneOptions:
    """What is kept.

    Attributes:
        keep: Entries to keep: an index, or part of the entry's or device's name, or 'portable'; empty for all.
        drop: Entries to leave out, in the same words.
        source, selftest, tuning: Whether these are kept.
    """

    keep: Sequence[str] = ()
    drop: Sequence[str] = ()
    source: bool = True
    selftest: bool = True
    tuning: bool = True


def prune_file(file: CompiledFile, options: PruneOptions) -> CompiledFile:
    """The file with what the options keep. Signatures are dropped.

    Raises:
        UsageError: A word names no entry, or nothing would be left.
    """
    kept = _chosen(file.entries, options.keep) if options.keep else set(range(len(file.entries)))
    kept -= _chosen(file.entries, options.drop)
    entries = [_slim(file.entries[i], options) for i in sorted(kept)]
    if not entries:
        raise UsageError("no entry would be left")
    first = entries[0]
    if first.identity is not None and min(kept) != 0:
        gpu = f"{first.identity.device_vendor} {first.identity.device_name}".strip()
        return replace(file, entries=tuple(entries), target_gpu=gpu, driver_version=first.identity.driver_version)
    return replace(file, entries=tuple(entries))


def _chosen(entries: Sequence[Entry], words: Sequence[str]) -> set[int]:
    """Indexes of the entries that the words name."""
    chosen: set[int] = set()
    for word in words:
        found = _matching(entries, word)
        if not found:
            names = ", ".join(f"{i}: {e.name}" for i, e in enumerate(entries))
            raise UsageError(f"no entry is called {word!r}", hint=f"there are {names}")
        chosen |= found
    return chosen


def _matching(entries: Sequence[Entry], word: str) -> set[int]:
    if word.isdecimal():
        return {int(word)} if int(word) < len(entries) else set()
    low = word.lower()
    if low == "portable":
        return {i for i, e in enumerate(entries) if e.identity is None}
    return {
        i
        for i, e in enumerate(entries)
        if low in e.name.lower() or (e.identity is not None and low in e.identity.device_name.lower())
    }


def _slim(entry: Entry, options: PruneOptions) -> Entry:
    """An entry without what the options leave out."""
    programs = dict(entry.programs)
    if not options.source:
        programs = {n: replace(p, source=None) for n, p in programs.items()}
        bare = [n for n, p in programs.items() if _is_bare(p)]
        if bare:
            raise UsageError(
                f"entry {entry.name!r} has nothing but source for program {bare[0]!r}",
                hint="leave the entry out: --drop " + ("portable" if entry.identity is None else f"'{entry.name}'"),
            )
    return replace(
        entry,
        programs=programs,
        selftest=entry.selftest if options.selftest else None,
        tuning=entry.tuning if options.tuning else {},
    )


def _is_bare(program: ProgramForms) -> bool:
    return program.binary is None and program.il is None and program.source is None
