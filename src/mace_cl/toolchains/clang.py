"""clang as an offline compiler: SPIR-V, AMD code objects, NVIDIA PTX."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from mace_cl.errors import BuildError, UnsupportedError
from mace_cl.program.vendors.nvidia import unresolved_functions
from mace_cl.toolchains.process import run_tool

NEWEST, OLDEST = 30, 20
"""Versions that are looked for; SPIR-V comes from clang itself since 20."""

INSTALL = "apt-get install clang-22 lld-22 libclc-22 spirv-tools"
VARIABLE = "MACE_CLANG"
DEFAULT_STANDARD = "-cl-std=CL1.2"

_VERSION = re.compile(r"clang version (\d+)[.\d]*")
_ERROR = re.compile(r"^(?P<file>[^\s:][^:\n]*):(?P<line>\d+):\d+: (?:fatal )?error: (?P<text>.+)$", re.M)
_UNDEFINED = re.compile(r"undefined (?:hidden )?symbol: (\S+)")
_LIBRARY_FOLDERS = ("/usr/lib/clc", "/usr/share/clc", "/usr/local/share/clc", "/usr/local/lib/clc")


@dataclass(frozen=True)
class Clang:
    """An installed clang."""

    path: str
    version: int
    text: str


@dataclass(frozen=True)
class Compiled:
    """What a compiler made.

    Attributes:
        data: The program.
        log: The compiler's text.
        notes: What the user must know of it.
    """

    data: bytes
    log: str = ""
    notes: tuple[str, ...] = ()


@cache
def find_clang() -> Clang:
    """The newest clang that is installed, or the one that MACE_CLANG names.

    Raises:
        UnsupportedError: There is none.
    """
    wanted = os.environ.get(VARIABLE)
    names = [wanted] if wanted else [f"clang-{n}" for n in range(NEWEST, OLDEST - 1, -1)] + ["clang"]
    for name in names:
        path = shutil.which(name)
        found = _ask_version(path) if path else None
        if found is not None and (wanted or found.version >= OLDEST):
            return found
    problem = f"{wanted} (from {VARIABLE}) is no clang" if wanted else f"clang {OLDEST} or newer is not installed"
    raise UnsupportedError(problem, hint=f"install it with: {INSTALL}; or give --toolchain")


def _ask_version(path: str) -> Clang | None:
    try:
        result = run_tool([path, "--version"], Path("/"), 30.0)
    except BuildError:
        return None
    match = _VERSION.search(result.output)
    return Clang(path, int(match[1]), match[0]) if match else None


def compile_spirv(source: str, options: Sequence[str], timeout_s: float) -> Compiled:
    """OpenCL C to a SPIR-V module, checked by spirv-val where that is installed.

    Raises:
        BuildError: The source does not compile.
        UnsupportedError: No clang is installed.
    """
    with tempfile.TemporaryDirectory(prefix="mace-cl-clang-") as name:
        folder = Path(name)
        log = _run(source, folder, ["--target=spirv64", "-O2", "-c", *options], "program.spv", timeout_s)
        data = (folder / "program.spv").read_bytes()
        checker = shutil.which("spirv-val")
        if checker is None:
            return Compiled(data, log, ("not validated: spirv-val is not installed",))
        result = run_tool([checker, "program.spv"], folder, timeout_s)
        if result.status:
            raise BuildError("spirv-val refuses what clang made", log=result.output + result.errors)
        return Compiled(data, log)


def compile_amd(source: str, cpu: str, options: Sequence[str], timeout_s: float) -> Compiled:
    """OpenCL C to a code object for an AMD GPU; without a linker to a relocatable one, with a note.

    Args:
        source: The program.
        cpu: 'gfx1030' or the like.
        options: OpenCL build options.
        timeout_s: Longest time.

    Raises:
        BuildError: The source does not compile or link.
        UnsupportedError: No clang is installed.
    """
    clang = find_clang()
    library = _library(clang, ("amdgcn-amd-amdhsa.bc",))
    linked = [] if library is None else ["-Xclang", "-mlink-builtin-bitcode", "-Xclang", library]
    linker = _linker(clang)
    flags = ["--target=amdgcn-amd-amdhsa", f"-mcpu={cpu}", "-nogpulib", "-O3", *linked, *options]
    notes = []
    if linker is None:
        flags.append("-c")
        notes.append(
            f"relocatable: no ld.lld was found to link it; install it with: apt-get install lld-{clang.version}"
        )
    if library is None:
        notes.append(f"built without a library of OpenCL functions: apt-get install libclc-{clang.version}")
    with tempfile.TemporaryDirectory(prefix="mace-cl-clang-") as name:
        log = _run(source, Path(name), flags, "program.co", timeout_s)
        return Compiled((Path(name) / "program.co").read_bytes(), log, tuple(notes))


def compile_ptx(source: str, arch: str, options: Sequence[str], timeout_s: float) -> Compiled:
    """OpenCL C to PTX for an NVIDIA GPU ('sm_80' or the like).

    Raises:
        BuildError: The source does not compile, or uses functions that no installed library has.
        UnsupportedError: No clang is installed.
    """
    clang = find_clang()
    library = _library(clang, ("nvptx64--nvidiacl.bc", "nvptx64-nvidia-nvcl.bc"))
    linked = [] if library is None else ["-Xclang", "-mlink-builtin-bitcode", "-Xclang", library]
    flags = ["--target=nvptx64-nvidia-nvcl", f"-march={arch}", "-nogpulib", "-O3", "-S", *linked, *options]
    with tempfile.TemporaryDirectory(prefix="mace-cl-clang-") as name:
        log = _run(source, Path(name), [*flags, "-Wno-linker-warnings"], "program.ptx", timeout_s)
        data = (Path(name) / "program.ptx").read_bytes()
    missing = unresolved_functions(data.decode("utf-8", "replace"))
    if missing:
        raise BuildError(
            f"the program calls {', '.join(missing[:4])}, which nothing defines",
            hint=None
            if library
            else f"the library of OpenCL functions is missing: apt-get install libclc-{clang.version}",
        )
    return Compiled(data, log)


def _library(clang: Clang, names: Sequence[str]) -> str | None:
    """The bitcode of OpenCL's functions for a target."""
    beside = Path(clang.path).resolve().parent.parent
    folders = [*_LIBRARY_FOLDERS, str(beside / "share" / "clc"), str(beside / "lib" / "clc")]
    return next((str(p) for f in folders for n in names if (p := Path(f) / n).is_file()), None)


