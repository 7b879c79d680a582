"""Which function converts which operator: the functions of `ops/`, found by listing that folder."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from functools import cache
from typing import TypeAlias, TypeVar

from mace_cl.graph import Value
from mace_cl.importers.tflite import ops
from mace_cl.importers.tflite.context import Context

Handler: TypeAlias = Callable[[Context], "Value | Sequence[Value]"]
"""Adds an operator's nodes to the graph and returns its outputs."""

_H = TypeVar("_H", bound=Handler)
_BUILTIN: dict[str, Handler] = {}
_CUSTOM: dict[str, Handler] = {}


def handles(*names: str) -> Callable[[_H], _H]:
    """Declare that a function converts the built-in operators of these names."""
    return _register(_BUILTIN, names)


def handles_custom(*names: str) -> Callable[[_H], _H]:
    """Declare that a function converts the custom operators of these names."""
    return _register(_CUSTOM, names)


def _register(table: dict[str, Handler], names: Sequence[str]) -> Callable[[_H], _H]:
    def register(handler: _H) -> _H:
        for name in names:
            assert name not in table, f"two handlers for {name}"
            table[name] = handler
        return handler

    return register


@cache
def _load() -> None:
    for module in sorted(m.name for m in pkgutil.iter_modules(ops.__path__)):
        importlib.import_module(f"{ops.__name__}.{module}")


def find_handler(name: str, custom_code: str = "") -> Handler | None:
    """The function that converts an operator, or None."""
    _load()
    return _CUSTOM.get(custom_code) if name == "CUSTOM" else _BUILTIN.get(name)


def supported_operators() -> tuple[str, ...]:
    """Names of all operators that can be converted, custom ones after the built-in ones."""
    _load()
    return (*sorted(_BUILTIN), *(f"CUSTOM {n}" for n in sorted(_CUSTOM)))
