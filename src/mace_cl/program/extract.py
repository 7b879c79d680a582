"""Writes the parts of a file into a folder: programs, IL, source, plans, header; the pairs of MACE's files."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from mace_cl.errors import UsageError
from mace_cl.program.atomic import write_atomically
from mace_cl.program.container import HEAD
from mace_cl.program.macefile.contents import MaceContents
from mace_cl.program.open import ProgramFile, forms_of
from mace_cl.program.records import Entry

_SUFFIX = {"binary": ".bin", "il": ".spv", "source": ".cl"}
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def extract_file(file: ProgramFile, folder: Path, *, weights: bool = False, replace: bool = False) -> list[Path]:
    """Write every part into a folder.

    Args:
        file: The file.
        folder: Made if it is not there.
        weights: Weights as well.
        replace: Whether files that are there may be replaced.

    Returns:
        The files written, in order.

    Raises:
        UsageError: A file is there already, or cannot be written.
        FormatError: A part is damaged.
    """
    parts = dict(_mace_parts(file.contents) if file.contents is not None else _parts(file, weights))
    if not replace:
        there = next((folder / n for n in parts if (folder / n).exists()), None)
        if there is not None:
            raise UsageError("is there already", where=str(there), hint="--force replaces it")
    try:
        for name in parts:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot be made: {error.strerror}", where=str(error.filename or folder)) from error
    for name, content in parts.items():
        write_atomically(folder / name, [content])
    return [folder / name for name in parts]


def safe_name(text: str) -> str:
    """A file name out of any text: no separators, no leading dots, not empty, not long."""
    return _UNSAFE.sub("_", text).strip("._")[:80] or "unnamed"


def _parts(file: ProgramFile, weights: bool) -> Iterator[tuple[str, bytes | memoryview]]:
    container = file.container
    assert container is not None
    yield "header.json", bytes(container.data[HEAD.size : HEAD.size + container.header_bytes])
    for index, entry in enumerate(file.entries):
        folder = f"{index}-{safe_name(entry.name)}"
        for name, content in _entry_parts(entry, weights):
            yield f"{folder}/{name}", content
    assert file.compiled is not None
    for index, blob in enumerate(file.compiled.extra_blobs):
        yield f"other/{index}-{safe_name(blob.kind)}-{safe_name(blob.name)}", blob.checked()


def _entry_parts(entry: Entry, weights: bool) -> Iterator[tuple[str, bytes | memoryview]]:
    for number, (name, program) in enumerate(entry.programs.items()):
        for form, blob in forms_of(program).items():
            yield f"{number}-{safe_name(name)}{_SUFFIX[form]}", blob.checked()
    for number, plan in enumerate(entry.plans):
        yield f"plan-{number}.json", plan.blob.checked()
    if entry.selftest is not None:
        yield "selftest.json", entry.selftest.checked()
    if entry.tuning:
        yield "tuning.json", _pretty(dict(entry.tuning))
    if weights:
        for number, (name, blob) in enumerate(entry.weights.items()):
            yield f"weights-{number}-{safe_name(name)}.bin", blob.checked()


def _mace_parts(contents: MaceContents) -> Iterator[tuple[str, bytes | memoryview]]:
    index = []
    for number, program in enumerate(contents.programs):
        name = f"{number:03}-{safe_name(program.name)}.bin"
        index.append({"file": name, "key": program.key, "source_hash": program.source_hash})
        yield name, program.binary
    about = {"platform": contents.platform_text, "device_name": contents.device_name, "programs": index}
    yield "index.json", _pretty(about)
    if contents.tuned:
        yield "tuning.json", _pretty({t.name: list(t.values) for t in contents.tuned})


def _pretty(value: object) -> bytes:
    return (json.dumps(value, indent=2, sort_keys=True) + "\n").encode()
