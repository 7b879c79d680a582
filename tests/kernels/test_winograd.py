"""3x3 convolutions in Winograd's form, on every runtime."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mace_cl.kernels.base import Match, Refusal
from mace_cl.kernels.winograd import FAMILY, WEIGHTS_TRANSFORM
from support.conv_cases import EPILOGUES, Case
from support.kernel_runner import check_family, devices, facts_of


def tolerance(channels: int, epilogue: str = "none") -> float:
    """As for plain sums, but the transforms multiply errors by up to some 16 before they cancel.

    Where the result is clipped, the sums (some 12 sqrt(channels)) are larger than what is compared (6).
    """
    larger = max(2 * channels**0.5, 1) if epilogue == "relu6" else 1
    return 2.0**-23 * (16 + 16 * channels**0.5) * larger


def test_transform_is_exact_in_one_dimension() -> None:
    rng = np.random.default_rng(0)
    d, g = rng.standard_normal(6), rng.standard_normal(3)
    forward = np.array(
        [[4, 0, -5, 0, 1, 0], [0, -4, -4, 1, 1, 0], [0, 4, -4, -1, 1, 0],
         [0, -2, -1, 2, 1, 0], [0, 2, -1, -2, 1, 0], [0, 4, 0, -5, 0, 1]]
    )  # fmt: skip
    backward = np.array([[1, 1, 1, 1, 1, 0], [0, 1, -1, 2, -2, 0], [0, 1, 1, 4, 4, 0], [0, 1, -1, 8, -8, 1]])
    wanted = [d[i : i + 3] @ g for i in range(4)]
    np.testing.assert_allclose(backward @ ((WEIGHTS_TRANSFORM @ g) * (forward @ d)), wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("shape", "channels", "pads"),
    [
        ((1, 8, 8, 8), 8, ((1, 1), (1, 1))),
        ((2, 7, 9, 13), 20, ((1, 1), (1, 1))),
        ((1, 5, 6, 32), 45, ((0, 0), (2, 1))),
        ((1, 3, 3, 9), 8, ((0, 0), (0, 0))),
        ((1, 1, 1, 16), 16, ((1, 1), (1, 1))),
        ((3, 4, 13, 24), 24, ((4, 0), (0, 3))),
    ],
)
def test_windows(shape: tuple[int, ...], channels: int, pads: tuple[tuple[int, int], ...]) -> None:
    case = Case()
    y = case.conv(case.input(*shape), channels, (3, 3), pads=pads)
    check_family(FAMILY, *case.finish(y), rtol=tolerance(shape[-1]))


@pytest.mark.parametrize("epilogue", EPILOGUES)
def test_epilogues(epilogue: str) -> None:
    case = Case()
    y = case.conv(case.input(1, 6, 5, 10), 21, (3, 3), epilogue=epilogue)
    check_family(FAMILY, *case.finish(y), rtol=tolerance(10, epilogue))


def test_every_configuration() -> None:
    case = Case()
    graph, node, feeds = case.finish(case.conv(case.input(1, 9, 13, 10), 45, (3, 3), epilogue="residual"))
    facts = facts_of(devices()[0])
    match = FAMILY.match(graph, node, facts)
    assert isinstance(match, Match)
    configs = list(FAMILY.space(match, facts))
    assert len({tuple(sorted(c.items())) for c in configs}) == len(configs) > 15
    for i, config in enumerate(configs):
        device = devices()[i % len(devices())]  # each on one runtime: the compilers take their time
        check_family(FAMILY, graph, node, feeds, config=config, device=device, rtol=tolerance(10))


@pytest.mark.parametrize("units", [1, 3, 8])
@pytest.mark.parametrize("l2_bytes", [4096, 1 << 20])
def test_other_devices(units: int, l2_bytes: int) -> None:
    case = Case()
    y = case.conv(case.input(2, 9, 13, 10), 45, (3, 3), epilogue="residual")
    changes = {"compute_units": units, "vector_floats": 16, "registers": 32, "l2_bytes": l2_bytes}
    check_family(FAMILY, *case.finish(y), rtol=tolerance(10), facts_changes=changes)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    n=st.integers(1, 2), h=st.integers(1, 14), w=st.integers(1, 14), ci=st.integers(8, 30), co=st.integers(8, 40),
    epilogue=st.sampled_from(sorted(EPILOGUES)), bias=st.booleans(),
)  # fmt: skip
def test_random_shapes(n: int, h: int, w: int, ci: int, co: int, epilogue: str, bias: bool) -> None:
    case = Case(n * h * w * ci * co)
    y = case.conv(case.input(n, h, w, ci), co, (3, 3), epilogue=epilogue, bias=bias)
    check_family(FAMILY, *case.finish(y), rtol=tolerance(ci, epilogue))


@pytest.mark.parametrize(
    ("shape", "channels", "options", "changes", "reason"),
    [
        ((1, 8, 8, 8), 8, {"strides": (2, 2)}, {}, "stride 1"),
        ((1, 8, 8, 8), 8, {"groups": 2}, {}, "groups"),
        ((1, 8, 8, 3), 8, {}, {}, "channels"),
        ((1, 8, 8, 8), 8, {"constant": False}, {}, "not constant"),
        ((1, 8, 8, 8), 8, {}, {"kind": "gpu"}, "CPUs"),
        ((1, 7, 7, 512), 512, {}, {}, "MiB"),
    ],
)
def test_refusals_say_why(
    shape: tuple[int, ...], channels: int, options: dict[str, object], changes: dict[str, object], reason: str
) -> None:
    case = Case()
    graph, node, _ = case.finish(case.conv(case.input(*shape), channels, (3, 3), **options))  # type: ignore[arg-type]
    found = FAMILY.match(graph, node, replace(facts_of(devices()[0]), **changes))  # type: ignore[arg-type]
    assert isinstance(found, Refusal)
    assert reason in found.reason
