"""Functions of floats: a few units in the last place everywhere, and the limits that the references have."""

from __future__ import annotations

import numpy as np
import pytest

from mace_cl.graph.ops import Celu, Elu, Erf, Exp, Gelu, Mish, Selu, Sigmoid, Silu, Softplus, Tanh
from mace_cl.graph.ops.base import Operator
from mace_cl.kernels import elementwise
from mace_cl.kernels.base import Match
from support.kernel_runner import devices, facts_of, one_node, run_calls

POINTS = np.concatenate(
    [
        np.linspace(-100, 100, 20001),
        np.linspace(-3, 3, 20001),
        np.geomspace(1e-30, 1, 500),
        -np.geomspace(1e-30, 1, 500),
        [np.nan, np.inf, -np.inf, 0, 88.6, -3e38, 3e38],
    ]
).astype(np.float32)
UNDERFLOW = 2.0**-125
"""Below this exp is 0."""


@pytest.mark.parametrize(
    "op",
    [
        Exp(), Sigmoid(), Silu(), Silu(1.702), Tanh(), Erf(), Gelu(), Gelu("tanh"), Elu(), Celu(2.0), Selu(),
        Softplus(), Mish(),
    ],
    ids=Operator.describe,
)  # fmt: skip
def test_functions(op: Operator) -> None:
    graph, node, _ = one_node(op, [POINTS])
    (wanted,) = op.reference([POINTS.astype(np.float64)])
    with np.errstate(over="ignore"):
        limits = wanted.astype(np.float32).astype(np.float64)
    finite = np.isfinite(limits)
    x, wanted = POINTS[finite].astype(np.float64), wanted[finite]
    # Four units in the last place are 4 2^-23. Where exp takes a rounded product, its error counts as well;
    # the reference of Gelu loses digits where the result is tiny.
    product = np.abs(x) if isinstance(op, Silu) else x * x if isinstance(op, Gelu) else 0.0
    floor = 1e-3 if isinstance(op, Gelu) else 0.0
    limit = (2.0**-21 + product * 2.0**-23) * np.maximum(np.abs(wanted), floor)
    limit += 2 * UNDERFLOW * np.maximum(np.abs(x), 1)
    for device in devices():
        facts = facts_of(device)
        match = elementwise.FAMILY.match(graph, node, facts)
        assert isinstance(match, Match)
        calls = elementwise.FAMILY.emit(match, elementwise.FAMILY.default(match, facts), facts)
        (got,) = run_calls(device, calls, {id(graph.inputs["x0"]): POINTS}).values()
        np.testing.assert_array_equal(got[~finite], limits[~finite], err_msg=device.platform.name)
        excess = np.abs(got[finite] - wanted) / limit
        worst = int(np.argmax(excess))
        assert excess[worst] <= 1, f"{device.platform.name}: {got[finite][worst]}, not {wanted[worst]}, at {x[worst]}"
