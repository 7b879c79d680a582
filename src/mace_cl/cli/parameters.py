"""Command-line values that several commands read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mace_cl.errors import UsageError

Shape = tuple[int, ...]


def split_assignment(text: str, flag: str) -> tuple[str, str]:
    """`name=value` in its two parts; the last = separates, since names may hold one.

    Raises:
        UsageError: There is no = or an empty part.
    """
    name, _, value = text.rpartition("=")
    if not name or not value:
        raise UsageError(f"{text!r} is not of the form name=value", where=flag)
    return name, value


def parse_shapes(texts: Sequence[str], flag: str = "--input-shape") -> dict[str, Shape]:
    """`name=1,3,640,640` for each input.

    Raises:
        UsageError: A text is malformed, a dimension is not positive, or a name is given twice.
    """
    shapes: dict[str, Shape] = {}
    for text in texts:
        name, value = split_assignment(text, flag)
        try:
            shape = tuple(int(d) for d in value.replace("x", ",").split(","))
        except ValueError:
            raise UsageError(f"{value!r} is not a list of integers such as 1,3,640,640", where=flag) from None
        if any(d < 1 for d in shape):
            raise UsageError(f"{value!r} has a dimension below 1", where=flag)
        if name in shapes:
            raise UsageError(f"{name!r} is given twice", where=flag)
        shapes[name] = shape
    return shapes


def parse_ranges(texts: Sequence[str], flag: str = "--input-range") -> dict[str, tuple[float, float]]:
    """`name=-1,1` for each input.

    Raises:
        UsageError: A text is not a name and two numbers in order.
    """
    ranges: dict[str, tuple[float, float]] = {}
    for text in texts:
        name, value = split_assignment(text, flag)
        try:
            low, high = (float(v) for v in value.split(","))
        except ValueError:
            raise UsageError(f"{value!r} is not two numbers such as -1,1", where=flag) from None
        if not low <= high:
            raise UsageError(f"{value!r} is not in order", where=flag)
        ranges[name] = (low, high)
    return ranges


def load_arrays(texts: Sequence[str], flag: str) -> dict[str, np.ndarray]:
    """`name=file.npy` for each input.

    Raises:
        UsageError: A file cannot be read as an array.
    """
    arrays = {}
    for text in texts:
        name, value = split_assignment(text, flag)
        arrays[name] = load_npy(Path(value), flag)
    return arrays


def load_npy(path: Path, flag: str) -> np.ndarray:
    """The array of a .npy file; nothing is unpickled.

    Raises:
        UsageError: It is missing or not an array.
    """
    try:
        with path.open("rb") as file:
            loaded = np.lib.format.read_array(file, allow_pickle=False)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}", where=flag) from None
    except (ValueError, EOFError, SyntaxError, TypeError, MemoryError) as error:
        raise UsageError(f"{path} is not a .npy file: {error}", where=flag) from None
    array: np.ndarray = loaded
    return array
