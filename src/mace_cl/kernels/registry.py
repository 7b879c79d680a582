"""Finds the kernel families: every module of this folder that has a `.cl` file beside it."""

from __future__ import annotations

import importlib
from functools import cache
from pathlib import Path

from mace_cl.errors import CodegenError
from mace_cl.kernels.base import Family


@cache
def families() -> tuple[Family, ...]:
    """All families, by name. A module beside `<name>.cl` offers `FAMILY`, or `FAMILIES` where several share one file.

    Raises:
        CodegenError: Two families have the same name.
    """
    found: dict[str, Family] = {}
    for path in sorted(Path(__file__).parent.glob("*.cl")):
        module = importlib.import_module(f"mace_cl.kernels.{path.stem}")
        for family in getattr(module, "FAMILIES", None) or (module.FAMILY,):
            if family.name in found:
                raise CodegenError(f"two kernel families are named {family.name!r}")
            found[family.name] = family
    return tuple(found[name] for name in sorted(found))


@cache
def families_for(operator: str) -> tuple[Family, ...]:
    """The families whose matches can start with an operator."""
    return tuple(f for f in families() if operator in f.operators)
