"""NumPy's broadcasting of shapes, and the checks that operators share."""

from __future__ import annotations

from mace_cl.errors import ShapeError
from mace_cl.graph.ops.base import Operator
from mace_cl.types import Shape, TensorType

FLOATS = "f"
INTEGERS = "iu"
NUMBERS = "fiu"
BOOLS = "b"
ANY = "fiub"
"""Sets of element types, as letters of NumPy's dtype kinds."""

_WORDS = {
    FLOATS: "a floating-point",
    INTEGERS: "an integer",
    NUMBERS: "a number",
    BOOLS: "the bool",
    ANY: "a known",
}


def broadcast_shapes(*shapes: Shape) -> Shape:
    """The shape that all `shapes` broadcast to: aligned at their ends, a dimension of 1 fits any other.

    Raises:
        ShapeError: Two dimensions differ and neither is 1; says the shapes and the dimension.
    """
    rank = max((len(s) for s in shapes), default=0)
    result: list[int] = []
    for axis in range(-rank, 0):
        sizes = {s[axis] for s in shapes if len(s) >= -axis} - {1}
        if len(sizes) > 1:
            listed = " and ".join(str(list(s)) for s in shapes)
            raise ShapeError(f"shapes {listed} do not broadcast: dimension {axis} is one of {sorted(sizes)}")
        result.append(sizes.pop() if sizes else 1)
    return tuple(result)


def check_kind(type_: TensorType, takes: str, op: Operator, index: int) -> None:
    """Refuse input `index` unless its element type is one of `takes` (letters of NumPy's kinds).

    Raises:
        ShapeError: The type is another one.
    """
    if type_.dtype.numpy.kind not in takes:
        raise ShapeError(f"input {index} must be of {_WORDS[takes]} type, not {type_.dtype.value}", where=op.name)


def check_same_dtype(types: dict[int, TensorType], op: Operator) -> None:
    """Refuse inputs (number to type) of different element types.

    Raises:
        ShapeError: Two differ; says which and how.
    """
    if len({t.dtype for t in types.values()}) > 1:
        listed = ", ".join(f"input {i} is {t.dtype.value}" for i, t in types.items())
        raise ShapeError(f"inputs must have the same element type ({listed})", where=op.name)


def check_axis(axis: int, rank: int, op: Operator, name: str = "axis") -> int:
    """An axis that must lie in [0, rank).

    Raises:
        ShapeError: It does not.
    """
    if not 0 <= axis < rank:
        raise ShapeError(f"{name} {axis} is outside of [0, {rank})", where=op.name)
    return axis


def check_listed(values: tuple[object, ...], rank: int, op: Operator, name: str) -> None:
    """Refuse a list with other than one entry for each dimension.

    Raises:
        ShapeError: The lengths differ.
    """
    if len(values) != rank:
        raise ShapeError(f"{name} has {len(values)} entries for {rank} dimensions", where=op.name)
