"""Activation functions, against ONNX's reference and against their formulas."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mace_cl import errors
from mace_cl.graph import ops
from mace_cl.types import type_of
from support.onnx_reference import run_onnx

VALUES = np.concatenate([np.array([0.0, -0.0, 100.0, -100.0, 1.0, -1.0]), np.linspace(-8, 8, 97)])

CASES = [
    (ops.Relu(), "Relu", {}),
    (ops.LeakyRelu(0.3), "LeakyRelu", {"alpha": 0.3}),
    (ops.Sigmoid(), "Sigmoid", {}),
    (ops.Tanh(), "Tanh", {}),
    (ops.HardSigmoid(0.3, 0.4), "HardSigmoid", {"alpha": 0.3, "beta": 0.4}),
    (ops.HardSwish(), "HardSwish", {}),
    (ops.Mish(), "Mish", {}),
    (ops.Gelu(), "Gelu", {}),
    (ops.Gelu("tanh"), "Gelu", {"approximate": "tanh"}),
    (ops.Elu(0.7), "Elu", {"alpha": 0.7}),
    (ops.Celu(0.7), "Celu", {"alpha": 0.7}),
    (ops.Selu(), "Selu", {}),
    (ops.Softplus(), "Softplus", {}),
    (ops.Softsign(), "Softsign", {}),
    (ops.ThresholdedRelu(0.5), "ThresholdedRelu", {"alpha": 0.5}),
    (ops.Shrink(0.2, 0.6), "Shrink", {"bias": 0.2, "lambd": 0.6}),
]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("op", "name", "attributes"), CASES, ids=[c[0].describe() for c in CASES])
def test_same_as_onnx(op: ops.Operator, name: str, attributes: dict[str, object], dtype: type) -> None:
    x = VALUES.astype(dtype)
    (expected,) = run_onnx(name, [x], **attributes)
    (result,) = op.reference([x])
    assert op.infer([type_of(x)]) == (type_of(result),)
    # ONNX keeps attributes in single precision, and some of its formulas cancel.
    np.testing.assert_allclose(result, expected, rtol=2e-6, atol=2e-6)


@pytest.mark.parametrize("op", [c[0] for c in CASES], ids=[c[0].describe() for c in CASES])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_extremes_raise_no_warning_and_keep_the_type(op: ops.Operator, dtype: type) -> None:
    x = np.array([np.finfo(dtype).max, np.finfo(dtype).min, np.inf, -np.inf, np.nan, 0], dtype)
    (result,) = op.reference([x])
    assert result.dtype == dtype
    (scalar,) = op.reference([np.array(0.5, dtype)])
    assert scalar.dtype == dtype
    assert scalar.shape == ()


def test_silu() -> None:
    x = VALUES
    expected = [v / (1 + math.exp(-1.5 * v)) for v in x]
    np.testing.assert_allclose(ops.Silu(1.5).reference([x])[0], expected, rtol=1e-14)


def test_gelu_in_double_precision() -> None:
    expected = [0.5 * v * (1 + math.erf(v / math.sqrt(2))) for v in VALUES]
    np.testing.assert_allclose(ops.Gelu().reference([VALUES])[0], expected, rtol=1e-13, atol=1e-15)


def test_gelu_of_an_unknown_kind_is_refused() -> None:
    with pytest.raises(errors.ShapeError, match="approximate is 'erf'"):
        ops.Gelu("erf").infer([type_of(VALUES)])


@pytest.mark.parametrize("slope_shape", [(), (1,), (4,), (3, 1), (2, 3, 4), (1, 3, 1)])
def test_prelu_broadcasts_its_slope(slope_shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(1)
    x, slope = rng.standard_normal((2, 3, 4)), rng.standard_normal(slope_shape)
    (result,) = ops.PRelu().reference([x, slope])
    full = np.broadcast_to(slope, x.shape)
    for place in np.ndindex(x.shape):
        assert result[place] == (x[place] if x[place] >= 0 else full[place] * x[place])


def test_prelu_slope_larger_than_x_is_refused() -> None:
    with pytest.raises(errors.ShapeError, match="does not broadcast to x"):
        ops.PRelu().infer([type_of(np.zeros((1, 4))), type_of(np.zeros((3, 4)))])


def test_clip_keeps_nan_and_lets_high_win() -> None:
    x = np.array([-5, 0, 5, np.nan], np.float32)
    np.testing.assert_array_equal(ops.Clip(-1, 1).reference([x])[0], [-1, 0, 1, np.nan])
    np.testing.assert_array_equal(ops.Clip(3, 1).reference([x])[0], [1, 1, 1, np.nan])
    np.testing.assert_array_equal(ops.Clip(low=0).reference([x])[0], [0, 0, 5, np.nan])


def test_clip_is_exact_on_int64() -> None:
    low, high = np.iinfo(np.int64).min, np.iinfo(np.int64).max
    x = np.array([low, low + 1, -1, 0, high - 1, high], np.int64)
    assert ops.Clip().reference([x])[0].tolist() == x.tolist()
    assert ops.Clip(low + 1, high - 1).reference([x])[0].tolist() == [low + 1, low + 1, -1, 0, high - 1, high - 1]
    assert ops.Clip(-1e300, 1e300).reference([x])[0].tolist() == x.tolist()
    assert ops.Clip(-0.5, 0.5).reference([x])[0].tolist() == [0] * 6


def test_clip_limits_outside_of_the_type() -> None:
    x = np.array([0, 7, 255], np.uint8)
    assert ops.Clip(-3, 6).reference([x])[0].tolist() == [0, 6, 6]
    assert ops.Clip(-3, 600).reference([x])[0].tolist() == [0, 7, 255]
    with pytest.raises(errors.ShapeError, match="not a number"):
        ops.Clip(math.nan).infer([type_of(x)])


def test_relu_of_integers() -> None:
    assert ops.Relu().reference([np.array([-3, 0, 3], np.int8)])[0].tolist() == [0, 0, 3]
