"""Which function converts which operator: the functions of `ops/`, found by listing that folder."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from functools import cache
from typing import TypeAlias, TypeVar

from mace_cl.graph import Value
from mace_cl.importers.onnx import ops
from mace_cl.importers.onnx.context import Context

Handler: TypeAlias = Callable[[Context], "Value | Sequence[Value | None]"]
"""Adds a node's operators to the graph and returns its outputs."""

_H = TypeVar("_H", bound=Handler)
_HANDLERS: dict[str, dict[int, Handler]] = {}


def handles(*names: str, since: int = 1) -> Callable[[_H], _H]:
    """Declare that a function converts ONNX's operators of these names, from operator set `since` on."""

    def register(handler: _H) -> _H:
        for name in names:
            versions = _HANDLERS.setdefault(name, {})
            assert since not in versions, f"two handlers for {name} since {since}"
            versions[since] = handler
        return handler

    return register


@cache
def _load() -> None:
    for module in sorted(m.name for m in pkgutil.iter_modules(ops.__path__)):
        importlib.import_module(f"{ops.__name__}.{module}")


def find_handler(name: str, domain: str, opset: int) -> Handler | None:
    """The function that converts an operator as the operator set defines it, or None."""
    _load()
    if domain:
        return None
    versions = _HANDLERS.get(name, {})
    fitting = [since for since in versions if since <= opset]
    return versions[max(fitting)] if fitting else None


def supported_operators() -> tuple[str, ...]:
    """Names of all operators with a function here; ONNX's function operators are expanded besides."""
    _load()
    return tuple(sorted(_HANDLERS))
