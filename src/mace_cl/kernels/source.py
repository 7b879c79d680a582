"""From specialisations to the text of one OpenCL C program."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from mace_cl.kernels.base import KernelSpec

_FOLDER = Path(__file__).parent

_PREAMBLE = """\
#define MACE_PASTE_(a, b) a##_##b
#define MACE_PASTE(a, b) MACE_PASTE_(a, b)
#ifndef HINT
#define HINT
#endif
"""


@cache
def family_source(family: str) -> str:
    """The `.cl` file of a family."""
    return (_FOLDER / f"{family}.cl").read_text(encoding="utf-8")


def program_source(specs: Iterable[KernelSpec]) -> str:
    """One program with every specialisation once, in order of first use.

    HINT is empty unless the device's own build options define it (`DeviceFacts.build_options`).
    """
    parts = [_PREAMBLE]
    for spec in dict.fromkeys(specs):
        defines = {"KERNEL": spec.function, "FN(name)": f"MACE_PASTE(name, {spec.suffix})", **dict(spec.macros)}
        parts.append(f"\n// ---- {spec.function}\n")
        parts += [f"#define {k} {v}\n" for k, v in defines.items()]
        parts.append(f'#line 1 "{spec.family}.cl"\n')
        parts.append(family_source(spec.family).rstrip("\n") + "\n")
        parts += [f"#undef {k.split('(')[0]}\n" for k in defines]
    return "".join(parts)
