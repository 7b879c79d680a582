"""The rules of broadcasting are NumPy's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mace_cl.errors import ShapeError
from mace_cl.graph.ops.broadcast import broadcast_shapes

shapes = st.lists(st.sampled_from([0, 1, 1, 2, 3]), max_size=4).map(tuple)


@settings(max_examples=50)
@given(st.lists(shapes, min_size=1, max_size=3))
def test_same_as_numpy(parts: list[tuple[int, ...]]) -> None:
    try:
        expected = np.broadcast_shapes(*parts)
    except ValueError:
        with pytest.raises(ShapeError, match="do not broadcast"):
            broadcast_shapes(*parts)
    else:
        assert broadcast_shapes(*parts) == expected


@settings(max_examples=50)
@given(shapes, shapes)
def test_order_does_not_matter(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    try:
        expected = broadcast_shapes(a, b)
    except ShapeError:
        with pytest.raises(ShapeError):
            broadcast_shapes(b, a)
    else:
        assert broadcast_shapes(b, a) == expected


def test_message_says_shapes_and_dimension() -> None:
    with pytest.raises(ShapeError, match=r"\[2, 3\] and \[4\] do not broadcast: dimension -1 is one of \[3, 4\]"):
        broadcast_shapes((2, 3), (4,))
