"""Pooling kernels against the references, on every runtime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from mace_cl.graph.ops import AveragePool, LpPool, MaxPool
from mace_cl.kernels.pool import FAMILY
from support.kernel_runner import check_family, one_node

POOLS: list[Any] = [MaxPool, AveragePool, LpPool]


def floats(shape: tuple[int, ...]) -> np.ndarray:
    return np.random.default_rng(1).standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("pool", POOLS)
@pytest.mark.parametrize("channels", [1, 3, 8, 24, 29])
def test_channels(pool: Any, channels: int) -> None:
    op = pool(kernel=(3, 2), strides=(2, 1), pads=((1, 0), (1, 1)), channels_last=True)
    check_family(FAMILY, *one_node(op, [floats((2, 9, 8, channels))]), rtol=2e-6)


@pytest.mark.parametrize("pool", POOLS)
@pytest.mark.parametrize("rank", [1, 3])
def test_other_ranks(pool: Any, rank: int) -> None:
    extra = {"uncounted": (0,) * rank} if pool is AveragePool else {}
    op = pool(
        kernel=(2,) * rank,
        strides=(2,) * rank,
        pads=((0, 1),) * rank,
        dilations=(1,) * rank,
        channels_last=True,
        **extra,
    )
    check_family(FAMILY, *one_node(op, [floats((2, *(5,) * rank, 10))]), rtol=2e-6)


@pytest.mark.parametrize("counted", [True, False])
def test_what_counts_in_a_mean(counted: bool) -> None:
    op = AveragePool((3, 3), (2, 2), ((1, 2), (1, 2)), count_include_pad=counted, uncounted=(1, 1), channels_last=True)
    check_family(FAMILY, *one_node(op, [floats((1, 6, 6, 9))]), rtol=2e-6)


def test_a_large_window_and_another_norm() -> None:
    check_family(FAMILY, *one_node(LpPool(3, (12, 12), channels_last=True), [floats((1, 12, 12, 40))]), rtol=5e-6)
    check_family(FAMILY, *one_node(AveragePool((12, 12), channels_last=True), [floats((1, 12, 12, 40))]), rtol=5e-6)


def test_a_not_a_number_wins() -> None:
    x = floats((1, 4, 4, 8))
    x[0, 1, 1, 3] = np.nan
    check_family(FAMILY, *one_node(MaxPool((2, 2), channels_last=True), [x]))


@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_random_windows(data: st.DataObject) -> None:
    draw = data.draw
    size = st.integers(1, 3)
    kernel, strides, dilations = ((draw(size), draw(size)) for _ in range(3))
    pads = tuple((draw(st.integers(0, k - 1)), draw(st.integers(0, k - 1))) for k in kernel)
    shape = (draw(size), draw(st.integers(1, 9)), draw(st.integers(1, 9)), draw(st.integers(1, 20)))
    assume(all(n + sum(p) > d * (k - 1) for n, p, d, k in zip(shape[1:3], pads, dilations, kernel, strict=True)))
    for pool in POOLS:
        op = pool(kernel=kernel, strides=strides, pads=pads, dilations=dilations, channels_last=True)
        # A mean over padding alone has no elements: the reference gives 0.
        check_family(FAMILY, *one_node(op, [floats(shape)]), rtol=4e-6)


def test_work_items_of_a_gpu() -> None:
    gpu = {"kind": "gpu", "max_work_group_size": 64}
    check_family(
        FAMILY, *one_node(MaxPool((2, 2), (2, 2), channels_last=True), [floats((1, 9, 7, 20))]), facts_changes=gpu
    )
