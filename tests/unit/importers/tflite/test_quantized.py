"""Quantised models run in real numbers, and agree with an integer engine to a step or two."""

from __future__ import annotations

import numpy as np
import pytest

from mace_cl.errors import MaceError
from mace_cl.graph.evaluate import evaluate_graph
from support.tflite_builder import ModelBuilder
from support.tflite_run import import_bytes, litert_outputs

X_SCALE, X_ZERO = 0.04, 3
Y_SCALE, Y_ZERO = 0.1, -7


def quantized_conv(per_channel: bool) -> tuple[bytes, np.ndarray]:
    rng = np.random.default_rng(0)
    w_scale = [0.01, 0.02, 0.015] if per_channel else [0.02]
    m = ModelBuilder()
    x = m.tensor("x", (1, 6, 6, 2), "INT8", scale=[X_SCALE], zero_point=[X_ZERO])
    w = m.constant("w", rng.integers(-127, 127, (3, 3, 3, 2)).astype(np.int8), scale=w_scale, axis=0)
    bias_scale = [s * X_SCALE for s in w_scale]
    b = m.constant("b", rng.integers(-500, 500, 3).astype(np.int32), scale=bias_scale, axis=0)
    y = m.tensor("y", (1, 6, 6, 3), "INT8", scale=[Y_SCALE], zero_point=[Y_ZERO])
    z = m.tensor("z", (1, 3, 3, 3), "INT8", scale=[Y_SCALE], zero_point=[Y_ZERO])
    m.operator("CONV_2D", [x, w, b], [y], "Conv2DOptions", StrideH=1, StrideW=1, FusedActivationFunction=1, version=3)
    pool = {"StrideH": 2, "StrideW": 2, "FilterHeight": 2, "FilterWidth": 2}
    m.operator("MAX_POOL_2D", [y], [z], "Pool2DOptions", version=2, **pool)
    return m.build([x], [z]), rng.integers(-128, 128, (1, 6, 6, 2)).astype(np.int8)


@pytest.mark.peers
@pytest.mark.parametrize("per_channel", [False, True])
def test_convolution_agrees_with_litert(per_channel: bool) -> None:
    data, x = quantized_conv(per_channel)
    expected = litert_outputs(data, {"x": x})["z"].astype(int)
    out = evaluate_graph(import_bytes(data), {"x": x}, dtype=None)["z"]
    assert out.dtype == np.int8
    assert np.ptp(expected) > 20
    assert np.abs(out.astype(int) - expected).max() <= 1


def test_inputs_and_outputs_keep_their_integers() -> None:
    data, _ = quantized_conv(per_channel=True)
    graph = import_bytes(data)
    assert str(graph.inputs["x"].type) == "int8[1,6,6,2]"
    assert str(graph.outputs["z"].type) == "int8[1,3,3,3]"
    names = [n.op.name for n in graph.nodes]
    assert names == [
        "DequantizeLinear", "Conv", "Relu", "QuantizeLinear", "DequantizeLinear", "MaxPool", "QuantizeLinear",
    ]  # fmt: skip


def test_the_arithmetic_by_hand() -> None:
    m = ModelBuilder()
    a = m.tensor("a", (3,), "UINT8", scale=[0.5], zero_point=[10])
    b = m.constant("b", np.asarray([0, 4, 8], np.int8), scale=[0.25], zero_point=[4])
    y = m.tensor("y", (3,), "INT16", scale=[0.125])
    m.operator("ADD", [a, b], [y], "AddOptions")
    graph = import_bytes(m.build([a], [y]))
    out = evaluate_graph(graph, {"a": np.asarray([10, 12, 0], np.uint8)}, dtype=None)["y"]
    # (0, 1, -5) + (-1, 0, 1) in steps of 1/8
    np.testing.assert_array_equal(out, np.asarray([-8, 8, -32], np.int16))


def test_quantize_and_dequantize() -> None:
    m = ModelBuilder()
    x = m.tensor("x", (4,))
    q = m.tensor("q", (4,), "INT8", scale=[0.5], zero_point=[1])
    r = m.tensor("r", (4,), "UINT8", scale=[0.25], zero_point=[128])
    y = m.tensor("y", (4,))
    m.operator("QUANTIZE", [x], [q], "QuantizeOptions")
    m.operator("QUANTIZE", [q], [r], "QuantizeOptions")
    m.operator("DEQUANTIZE", [r], [y], "DequantizeOptions")
    graph = import_bytes(m.build([x], [q, r, y]))
    out = evaluate_graph(graph, {"x": np.asarray([0.2, 1.3, -100, 100], np.float32)}, dtype=None)
    np.testing.assert_array_equal(out["q"], [1, 4, -128, 127])
    np.testing.assert_array_equal(out["r"], [128, 134, 0, 255])
    np.testing.assert_array_equal(out["y"], [0, 1.5, -32, 31.75])


