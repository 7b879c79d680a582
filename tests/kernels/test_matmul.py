"""Products of matrices that are not constant, on every runtime."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mace_cl.graph.ops import Add, MatMul
from mace_cl.graph.ops.expression import Expression
from mace_cl.kernels.base import Match, Refusal
from mace_cl.kernels.matmul import FAMILY
from support.conv_cases import tolerance
from support.kernel_runner import check_family, devices, facts_of, one_node

RNG = np.random.default_rng(2)


def array(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def operand(shape: tuple[int, ...], transposed: bool) -> np.ndarray:
    return array(*shape[:-2], shape[-1], shape[-2]) if transposed else array(*shape)


@pytest.mark.parametrize("transpose_a", [False, True])
@pytest.mark.parametrize("transpose_b", [False, True])
@pytest.mark.parametrize(
    ("a", "b", "bias"),
    [
        ((5, 7), (7, 9), None),
        ((1, 1), (1, 1), ()),
        ((2, 3, 5, 7), (3, 7, 9), (9,)),
        ((2, 3, 5, 70), (1, 70, 33), (5, 1)),
        ((4, 5, 7), (7, 9), (1,)),
        ((7, 6), (4, 6, 3), (4, 1, 3)),
        ((5, 1, 4, 6), (3, 6, 2), (5, 3, 4, 2)),
        ((12, 20, 16), (12, 16, 30), None),
    ],
)
def test_shapes(
    a: tuple[int, ...], b: tuple[int, ...], bias: tuple[int, ...] | None, transpose_a: bool, transpose_b: bool
) -> None:
    inputs = [operand(a, transpose_a), operand(b, transpose_b), None if bias is None else array(*bias)]
    check_family(FAMILY, *one_node(MatMul(transpose_a, transpose_b), inputs), rtol=tolerance(a[-1]))


def test_epilogue_with_a_residual() -> None:
    op = MatMul(epilogue=Expression(2, ((Add(), (0, 1)),)))
    inputs = [array(2, 5, 6), array(2, 6, 11), None, array(2, 5, 11)]
    check_family(FAMILY, *one_node(op, inputs), rtol=tolerance(6))


@pytest.mark.parametrize("transpose_b", [False, True])
def test_every_configuration(transpose_b: bool) -> None:
    graph, node, feeds = one_node(MatMul(transpose_b=transpose_b), [array(3, 13, 8), operand((3, 8, 37), transpose_b)])
    facts = facts_of(devices()[0])
    match = FAMILY.match(graph, node, facts)
    assert isinstance(match, Match)
    configs = list(FAMILY.space(match, facts))
    assert len({tuple(sorted(c.items())) for c in configs}) == len(configs) > 20
    for i, config in enumerate(configs):
        device = devices()[i % len(devices())]  # each on one runtime: the compilers take their time
        check_family(FAMILY, graph, node, feeds, config=config, device=device, rtol=tolerance(8))


@pytest.mark.parametrize("units", [1, 3, 8])
@pytest.mark.parametrize("kind", ["cpu", "gpu"])
@pytest.mark.parametrize("transpose", [False, True])
def test_other_devices(units: int, kind: str, transpose: bool) -> None:
    inputs = [operand((3, 13, 8), transpose), operand((3, 8, 37), transpose)]
    changes = {"compute_units": units, "kind": kind, "vector_floats": 16, "registers": 32, "l2_bytes": 1024}
    check_family(FAMILY, *one_node(MatMul(transpose, transpose), inputs), rtol=tolerance(8), facts_changes=changes)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    batch=st.lists(st.integers(1, 3), max_size=2), m=st.integers(1, 20), n=st.integers(1, 40), k=st.integers(1, 30),
    shared=st.sampled_from(["a", "b", "neither"]), transposes=st.tuples(st.booleans(), st.booleans()),
)  # fmt: skip
def test_random_shapes(batch: list[int], m: int, n: int, k: int, shared: str, transposes: tuple[bool, bool]) -> None:
    left = [1] * len(batch) if shared == "a" else batch
    right = [] if shared == "b" else batch
    inputs = [operand((*left, m, k), transposes[0]), operand((*right, k, n), transposes[1])]
    check_family(FAMILY, *one_node(MatMul(*transposes), inputs), rtol=tolerance(k))


def test_refuses_integers() -> None:
    graph, node, _ = one_node(MatMul(), [array(2, 3).astype(np.int32), array(3, 2).astype(np.int32)])
    found = FAMILY.match(graph, node, facts_of(devices()[0]))
    assert isinstance(found, Refusal)
    assert "int32" in found.reason
