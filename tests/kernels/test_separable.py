"""Fused separable blocks against the reference of their convolutions, on every runtime."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mace_cl.graph import Graph
from mace_cl.kernels.base import Match, Refusal
from mace_cl.kernels.separable import FAMILIES
from support.conv_cases import EPILOGUES, Case, tolerance
from support.kernel_runner import check_family, devices, facts_of

DEPTHWISE_POINTWISE, INVERTED_RESIDUAL = FAMILIES


def build(
    shape: tuple[int, ...],
    wide: int,
    channels: int,
    kernel: tuple[int, ...] = (3, 3),
    strides: tuple[int, ...] = (1, 1),
    dilations: tuple[int, ...] | None = None,
    pads: tuple[tuple[int, int], ...] | None = None,
    epilogues: tuple[str, str, str] = ("relu6", "relu6", "none"),
    residual: bool = False,
) -> Case:
    """A block; without an expansion where `wide` is 0."""
    case = Case(sum(shape) + wide + channels)
    x = y = case.input(*shape)
    if wide:
        y = case.conv(y, wide, (1,) * len(kernel), epilogue=epilogues[0])
    y = case.conv(
        y, y.shape[-1], kernel, strides=strides, dilations=dilations, pads=pads, groups=y.shape[-1],
        epilogue=epilogues[1],
    )  # fmt: skip
    last = {"epilogue": "residual", "residual": x} if residual else {"epilogue": epilogues[2]}
    case.graph.add_output("y", case.conv(y, channels, (1,) * len(kernel), **last))  # type: ignore[arg-type]
    return case


def check(case: Case, wide: int, **options: object) -> None:
    family = INVERTED_RESIDUAL if wide else DEPTHWISE_POINTWISE
    check_family(family, case.graph, case.graph.nodes[0], case.feeds, rtol=tolerance(300), **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("wide", [0, 24, 37])
@pytest.mark.parametrize(
    ("shape", "channels", "kernel", "strides", "dilations", "pads"),
    [
        ((1, 8, 8, 16), 24, (3, 3), (1, 1), None, None),
        ((1, 9, 8, 5), 9, (3, 3), (2, 2), None, ((0, 1), (0, 1))),
        ((2, 7, 9, 13), 8, (5, 5), (1, 1), None, None),
        ((2, 9, 9, 6), 30, (5, 5), (2, 2), None, ((2, 2), (1, 2))),
        ((1, 9, 7, 12), 1, (3, 3), (1, 1), (2, 2), None),
        ((3, 1, 1, 3), 2, (3, 3), (1, 1), None, None),
        ((1, 3, 11, 2), 4, (1, 5), (1, 3), None, None),
        ((1, 11, 6), 7, (3,), (1,), None, None),
    ],
)
def test_windows(
    wide: int,
    shape: tuple[int, ...],
    channels: int,
    kernel: tuple[int, ...],
    strides: tuple[int, ...],
    dilations: tuple[int, ...] | None,
    pads: tuple[tuple[int, int], ...] | None,
) -> None:
    check(build(shape, wide, channels, kernel, strides, dilations, pads), wide)


@pytest.mark.parametrize("wide", [0, 20])
@pytest.mark.parametrize("epilogue", EPILOGUES)
def test_every_epilogue_in_each_place(wide: int, epilogue: str) -> None:
    check(build((1, 6, 5, 10), wide, 12, epilogues=(epilogue, epilogue, epilogue)), wide)


@pytest.mark.parametrize("wide", [0, 20])
def test_residual(wide: int) -> None:
    check(build((2, 6, 5, 12), wide, 12, residual=True), wide)


@pytest.mark.parametrize("wide", [0, 21])
def test_every_configuration(wide: int) -> None:
    case = build((1, 9, 8, 12), wide, 12, residual=True)
    family = INVERTED_RESIDUAL if wide else DEPTHWISE_POINTWISE
    facts = facts_of(devices()[0])
    match = family.match(case.graph, case.graph.nodes[0], facts)
    assert isinstance(match, Match)
    configs = list(family.space(match, facts))
    assert len({tuple(sorted(c.items())) for c in configs}) == len(configs) > 8
    for i, config in enumerate(configs):
        check(case, wide, config=config, device=devices()[i % len(devices())])


@pytest.mark.parametrize("wide", [0, 21])
@pytest.mark.parametrize("units", [1, 3, 8])
@pytest.mark.parametrize("l2_bytes", [1024, 1 << 20])
def test_other_devices(wide: int, units: int, l2_bytes: int) -> None:
    changes = {"compute_units": units, "vector_floats": 16, "registers": 32, "l2_bytes": l2_bytes}
    check(build((2, 9, 8, 12), wide, 12, residual=True), wide, facts_changes=changes)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    shape=st.tuples(st.integers(1, 2), st.integers(1, 10), st.integers(1, 10), st.integers(2, 20)),
    wide=st.integers(0, 30).filter(lambda n: n != 1), channels=st.integers(1, 20), kernel=st.sampled_from([3, 5]),
    stride=st.integers(1, 2), pads=st.tuples(*[st.tuples(st.integers(2, 3), st.integers(2, 3))] * 2),
)  # fmt: skip
def test_random_shapes(
    shape: tuple[int, ...], wide: int, channels: int, kernel: int, stride: int,
    pads: tuple[tuple[int, int], tuple[int, int]],
) -> None:  # fmt: skip
    check(build(shape, wide, channels, (kernel, kernel), (stride, stride), None, pads), wide)


def refusal(graph: Graph, wide: int, **changes: object) -> str:
    family = INVERTED_RESIDUAL if wide else DEPTHWISE_POINTWISE
    found = family.match(graph, graph.nodes[0], replace(facts_of(devices()[0]), **changes))  # type: ignore[arg-type]
    assert isinstance(found, Refusal)
    return found.reason


@pytest.mark.parametrize("wide", [0, 20])
def test_refusals_say_why(wide: int) -> None:
    case = build((1, 6, 5, 10), wide, 12)
    assert "CPUs" in refusal(case.graph, wide, kind="gpu")
    case.graph.add_output("middle", case.graph.nodes[0].output)
    assert "alone" in refusal(case.graph, wide)
