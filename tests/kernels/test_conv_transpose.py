"""Transposed convolutions, on every runtime."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from mace_cl.graph.ops import ConvTranspose
from mace_cl.kernels.base import Match
from mace_cl.kernels.conv_transpose import FAMILY
from support.conv_cases import EPILOGUES, Case, tolerance
from support.kernel_runner import check_family, devices, facts_of


@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize(
    ("shape", "channels", "kernel", "op"),
    [
        ((1, 8, 8, 3), 16, (2, 2), ConvTranspose((2, 2))),
        ((1, 7, 9, 5), 13, (3, 3), ConvTranspose((2, 2), ((1, 1), (1, 1)), (1, 1), (1, 1))),
        ((2, 5, 6, 4), 8, (5, 5), ConvTranspose((3, 3), ((2, 2), (2, 1)), (1, 1), (1, 0))),
        ((1, 5, 5, 6), 12, (3, 3), ConvTranspose((1, 1), ((2, 2), (2, 2)), (2, 2), groups=3)),
        ((1, 6, 6, 8), 8, (3, 3), ConvTranspose((2, 2), ((1, 0), (1, 1)), groups=8)),
        ((1, 1, 1, 3), 2, (4, 4), ConvTranspose((5, 5))),
        ((1, 6, 7, 24), 1, (2, 2), ConvTranspose((2, 2))),
        ((1, 9, 4), 5, (4,), ConvTranspose((2,), ((1, 1),), (1,), (0,))),
    ],
)
def test_windows(
    shape: tuple[int, ...], channels: int, kernel: tuple[int, ...], op: ConvTranspose, constant: bool
) -> None:
    case = Case()
    op = ConvTranspose(op.strides, op.pads, op.dilations, op.output_padding, op.groups, True)
    y = case.conv_transpose(case.input(*shape), channels, op, kernel, constant)
    check_family(FAMILY, *case.finish(y), rtol=tolerance(64))


@pytest.mark.parametrize("epilogue", ["relu", "hard_swish"])
def test_epilogues(epilogue: str) -> None:
    case = Case()
    op = ConvTranspose((2, 2), channels_last=True, epilogue=EPILOGUES[epilogue][0])
    y = case.conv_transpose(case.input(1, 5, 4, 7), 11, op, (3, 3))
    check_family(FAMILY, *case.finish(y), rtol=tolerance(28))


def test_every_configuration() -> None:
    case = Case()
    op = ConvTranspose((2, 2), channels_last=True)
    graph, node, feeds = case.finish(case.conv_transpose(case.input(1, 4, 7, 6), 37, op, (3, 3)))
    facts = facts_of(devices()[0])
    match = FAMILY.match(graph, node, facts)
    assert isinstance(match, Match)
    configs = list(FAMILY.space(match, facts))
    assert len({tuple(sorted(c.items())) for c in configs}) == len(configs) > 15
    for i, config in enumerate(configs):
        device = devices()[i % len(devices())]  # each on one runtime: the compilers take their time
        check_family(FAMILY, graph, node, feeds, config=config, device=device, rtol=tolerance(24))


@pytest.mark.parametrize("units", [1, 3, 8])
@pytest.mark.parametrize("kind", ["cpu", "gpu"])
@pytest.mark.parametrize("constant", [True, False])
def test_other_devices(units: int, kind: str, constant: bool) -> None:
    case = Case()
    op = ConvTranspose((2, 2), channels_last=True)
    y = case.conv_transpose(case.input(1, 5, 4, 7), 19, op, (3, 3), constant)
    changes = {"compute_units": units, "kind": kind, "vector_floats": 16, "registers": 32}
    check_family(FAMILY, *case.finish(y), rtol=tolerance(28), facts_changes=changes)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    n=st.integers(1, 2), h=st.integers(1, 6), w=st.integers(1, 6), ci=st.integers(1, 6), co=st.integers(1, 12),
    groups=st.integers(1, 2), kernel=st.tuples(st.integers(1, 4), st.integers(1, 4)),
    strides=st.tuples(st.integers(1, 3), st.integers(1, 3)), dilations=st.tuples(st.integers(1, 2), st.integers(1, 2)),
    pads=st.tuples(*[st.tuples(st.integers(0, 1), st.integers(0, 1))] * 2), extra=st.integers(0, 1),
)  # fmt: skip
def test_random_shapes(
    n: int, h: int, w: int, ci: int, co: int, groups: int, kernel: tuple[int, int], strides: tuple[int, int],
    dilations: tuple[int, int], pads: tuple[tuple[int, int], tuple[int, int]], extra: int,
) -> None:  # fmt: skip
    output_padding = tuple(extra * (s > 1) for s in strides)
    sizes = [
        s * (i - 1) + e + d * (k - 1) + 1 - sum(p)
        for i, k, s, d, p, e in zip((h, w), kernel, strides, dilations, pads, output_padding, strict=True)
    ]
    assume(min(sizes) > 0)
    case = Case(n * h * w * ci * co)
    op = ConvTranspose(strides, pads, dilations, output_padding, groups, True)
    y = case.conv_transpose(case.input(n, h, w, ci * groups), co * groups, op, kernel)
    check_family(FAMILY, *case.finish(y), rtol=tolerance(ci * kernel[0] * kernel[1]))
