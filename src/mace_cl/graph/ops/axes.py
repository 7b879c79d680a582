"""Checks of axes that reductions, softmax and normalisations share."""

from __future__ import annotations

from mace_cl.errors import ShapeError
from mace_cl.graph.ops.base import Operator
from mace_cl.types import Shape, TensorType


def check_axis(op: Operator, x: TensorType, axis: int) -> TensorType:
    """x's type, after its axis was checked; axes of -1 and below count from the end.

    Raises:
        ShapeError: x has no such dimension.
    """
    if not -x.rank <= axis < x.rank:
        raise ShapeError(f"axis {axis} is no dimension of {x}", where=op.name)
    return x


def reduced_shape(op: Operator, x: TensorType, axes: tuple[int, ...], keepdims: bool) -> Shape:
    """The shape without the axes, or with ones in their place.

    Raises:
        ShapeError: An axis is out of range or listed twice.
    """
    for axis in axes:
        check_axis(op, x, axis)
    places = {a % x.rank for a in axes} if axes else set()
    if len(places) != len(axes):
        raise ShapeError(f"axes {axes} list one twice", where=op.name)
    if keepdims:
        return tuple(1 if i in places else d for i, d in enumerate(x.shape))
    return tuple(d for i, d in enumerate(x.shape) if i not in places)