def _linker(clang: Clang) -> str | None:
    """LLVM's linker, where clang itself looks for it."""
    beside = Path(clang.path).resolve().parent / "ld.lld"
    return str(beside) if beside.is_file() else shutil.which("ld.lld")


def _run(source: str, folder: Path, flags: Sequence[str], output: str, timeout_s: float) -> str:
    """Compile a text; the log."""
    clang = find_clang()
    (folder / "program.cl").write_text(source, encoding="utf-8")
    standard = [] if any(f.startswith("-cl-std=") for f in flags) else [DEFAULT_STANDARD]
    argv = [clang.path, "-x", "cl", *standard, *flags, "-cl-kernel-arg-info", "program.cl", "-o", output]
    result = run_tool(argv, folder, timeout_s)
    if result.status:
        raise _refusal(clang, result.errors, source)
    return result.errors


def _refusal(clang: Clang, log: str, source: str) -> BuildError:
    """The first error of a log, with the line of source."""
    match = _ERROR.search(log)
    if match is not None:
        line = _source_line(source, match["file"], int(match["line"]))
        text = f"{clang.text} does not build it: {match['text']}"
        return BuildError(
            f"{text}\n    {line.strip()}" if line.strip() else text, where=f"{match['file']}:{match['line']}", log=log
        )
    undefined = sorted(set(_UNDEFINED.findall(log)))
    if undefined:
        return BuildError(
            f"nothing defines {', '.join(undefined[:4])}",
            hint=f"the library of OpenCL functions may be missing: apt-get install libclc-{clang.version}",
            log=log,
        )
    return BuildError(f"{clang.text} fails", log=log)


def _source_line(source: str, file: str, wanted: int) -> str:
    """A line by the name and number that the text's #line marks give it."""
    name, number = "program.cl", 1
    for line in source.splitlines():
        mark = re.match(r'\s*#\s*line\s+(\d+)(?:\s+"([^"]*)")?\s*$', line)
        if mark:
            number, name = int(mark[1]), mark[2] or name
            continue
        if (name, number) == (file, wanted):
            return line
        number += 1
    return ""
