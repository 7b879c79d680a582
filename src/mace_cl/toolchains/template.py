"""Any vendor's offline compiler, by a template of its command line: 'clc {in} -o {out}'."""

from __future__ import annotations

import shlex
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from mace_cl.errors import BuildError, UsageError
from mace_cl.toolchains.clang import Compiled
from mace_cl.toolchains.process import run_tool

PLACES = ("{in}", "{out}", "{options}", "{target}")


def parse_template(template: str) -> list[str]:
    """The words of a template.

    Raises:
        UsageError: It cannot be split, names no program, or lacks {in} or {out}.
    """
    try:
        words = shlex.split(template)
    except ValueError as error:
        raise UsageError(f"{template!r} cannot be split into words: {error}", where="--toolchain") from None
    missing = [p for p in ("{in}", "{out}") if not any(p in w for w in words)]
    if not words or missing:
        raise UsageError(f"{template!r} lacks {' and '.join(missing) or 'everything'}", where="--toolchain")
    return words


def compile_with_template(
    template: str, source: str, target: str, options: Sequence[str], timeout_s: float
) -> Compiled:
    """Run a vendor's compiler on a text.

    Args:
        template: Its command line; {in}, {out}, {options} (several words) and {target} are filled in. No shell sees it.
        source: The program.
        target: Name of the target.
        options: OpenCL build options.
        timeout_s: Longest time.

    Raises:
        UsageError: The template is malformed or its program is not installed.
        BuildError: The compiler fails or writes nothing.
    """
    words = parse_template(template)
    if shutil.which(words[0]) is None:
        raise UsageError(f"{words[0]} is not installed", where="--toolchain")
    with tempfile.TemporaryDirectory(prefix="mace-cl-toolchain-") as name:
        folder = Path(name)
        (folder / "program.cl").write_text(source, encoding="utf-8")
        result = run_tool(_fill(words, target, options), folder, timeout_s)
        log = result.output + result.errors
        if result.status:
            raise BuildError(f"{words[0]} fails with status {result.status}", log=log)
        made = folder / "program.out"
        if not made.is_file() or not made.stat().st_size:
            raise BuildError(f"{words[0]} wrote no program", log=log)
        return Compiled(made.read_bytes(), log)


def _fill(words: Sequence[str], target: str, options: Sequence[str]) -> list[str]:
    filled: list[str] = []
    for word in words:
        if word == "{options}":
            filled += options
            continue
        plain = word.replace("{in}", "program.cl").replace("{out}", "program.out").replace("{target}", target)
        filled.append(plain.replace("{options}", " ".join(options)))
    return filled
