"""Compile neural networks to OpenCL programs, ship them in one file, and start in milliseconds.

    session = mace_cl.load("mace-cl-compiled-program.bin")
    outputs = session.run({"input": array})

Nothing is imported before it is asked for: `load` and `Session` bring the half of the package that runs, `compile` the
half that compiles, `open_program` reads a file without either.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mace_cl.compiler import compile_model as compile
    from mace_cl.errors import MaceError
    from mace_cl.program.open import open_program
    from mace_cl.runtime.session import Session

    load = Session.load

__all__ = ["MaceError", "Session", "compile", "load", "open_program"]

_LAZY = {
    "MaceError": ("mace_cl.errors", "MaceError"),
    "Session": ("mace_cl.runtime.session", "Session"),
    "compile": ("mace_cl.compiler", "compile_model"),
    "load": ("mace_cl.runtime.session", "load"),
    "open_program": ("mace_cl.program.open", "open_program"),
}
"""Public name to the module and the attribute that it stands for."""


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, attribute = _LAZY[name]
    value = globals()[name] = getattr(importlib.import_module(module), attribute)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
