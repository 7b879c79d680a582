"""Includes, processes, and clang found or not."""

from __future__ import annotations

import sys
import time

import pytest

from mace_cl.errors import BuildError, UnsupportedError, UsageError
from mace_cl.program.vendors.nvidia import unresolved_functions
from mace_cl.toolchains.clang import find_clang
from mace_cl.toolchains.includes import read_source
from mace_cl.toolchains.process import run_tool


def test_includes_become_one_text(tmp_path):
    (tmp_path / "lib").mkdir()
    (tmp_path / "a.cl").write_text('int a;\n#include "b.h"\n  #  include <c.h>\nint z;\n')
    (tmp_path / "b.h").write_text("int b;\n")
    (tmp_path / "lib" / "c.h").write_text('#include "d.h"\nint c;')
    (tmp_path / "lib" / "d.h").write_text("int d;\n")
    assert read_source(tmp_path / "a.cl", [tmp_path / "lib"]).splitlines() == [
        '#line 1 "a.cl"', "int a;",
        '#line 1 "b.h"', "int b;", '#line 3 "a.cl"',
        '#line 1 "c.h"', '#line 1 "d.h"', "int d;", '#line 2 "c.h"', "int c;", '#line 4 "a.cl"', "int z;",
    ]  # fmt: skip


def test_includes_that_are_not_found_stay(tmp_path):
    (tmp_path / "a.cl").write_text('#if 0\n#include "none.h"\n#endif\n')
    assert '#include "none.h"' in read_source(tmp_path / "a.cl")


def test_a_file_that_includes_itself(tmp_path):
    (tmp_path / "a.cl").write_text('#include "a.cl"\n')
    with pytest.raises(UsageError, match="without end"):
        read_source(tmp_path / "a.cl")


def test_what_is_no_text(tmp_path):
    (tmp_path / "a.cl").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="UTF-8"):
        read_source(tmp_path / "a.cl")


def test_tools_are_stopped_in_time(tmp_path):
    start = time.monotonic()
    with pytest.raises(BuildError, match="longer than"):
        run_tool([sys.executable, "-c", "import time; time.sleep(60)"], tmp_path, 0.5)
    assert time.monotonic() - start < 20


def test_tools_that_cannot_start(tmp_path):
    with pytest.raises(BuildError, match="cannot be started"):
        run_tool([str(tmp_path / "none")], tmp_path, 5)


def test_no_clang_gives_the_install_command(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("MACE_CLANG", raising=False)
    find_clang.cache_clear()
    try:
        with pytest.raises(UnsupportedError, match="apt-get install clang-22"):
            find_clang()
        monkeypatch.setenv("MACE_CLANG", sys.executable)
        with pytest.raises(UnsupportedError, match="MACE_CLANG"):
            find_clang()
    finally:
        find_clang.cache_clear()


def test_unresolved_functions_of_ptx():
    text = """
.func helper
(
\t.param .b64 p
)
;
.func (.param .b64 r) _Z13get_global_idj
(
\t.param .b32 p
)
;
.func helper(
\t.param .b64 p
)
{
ret;
}
"""
    assert unresolved_functions(text) == ["_Z13get_global_idj"]
