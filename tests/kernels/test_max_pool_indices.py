"""Pooling with places against the reference, exactly, on every runtime."""

from __future__ import annotations

import numpy as np
import pytest

from mace_cl.graph.ops import MaxPoolWithIndices
from mace_cl.kernels import max_pool_indices
from support.kernel_runner import check_family, one_node

CASES = [
    ((2, 3, 11), MaxPoolWithIndices((3,), (2,), ((1, 1),), (1,))),
    ((1, 2, 9, 10), MaxPoolWithIndices((2, 2), (2, 2))),
    ((2, 2, 9, 10), MaxPoolWithIndices((3, 2), (1, 2), ((1, 1), (0, 1)), (2, 1))),
    ((2, 2, 9, 10), MaxPoolWithIndices((3, 2), (2, 1), ((1, 1), (1, 0)), column_major=True)),
    ((1, 2, 5, 6, 7), MaxPoolWithIndices((2, 3, 2), (1, 2, 2), ((0, 1), (1, 1), (0, 0)), (1, 1, 2))),
    ((1, 2, 5, 6, 7), MaxPoolWithIndices((2, 2, 2), (2, 2, 2), ((0, 0),) * 3, (1, 1, 1), True)),
    ((1, 1, 3, 3), MaxPoolWithIndices((1, 1), (1, 1), ((2, 2), (2, 2)))),
]


@pytest.mark.parametrize(("shape", "op"), CASES)
@pytest.mark.parametrize("dtype", ["float32", "int8", "uint8", "int64"])
def test_windows(shape: tuple[int, ...], op: MaxPoolWithIndices, dtype: str) -> None:
    x = np.random.default_rng(1).integers(-4 if dtype != "uint8" else 0, 5, shape).astype(dtype)
    check_family(max_pool_indices.FAMILY, *one_node(op, [x]), rtol=0.0)


def test_work_items_of_a_gpu() -> None:
    x = np.random.default_rng(1).standard_normal((2, 3, 9, 10)).astype(np.float32)
    gpu = {"kind": "gpu", "max_work_group_size": 64}
    op = MaxPoolWithIndices((3, 3), (2, 2), ((1, 1), (1, 1)))
    check_family(max_pool_indices.FAMILY, *one_node(op, [x]), rtol=0.0, facts_changes=gpu)
