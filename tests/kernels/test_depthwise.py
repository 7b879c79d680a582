"""Depthwise convolutions, on every runtime."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mace_cl.kernels.base import Match, Refusal
from mace_cl.kernels.depthwise import FAMILY
from support.conv_cases import EPILOGUES, Case, tolerance
from support.kernel_runner import check_family, devices, facts_of


@pytest.mark.parametrize(
    ("shape", "kernel", "strides", "dilations", "pads"),
    [
        ((1, 8, 8, 16), (3, 3), (1, 1), (1, 1), None),
        ((1, 8, 9, 13), (3, 3), (2, 2), (1, 1), ((0, 1), (0, 1))),
        ((2, 9, 7, 24), (5, 5), (1, 1), (1, 1), None),
        ((1, 9, 11, 3), (5, 5), (2, 2), (1, 1), ((1, 2), (2, 1))),
        ((1, 9, 9, 6), (3, 3), (1, 1), (2, 3), None),
        ((1, 6, 10, 8), (1, 7), (1, 2), (1, 1), None),
        ((1, 7, 7, 9), (7, 7), (1, 1), (1, 1), ((0, 0), (0, 0))),
        ((1, 4, 4, 10), (3, 3), (3, 3), (1, 1), ((3, 0), (0, 3))),
        ((1, 12, 9), (3,), (1,), (1,), None),
    ],
)
def test_windows(
    shape: tuple[int, ...],
    kernel: tuple[int, ...],
    strides: tuple[int, ...],
    dilations: tuple[int, ...],
    pads: tuple[tuple[int, int], ...] | None,
) -> None:
    case = Case()
    y = case.conv(
        case.input(*shape), shape[-1], kernel, strides=strides, dilations=dilations, pads=pads, groups=shape[-1]
    )
    check_family(FAMILY, *case.finish(y), rtol=tolerance(49))


@pytest.mark.parametrize("multiplier", [2, 3, 8])
def test_several_outputs_for_a_channel(multiplier: int) -> None:
    case = Case()
    y = case.conv(case.input(1, 6, 7, 5), 5 * multiplier, (3, 3), groups=5)
    check_family(FAMILY, *case.finish(y), rtol=tolerance(9))


@pytest.mark.parametrize("epilogue", EPILOGUES)
@pytest.mark.parametrize("channels", [3, 20])
def test_epilogues(epilogue: str, channels: int) -> None:
    case = Case()
    y = case.conv(case.input(1, 5, 5, channels), channels, (3, 3), groups=channels, epilogue=epilogue)
    check_family(FAMILY, *case.finish(y), rtol=tolerance(9))


def test_every_configuration() -> None:
    case = Case()
    graph, node, feeds = case.finish(case.conv(case.input(1, 7, 9, 21), 21, (3, 3), groups=21, epilogue="residual"))
    facts = facts_of(devices()[0])
    match = FAMILY.match(graph, node, facts)
    assert isinstance(match, Match)
    configs = list(FAMILY.space(match, facts))
    assert len({tuple(sorted(c.items())) for c in configs}) == len(configs) >= 8
    for i, config in enumerate(configs):
        device = devices()[i % len(devices())]  # each on one runtime: the compilers take their time
        check_family(FAMILY, graph, node, feeds, config=config, device=device, rtol=tolerance(9))


@pytest.mark.parametrize("units", [1, 3, 8])
@pytest.mark.parametrize("kind", ["cpu", "gpu"])
def test_other_devices(units: int, kind: str) -> None:
    case = Case()
    y = case.conv(case.input(1, 9, 7, 37), 37, (3, 3), groups=37, epilogue="relu6")
    changes = {"compute_units": units, "kind": kind, "vector_floats": 16, "registers": 32}
    check_family(FAMILY, *case.finish(y), rtol=tolerance(9), facts_changes=changes)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    n=st.integers(1, 2), h=st.integers(1, 12), w=st.integers(1, 12), channels=st.integers(2, 30),
    kernel=st.tuples(st.integers(1, 5), st.integers(1, 5)), strides=st.tuples(st.integers(1, 3), st.integers(1, 3)),
    dilations=st.tuples(st.integers(1, 2), st.integers(1, 2)), epilogue=st.sampled_from(sorted(EPILOGUES)),
    bias=st.booleans(),
)  # fmt: skip
def test_random_shapes(
    n: int, h: int, w: int, channels: int, kernel: tuple[int, int], strides: tuple[int, int],
    dilations: tuple[int, int], epilogue: str, bias: bool,
) -> None:  # fmt: skip
    case = Case(n * h * w * channels)
    y = case.conv(
        case.input(n, h, w, channels), channels, kernel, strides=strides, dilations=dilations, groups=channels,
        epilogue=epilogue, bias=bias,
    )  # fmt: skip
    check_family(FAMILY, *case.finish(y), rtol=tolerance(25))


def test_refuses_what_is_not_depthwise() -> None:
    case = Case()
    graph, node, _ = case.finish(case.conv(case.input(1, 5, 5, 8), 8, (3, 3), groups=4))
    found = FAMILY.match(graph, node, facts_of(devices()[0]))
    assert isinstance(found, Refusal)
    assert "one input channel" in found.reason
