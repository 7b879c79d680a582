"""What the user sees of a network's inputs and outputs, and the check of the arrays that are handed in."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mace_cl.errors import InputError
from mace_cl.program.plan import Endpoint
from mace_cl.types import DataType, Shape


@dataclass(frozen=True)
class ArraySpec:
    """An input or output: name, shape and type as the model has them (`dtype.numpy` is NumPy's type)."""

    name: str
    shape: Shape
    dtype: DataType

    @classmethod
    def of(cls, end: Endpoint) -> ArraySpec:
        """The spec of an endpoint."""
        return cls(end.name, end.shape, end.dtype)

    def __str__(self) -> str:
        return f"{self.name} {self.dtype.value}{list(self.shape)}"


def check_names(given: Iterable[str], wanted: Sequence[str]) -> None:
    """Compare the names of the arrays with the network's inputs.

    Raises:
        InputError: One is missing or too many.
    """
    names = set(given)
    unknown = sorted(str(n) for n in names - set(wanted))
    if unknown:
        same = [n for n in wanted if n.lower() == unknown[0].lower()]
        near = same or difflib.get_close_matches(unknown[0], wanted, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(wanted) or 'none'}"
        raise InputError(f"no input is called {unknown[0]!r}", hint=hint)
    missing = [n for n in wanted if n not in names]
    if missing:
        raise InputError(f"no array is given for input {missing[0]!r}", hint=f"inputs are: {', '.join(wanted)}")


def check_type(name: str, value: object, dtype: DataType) -> np.ndarray:
    """The array, if it has the input's element type.

    Raises:
        InputError: It is no array, or its type differs.
    """
    if not isinstance(value, np.ndarray):
        if np.isscalar(value) or isinstance(value, Sequence):
            raise InputError(
                f"is a {type(value).__name__}, not a NumPy array",
                where=f"input {name!r}",
                hint=f"use numpy.asarray(x, {dtype.value!r})",
            )
        raise InputError(f"is a {type(value).__name__}, not a NumPy array", where=f"input {name!r}")
    if value.dtype != dtype.numpy:
        raise InputError(
            f"has type {value.dtype}, the network takes {dtype.value}",
            where=f"input {name!r}",
            hint=f"convert it with x.astype({dtype.value!r})",
        )
    return value


def check_arrays(arrays: Mapping[str, object], inputs: Sequence[Endpoint]) -> dict[str, np.ndarray]:
    """Arrays by input name, contiguous, of the right type and shape. No copy is made of one that fits.

    Raises:
        InputError: A name, type or shape is wrong.
    """
    if not isinstance(arrays, Mapping):
        raise InputError(f"the inputs are a {type(arrays).__name__}, not a dictionary of arrays by name")
    check_names(arrays, [e.name for e in inputs])
    checked: dict[str, np.ndarray] = {}
    for end in inputs:
        array = check_type(end.name, arrays[end.name], end.dtype)
        if array.shape != end.shape:
            raise InputError(
                f"has shape {list(array.shape)}, the network takes {list(end.shape)}", where=f"input {end.name!r}"
            )
        checked[end.name] = np.ascontiguousarray(array) if array.ndim else array
    return checked
