"""Direct convolutions, on every runtime."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mace_cl.kernels.base import Match
from mace_cl.kernels.conv import FAMILY
from support.conv_cases import EPILOGUES, Case, tolerance
from support.kernel_runner import check_family, devices, facts_of

WINDOWS = [
    # shape, channels, kernel, strides, dilations, pads, groups
    ((1, 16, 16, 3), 16, (3, 3), (2, 2), (1, 1), ((0, 1), (0, 1)), 1),
    ((1, 12, 12, 1), 8, (5, 5), (2, 2), (1, 1), ((1, 2), (2, 1)), 1),
    ((1, 15, 15, 3), 20, (7, 7), (2, 2), (1, 1), ((3, 3), (3, 3)), 1),
    ((1, 7, 9, 5), 13, (3, 3), (1, 1), (1, 1), None, 1),
    ((2, 9, 7, 17), 40, (3, 3), (1, 1), (1, 1), None, 1),
    ((1, 9, 9, 6), 12, (3, 3), (1, 1), (2, 2), None, 3),
    ((1, 6, 6, 8), 8, (3, 3), (1, 1), (1, 1), None, 8),
    ((1, 6, 6, 12), 30, (1, 1), (1, 1), (1, 1), None, 2),
    ((1, 5, 5, 4), 1, (3, 3), (1, 1), (1, 1), None, 1),
    ((1, 3, 3, 2), 3, (5, 5), (1, 1), (1, 1), ((4, 4), (4, 4)), 1),
    ((1, 8, 1, 4), 9, (3, 1), (1, 1), (1, 1), None, 1),
    ((1, 20, 6), 10, (3,), (2,), (1,), None, 1),
    ((2, 5, 6, 4, 3), 10, (3, 3, 3), (1, 1, 1), (1, 1, 1), None, 1),
    ((1, 7, 5, 6, 6), 8, (2, 3, 1), (2, 1, 2), (2, 1, 1), ((1, 0), (1, 1), (0, 0)), 2),
    ((2, 4, 3, 3, 5), 7, (1, 1, 1), (1, 1, 1), (1, 1, 1), None, 1),
]


@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize(("shape", "channels", "kernel", "strides", "dilations", "pads", "groups"), WINDOWS)
def test_windows(
    shape: tuple[int, ...],
    channels: int,
    kernel: tuple[int, ...],
    strides: tuple[int, ...],
    dilations: tuple[int, ...],
    pads: tuple[tuple[int, int], ...] | None,
    groups: int,
    constant: bool,
) -> None:
    case = Case()
    y = case.conv(
        case.input(*shape), channels, kernel, strides=strides, dilations=dilations, pads=pads, groups=groups,
        constant=constant,
    )  # fmt: skip
    check_family(FAMILY, *case.finish(y), rtol=tolerance(160))


@pytest.mark.parametrize("epilogue", EPILOGUES)
@pytest.mark.parametrize("channels", [3, 20])
def test_epilogues(epilogue: str, channels: int) -> None:
    case = Case()
    y = case.conv(case.input(1, 5, 6, 4), channels, (3, 3), epilogue=epilogue)
    check_family(FAMILY, *case.finish(y), rtol=tolerance(36))


@pytest.mark.parametrize("channels_in", [3, 20])
def test_every_configuration(channels_in: int) -> None:
    case = Case()
    x = case.input(1, 5, 7, channels_in)
    graph, node, feeds = case.finish(case.conv(x, 45, (3, 3), epilogue="residual"))
    facts = facts_of(devices()[0])
    match = FAMILY.match(graph, node, facts)
    assert isinstance(match, Match)
    configs = list(FAMILY.space(match, facts))
    assert len({tuple(sorted(c.items())) for c in configs}) == len(configs) > 20
    assert configs[0] == FAMILY.default(match, facts)
    for i, config in enumerate(configs):
        device = devices()[i % len(devices())]  # each on one runtime: the compilers take their time
        check_family(FAMILY, graph, node, feeds, config=config, device=device, rtol=tolerance(180))


@pytest.mark.parametrize("units", [1, 3, 8])
@pytest.mark.parametrize("kind", ["cpu", "gpu"])
@pytest.mark.parametrize("constant", [True, False])
def test_other_devices(units: int, kind: str, constant: bool) -> None:
    case = Case()
    y = case.conv(case.input(1, 9, 7, 10), 45, (3, 3), epilogue="relu6", constant=constant)
    changes = {"compute_units": units, "kind": kind, "vector_floats": 16, "registers": 32, "l2_bytes": 4096}
    check_family(FAMILY, *case.finish(y), rtol=tolerance(90), facts_changes=changes)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    n=st.integers(1, 2), h=st.integers(1, 10), w=st.integers(1, 10), ci=st.integers(1, 9), co=st.integers(1, 14),
    groups=st.integers(1, 3), kernel=st.tuples(st.integers(1, 5), st.integers(1, 5)),
    strides=st.tuples(st.integers(1, 3), st.integers(1, 3)), dilations=st.tuples(st.integers(1, 2), st.integers(1, 2)),
    epilogue=st.sampled_from(sorted(EPILOGUES)), bias=st.booleans(),
)  # fmt: skip
def test_random_shapes(
    n: int, h: int, w: int, ci: int, co: int, groups: int, kernel: tuple[int, int], strides: tuple[int, int],
    dilations: tuple[int, int], epilogue: str, bias: bool,
) -> None:  # fmt: skip
    case = Case(n * h * w * ci * co)
    y = case.conv(
        case.input(n, h, w, ci * groups), co * groups, kernel, strides=strides, dilations=dilations, groups=groups,
        epilogue=epilogue, bias=bias,
    )  # fmt: skip
    check_family(FAMILY, *case.finish(y), rtol=tolerance(ci * kernel[0] * kernel[1]))
