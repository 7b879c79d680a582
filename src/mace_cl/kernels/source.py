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

_FLOATS = ("float", "float2", "float4", "float8", "float16")


@cache
def family_source(family: str) -> str:
    """The `.cl` file of a family."""
    return (_FOLDER / f"{family}.cl").read_text(encoding="utf-8")


@cache
def _functions(types: tuple[str, ...]) -> str:
    """Functions of floats, for each of the float types."""
    text = (_FOLDER / "functions.clh").read_text(encoding="utf-8").rstrip("\n")
    parts = []
    for name in types:
        integer = name.replace("float", "int")
        defines = {
            "T": name,
            "I": integer,
            "AS_T(i)": f"as_{name}(i)",
            "TO_I(x)": f"convert_{integer}(x)",
            "CALL(name)": f"MACE_PASTE(name, {name})",
        }
        parts += ["\n", *(f"#define {k} {v}\n" for k, v in defines.items())]
        parts.append(f'#line 1 "functions.clh"\n{text}\n')
        parts += [f"#undef {k.split('(')[0]}\n" for k in defines]
    return "".join(parts)


def _function_types(specs: Iterable[KernelSpec]) -> tuple[str, ...]:
    """Float types that kernels may call functions with; none where no macro calls one."""
    texts = [value for spec in specs if any("mace_" in v for _, v in spec.macros) for _, value in spec.macros]
    if not texts:
        return ()
    return tuple(name for name in _FLOATS if name == "float" or any(name in text for text in texts))


def program_source(specs: Iterable[KernelSpec]) -> str:
    """One program with every specialisation once, in order of first use.

    HINT is empty unless the device's own build options define it (`DeviceFacts.build_options`).
    """
    distinct = tuple(dict.fromkeys(specs))
    parts = [_PREAMBLE, _functions(_function_types(distinct))]
    for spec in distinct:
        defines = {"KERNEL": spec.function, "FN(name)": f"MACE_PASTE(name, {spec.suffix})", **dict(spec.macros)}
        parts.append(f"\n// ---- {spec.function}\n")
        parts += [f"#define {k} {v}\n" for k, v in defines.items()]
        parts.append(f'#line 1 "{spec.family}.cl"\n')
        parts.append(family_source(spec.family).rstrip("\n") + "\n")
        parts += [f"#undef {k.split('(')[0]}\n" for k in defines]
    return "".join(parts)
