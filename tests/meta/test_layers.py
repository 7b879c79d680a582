"""Who may import whom, as the design says, and that only one package talks to the driver."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import mace_cl

ROOT = Path(mace_cl.__file__).parent
OPEN = {"errors", "types", "targets"}
COMPILER_HALF = {"graph", "importers", "passes", "kernels", "lowering", "toolchains"}
ALLOWED = {
    "errors": set(),
    "types": set(),
    "targets": set(),
    "graph": set(),
    "importers": {"graph"},
    "passes": {"graph"},
    "kernels": {"graph"},
    "program": set(),
    "lowering": {"graph", "kernels", "program"},
    "store": {"program"},
    "opencl": {"program"},
    "runtime": {"program", "store", "opencl"},
    "toolchains": {"program"},
    "compiler": COMPILER_HALF | {"program", "store", "opencl", "runtime"},
    "compile_kernels": {"program", "opencl", "toolchains"},
    "compile_cached": COMPILER_HALF | {"program", "store", "opencl", "runtime", "compiler"},
    "deploy": COMPILER_HALF | {"program", "store", "opencl", "runtime", "compiler"},
}
FILES = sorted(ROOT.rglob("*.py"))


def part(path: Path) -> str:
    """The package or module of the top level that a file belongs to."""
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imports(path: Path) -> set[str]:
    """Top-level parts of mace_cl that a file imports, anywhere in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [a.name for a in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module] if node.module != "mace_cl" else [f"mace_cl.{a.name}" for a in node.names]
        found |= {n.split(".")[1] for n in names if n.startswith("mace_cl.")}
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_stay_within_the_layers(path: Path) -> None:
    here = part(path)
    if here in ("cli", "__init__", "__main__"):
        return
    used = imports(path) - OPEN - {here}
    assert used <= ALLOWED[here], f"{here} must not import {', '.join(sorted(used - ALLOWED[here]))}"


def test_nobody_imports_the_commands() -> None:
    users = [p for p in FILES if part(p) not in ("cli", "__main__") and "cli" in imports(p)]
    assert not users


def test_only_one_package_talks_to_the_driver() -> None:
    for path in FILES:
        text = ast.parse(path.read_text(encoding="utf-8"))
        names = {a.name.split(".")[0] for n in ast.walk(text) if isinstance(n, ast.Import) for a in n.names}
        names |= {n.module.split(".")[0] for n in ast.walk(text) if isinstance(n, ast.ImportFrom) and n.module}
        assert "pyopencl" not in names or part(path) == "opencl", path
