"""Transposed matrices against the reference, exactly, on every runtime."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mace_cl.graph.ops import Transpose
from mace_cl.kernels import transpose
from mace_cl.kernels.base import Refusal
from mace_cl.targets.facts import DeviceFacts
from support.kernel_runner import check_family, one_node

GPU = {"kind": "gpu", "max_work_group_size": 64}


def counted(shape: tuple[int, ...], dtype: str = "float32") -> np.ndarray:
    return np.arange(np.prod(shape)).reshape(shape).astype(dtype)


@pytest.mark.parametrize(
    ("shape", "perm"),
    [
        ((1, 3, 20, 21), (0, 2, 3, 1)),
        ((2, 20, 21, 3), (0, 3, 1, 2)),
        ((2, 16, 9, 11), (0, 2, 3, 1)),
        ((70, 8), (1, 0)),
        ((2, 3, 130, 75), (0, 1, 3, 2)),
        ((1, 64, 3, 70), (2, 3, 0, 1)),
        ((9, 1, 17), (2, 1, 0)),
        ((2, 7, 3), (0, 2, 1)),
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "uint8", "float16", "int64"])
def test_shapes(shape: tuple[int, ...], perm: tuple[int, ...], dtype: str) -> None:
    check_family(transpose.FAMILY, *one_node(Transpose(perm), [counted(shape, dtype)]), rtol=0.0)
    check_family(transpose.FAMILY, *one_node(Transpose(perm), [counted(shape, dtype)]), rtol=0.0, facts_changes=GPU)


@settings(max_examples=20, deadline=None)
@given(
    count=st.integers(1, 3),
    rows=st.integers(2, 40),
    columns=st.integers(2, 40),
    dtype=st.sampled_from(["uint8", "float32", "int64"]),
)
def test_random_matrices(count: int, rows: int, columns: int, dtype: str) -> None:
    x = counted((count, rows, columns), dtype)
    check_family(transpose.FAMILY, *one_node(Transpose((0, 2, 1)), [x]), rtol=0.0)


@pytest.mark.parametrize(
    ("shape", "perm"), [((2, 3, 4), (1, 0, 2)), ((2, 3, 4), (2, 1, 0)), ((2, 3, 4, 5), (0, 3, 2, 1)), ((2, 3), (0, 1))]
)
def test_refused(shape: tuple[int, ...], perm: tuple[int, ...]) -> None:
    graph, node, _ = one_node(Transpose(perm), [counted(shape)])
    assert isinstance(transpose.FAMILY.match(graph, node, DeviceFacts()), Refusal)
