"""Moving kernels against the references, on every runtime: exact, for every size of element."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mace_cl.graph.ops import Concat, DepthToSpace, Expand, Slice, SpaceToDepth, Split, Tile, Transpose
from mace_cl.graph.ops.base import Operator
from mace_cl.kernels.copy import FAMILY
from support.kernel_runner import check_family, one_node

DTYPES = ["uint8", "bool", "float16", "int16", "float32", "int32", "int64", "float64"]


def numbers(shape: tuple[int, ...], dtype: str = "float32") -> np.ndarray:
    rng = np.random.default_rng(1)
    return rng.integers(0, 2 if dtype == "bool" else 120, shape).astype(dtype)


CASES: list[tuple[Operator, list[tuple[int, ...]]]] = [
    (Transpose((0, 2, 3, 1)), [(1, 3, 17, 19)]),
    (Transpose((0, 3, 1, 2)), [(2, 9, 7, 33)]),
    (Transpose((3, 1, 0, 2, 4)), [(2, 3, 4, 5, 6)]),
    (Transpose((1, 0)), [(40, 300)]),
    (Transpose(()), [()]),
    (Concat(3), [(1, 5, 6, 24), (1, 5, 6, 8), (1, 5, 6, 3)]),
    (Concat(0), [(2, 3), (1, 3)]),
    (Concat(1), [(1, 640, 1), (1, 200, 1)]),
    (Split(1, (1, 3, 2)), [(4, 6, 5)]),
    (Slice((1, 0, 3), (2, 3, 4), (2, 1, -1)), [(5, 3, 7)]),
    (Slice((6,), (7,), (-1,)), [(7,)]),
    (Expand((4, 3, 5)), [(3, 1)]),
    (Expand((2, 2)), [()]),
    (Tile((2, 1, 3)), [(3, 4, 5)]),
    (DepthToSpace(2, "DCR", True), [(2, 3, 5, 12)]),
    (DepthToSpace(2, "CRD", True), [(2, 3, 5, 12)]),
    (DepthToSpace(3, "DCR", False), [(1, 18, 3, 5)]),
    (DepthToSpace(2, "CRD", False), [(1, 12, 3, 5)]),
    (SpaceToDepth(2, True), [(2, 4, 6, 3)]),
    (SpaceToDepth(2, False), [(2, 3, 4, 6)]),
]


@pytest.mark.parametrize(("op", "shapes"), CASES, ids=lambda c: c.describe() if isinstance(c, Operator) else "")
def test_cases(op: Operator, shapes: list[tuple[int, ...]]) -> None:
    check_family(FAMILY, *one_node(op, [numbers(s) for s in shapes]), rtol=0.0)


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_size_of_element(dtype: str) -> None:
    check_family(FAMILY, *one_node(Transpose((0, 2, 1)), [numbers((2, 5, 9), dtype)]), rtol=0.0)
    check_family(FAMILY, *one_node(Concat(1), [numbers((3, 5), dtype), numbers((3, 20), dtype)]), rtol=0.0)


@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_random_transposes(data: st.DataObject) -> None:
    shape = tuple(data.draw(st.lists(st.integers(1, 7), min_size=1, max_size=6)))
    perm = tuple(data.draw(st.permutations(range(len(shape)))))
    check_family(FAMILY, *one_node(Transpose(perm), [numbers(shape)]), rtol=0.0)


def test_work_items_of_a_gpu() -> None:
    gpu = {"kind": "gpu", "max_work_group_size": 64}
    check_family(FAMILY, *one_node(Transpose((0, 2, 3, 1)), [numbers((1, 3, 17, 19))]), rtol=0.0, facts_changes=gpu)