def test_integer_weights_of_a_float_network_become_real() -> None:
    m = ModelBuilder()
    x, y = m.tensor("x", (1, 2)), m.tensor("y", (1, 3))
    w = m.constant("w", np.asarray([[1, 2], [3, 4], [5, 6]], np.int8), scale=[1, 10, 100], axis=0)
    m.operator("FULLY_CONNECTED", [x, w, -1], [y], "FullyConnectedOptions")
    graph = import_bytes(m.build([x], [y]))
    out = evaluate_graph(graph, {"x": np.ones((1, 2), np.float32)})["y"]
    np.testing.assert_allclose(out, [[3, 70, 1100]])
    assert [n.op.name for n in graph.nodes] == ["MatMul"]


def test_a_cast_reads_the_stored_integers() -> None:
    m = ModelBuilder()
    x, y = m.tensor("x", (3,), "INT8", scale=[0.5], zero_point=[4]), m.tensor("y", (3,))
    m.operator("CAST", [x], [y], "CastOptions")
    out = evaluate_graph(import_bytes(m.build([x], [y])), {"x": np.asarray([-3, 0, 9], np.int8)})["y"]
    np.testing.assert_array_equal(out, [-3, 0, 9])


ONE = {"scale": [0.05], "zero_point": [-10]}
TWO = {"scale": [0.03], "zero_point": [5]}
UNIT = {"scale": [1 / 256], "zero_point": [-128]}
OPERATORS = {
    "ADD": (2, ONE, "AddOptions", {"FusedActivationFunction": 1}, (2, 4, 4, 3)),
    "MUL": (2, ONE, "MulOptions", {}, (2, 4, 4, 3)),
    "SUB": (2, ONE, "SubOptions", {}, (2, 4, 4, 3)),
    "LOGISTIC": (1, UNIT, None, {}, (2, 4, 4, 3)),
    "SOFTMAX": (1, UNIT, "SoftmaxOptions", {"Beta": 1.0}, (2, 4, 4, 3)),
    "TANH": (1, {"scale": [1 / 128], "zero_point": [0]}, None, {}, (2, 4, 4, 3)),
    "HARD_SWISH": (1, ONE, None, {}, (2, 4, 4, 3)),
    "LEAKY_RELU": (1, ONE, "LeakyReluOptions", {"Alpha": 0.2}, (2, 4, 4, 3)),
    "AVERAGE_POOL_2D": (
        1, TWO, "Pool2DOptions", {"StrideH": 2, "StrideW": 2, "FilterHeight": 3, "FilterWidth": 3}, (2, 2, 2, 3)
    ),
    "CONCATENATION": (2, TWO, "ConcatenationOptions", {"Axis": 3}, (2, 4, 4, 6)),
}  # fmt: skip


@pytest.mark.peers
@pytest.mark.parametrize("name", OPERATORS)
def test_operators_agree_with_litert(name: str) -> None:
    n_inputs, out, options, fields, shape = OPERATORS[name]
    m = ModelBuilder()
    xs = [m.tensor(f"x{i}", (2, 4, 4, 3), "INT8", **TWO) for i in range(n_inputs)]
    y = m.tensor("y", shape, "INT8", **out)
    m.operator(name, xs, [y], options, version=1 if name == "HARD_SWISH" else 2, **fields)
    data = m.build(xs, [y])
    rng = np.random.default_rng(0)
    feeds = {f"x{i}": rng.integers(-128, 128, (2, 4, 4, 3)).astype(np.int8) for i in range(n_inputs)}
    expected = litert_outputs(data, feeds)["y"].astype(int)
    found = evaluate_graph(import_bytes(data), feeds, dtype=None)["y"].astype(int)
    assert np.ptp(expected) > 20
    assert np.abs(found - expected).max() <= 1


def test_indices_with_stray_scales_stay_indices() -> None:
    m = ModelBuilder()
    x, y = m.tensor("x", (4,)), m.tensor("y", (2,))
    i = m.tensor("i", (2,), "INT32", scale=[0.5])
    m.operator("GATHER", [x, i], [y], "GatherOptions")
    graph = import_bytes(m.build([x, i], [y]))
    feeds = {"x": np.arange(4, dtype=np.float32), "i": np.asarray([3, 1], np.int32)}
    np.testing.assert_array_equal(evaluate_graph(graph, feeds)["y"], [3, 1])


@pytest.mark.parametrize(
    "more",
    [
        {"scale": [-1.0]},
        {"scale": [float("nan")]},
        {"scale": [1.0, 2.0], "axis": 3},
        {"scale": [1.0, 2.0, 3.0], "axis": 0},
        {"scale": [1.0], "zero_point": [300]},
        {"scale": [1.0, 2.0], "zero_point": [1, 2, 3]},
    ],
)
def test_parameters_that_make_no_sense_are_refused(more: dict[str, object]) -> None:
    m = ModelBuilder()
    x = m.tensor("x", (2, 3), "INT8", **more)
    y = m.tensor("y", (2, 3))
    m.operator("DEQUANTIZE", [x], [y])
    with pytest.raises(MaceError):
        import_bytes(m.build([x], [y]))
