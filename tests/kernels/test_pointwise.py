"""1x1 convolutions and products with constant matrices, on every runtime."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mace_cl.graph.ops import Conv, MatMul
from mace_cl.kernels.base import Match, Refusal
from mace_cl.kernels.pointwise import FAMILY
from support.conv_cases import EPILOGUES, Case, tolerance
from support.kernel_runner import check_family, devices, facts_of, one_node

RNG = np.random.default_rng(1)


def array(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize(
    ("shape", "channels", "stride"),
    [
        ((1, 7, 7, 16), 24, 1),
        ((1, 14, 14, 24), 144, 1),
        ((2, 9, 7, 5), 13, 2),
        ((1, 1, 1, 3), 1, 1),
        ((3, 1, 5, 1), 7, 1),
        ((1, 8, 8, 33), 6, 3),
        ((1, 11, 6), 9, 1),
        ((1, 11, 6), 9, 2),
    ],
)
def test_convolution(shape: tuple[int, ...], channels: int, stride: int) -> None:
    case, rank = Case(), len(shape) - 2
    y = case.conv(case.input(*shape), channels, (1,) * rank, strides=(stride,) * rank)
    check_family(FAMILY, *case.finish(y), rtol=tolerance(shape[-1]))


@pytest.mark.parametrize("epilogue", EPILOGUES)
@pytest.mark.parametrize("channels", [3, 20])
def test_epilogues(epilogue: str, channels: int) -> None:
    case = Case()
    y = case.conv(case.input(1, 5, 5, 12), channels, (1, 1), epilogue=epilogue)
    check_family(FAMILY, *case.finish(y), rtol=tolerance(12))


@pytest.mark.parametrize("bias", [None, (), (1,), (37,), (1, 37)])
@pytest.mark.parametrize("transposed", [False, True])
def test_fully_connected(bias: tuple[int, ...] | None, transposed: bool) -> None:
    inputs = [array(1, 100), array(*((37, 100) if transposed else (100, 37))), None if bias is None else array(*bias)]
    check_family(FAMILY, *one_node(MatMul(transpose_b=transposed), inputs, (1, 2)), rtol=tolerance(100))


def test_rows_of_several_dimensions() -> None:
    check_family(FAMILY, *one_node(MatMul(), [array(2, 3, 5, 8), array(8, 11)], (1,)), rtol=tolerance(8))


def test_every_configuration() -> None:
    case = Case()
    graph, node, feeds = case.finish(case.conv(case.input(1, 7, 5, 10), 45, (1, 1), epilogue="residual"))
    facts = facts_of(devices()[0])
    match = FAMILY.match(graph, node, facts)
    assert isinstance(match, Match)
    configs = list(FAMILY.space(match, facts))
    assert len({tuple(sorted(c.items())) for c in configs}) == len(configs) > 20
    assert configs[0] == FAMILY.default(match, facts)
    for i, config in enumerate(configs):
        device = devices()[i % len(devices())]  # each on one runtime: the compilers take their time
        check_family(FAMILY, graph, node, feeds, config=config, device=device, rtol=tolerance(10))


@pytest.mark.parametrize("units", [1, 3, 8])
@pytest.mark.parametrize("kind", ["cpu", "gpu"])
def test_other_devices(units: int, kind: str) -> None:
    case = Case()
    y = case.conv(case.input(1, 9, 7, 10), 45, (1, 1), epilogue="relu6")
    changes = {"compute_units": units, "kind": kind, "vector_floats": 16, "registers": 32}
    check_family(FAMILY, *case.finish(y), rtol=tolerance(10), facts_changes=changes)


def test_chunks_of_rows() -> None:
    case = Case()
    y = case.conv(case.input(1, 20, 20, 16), 24, (1, 1))
    check_family(FAMILY, *case.finish(y), rtol=tolerance(16), facts_changes={"l2_bytes": 4096})


@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    n=st.integers(1, 2), h=st.integers(1, 9), w=st.integers(1, 9), ci=st.integers(1, 40), co=st.integers(1, 40),
    strides=st.tuples(st.integers(1, 3), st.integers(1, 3)), epilogue=st.sampled_from(sorted(EPILOGUES)),
    bias=st.booleans(),
)  # fmt: skip
def test_random_shapes(
    n: int, h: int, w: int, ci: int, co: int, strides: tuple[int, int], epilogue: str, bias: bool
) -> None:
    case = Case(n * h * w * ci * co)
    y = case.conv(case.input(n, h, w, ci), co, (1, 1), strides=strides, epilogue=epilogue, bias=bias)
    check_family(FAMILY, *case.finish(y), rtol=tolerance(ci))


def test_refusals_say_why() -> None:
    def refusal(op: Conv | MatMul, inputs: list[np.ndarray | None], constants: tuple[int, ...]) -> str:
        graph, node, _ = one_node(op, inputs, constants)
        found = FAMILY.match(graph, node, facts_of(devices()[0]))
        assert isinstance(found, Refusal)
        return found.reason

    conv = Conv(channels_last=True)
    assert "not constant" in refusal(conv, [array(1, 4, 4, 3), array(5, 3, 1, 1)], ())
    assert "channels last" in refusal(Conv(), [array(1, 3, 4, 4), array(5, 3, 1, 1)], (1,))
    assert "1x1" in refusal(conv, [array(1, 4, 4, 3), array(5, 3, 3, 3)], (1,))
    assert "bias" in refusal(conv, [array(1, 4, 4, 3), array(5, 3, 1, 1), array(5)], (1,))
    assert "matrix" in refusal(MatMul(), [array(2, 4, 3), array(2, 3, 5)], (1,))
    assert "transposed" in refusal(MatMul(transpose_a=True), [array(3, 4), array(3, 5)], (1,))
    double = [array(1, 4).astype(np.float64), array(4, 4).astype(np.float64)]
    assert "float64" in refusal(MatMul(), double, (1,))
