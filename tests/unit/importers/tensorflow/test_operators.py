"""What TensorFlow on a CPU cannot run or no longer writes: NCHW, fused and old operators, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mace_cl.errors import ImportModelError, MaceError, UnsupportedError
from mace_cl.types import DataType
from support.graph_def import GraphDefBuilder, run_graph, run_node

RNG = np.random.default_rng(8)
X = RNG.standard_normal((2, 6, 7, 4)).astype(np.float32)
W = RNG.standard_normal((3, 3, 4, 5)).astype(np.float32)
CLOSE: dict[str, Any] = {"rtol": 1e-5, "atol": 1e-5}


def first(x: np.ndarray) -> np.ndarray:
    """NHWC to NCHW."""
    return np.ascontiguousarray(np.moveaxis(x, -1, 1))


def per_dimension(value: int, nchw: bool) -> list[int]:
    """A list for strides and the like."""
    return [1, 1, value, value] if nchw else [1, value, value, 1]


@pytest.mark.parametrize("padding", ["SAME", "VALID", "EXPLICIT"])
@pytest.mark.parametrize(("stride", "dilation"), [(1, 1), (2, 1), (1, 2)])
@pytest.mark.parametrize("op", ["Conv2D", "DepthwiseConv2dNative"])
def test_convolution_in_nchw_is_that_in_nhwc(op: str, stride: int, dilation: int, padding: str) -> None:
    def run(x: np.ndarray, nchw: bool) -> np.ndarray:
        edges = [0, 0, 0, 0, 1, 2, 2, 0] if nchw else [0, 0, 1, 2, 2, 0, 0, 0]
        return run_node(
            op,
            x,
            W,
            known=(1,),
            padding=padding,
            explicit_paddings=edges if padding == "EXPLICIT" else [],
            strides=per_dimension(stride, nchw),
            dilations=per_dimension(dilation, nchw),
            data_format="NCHW" if nchw else "NHWC",
        )

    np.testing.assert_allclose(run(first(X), True), first(run(X, False)), **CLOSE)


def test_transposed_convolution_in_nchw() -> None:
    w = RNG.standard_normal((3, 3, 5, 4)).astype(np.float32)
    size = np.array([2, 12, 14, 5], np.int32)
    given = {"padding": "SAME", "known": (0, 1)}
    last = run_node("Conv2DBackpropInput", size, w, X, strides=[1, 2, 2, 1], **given)
    turned = size[[0, 3, 1, 2]]
    result = run_node("Conv2DBackpropInput", turned, w, first(X), strides=[1, 1, 2, 2], data_format="NCHW", **given)
    np.testing.assert_allclose(result, first(last), **CLOSE)


@pytest.mark.parametrize("op", ["MaxPool", "AvgPool"])
def test_pools_in_nchw(op: str) -> None:
    last = run_node(op, X, ksize=[1, 3, 3, 1], strides=[1, 2, 2, 1], padding="SAME")
    result = run_node(op, first(X), ksize=[1, 1, 3, 3], strides=[1, 1, 2, 2], padding="SAME", data_format="NCHW")
    np.testing.assert_array_equal(result, first(last))


def test_bias_and_batch_norm_in_nchw() -> None:
    channels = [np.abs(RNG.standard_normal(4)).astype(np.float32) + 0.1 for _ in range(4)]
    given = {"known": (1, 2, 3, 4), "is_training": False, "epsilon": 0.01}
    last = run_node("FusedBatchNormV3", X, *channels, **given)
    result = run_node("FusedBatchNormV3", first(X), *channels, data_format="NCHW", **given)
    np.testing.assert_allclose(result, first(last), **CLOSE)
    result = run_node("BiasAdd", first(X), channels[0], known=(1,), data_format="NCHW")
    np.testing.assert_array_equal(result, first(X + channels[0]))


def test_depth_to_space_in_nchw() -> None:
    last = run_node("DepthToSpace", X, block_size=2)
    np.testing.assert_array_equal(run_node("DepthToSpace", first(X), block_size=2, data_format="NCHW"), first(last))


@pytest.mark.parametrize("op", ["FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"])
def test_batch_norm_in_training_mode_is_refused(op: str) -> None:
    ones = np.ones(4, np.float32)
    with pytest.raises(UnsupportedError, match=r"training mode.*is_training=False"):
        run_node(op, X, ones, ones, ones, ones, is_training=True)


@pytest.mark.parametrize("scaled", [True, False])
def test_the_first_form_of_batch_norm(scaled: bool) -> None:
    mean, variance, offset, scale = (np.abs(RNG.standard_normal(4)).astype(np.float32) + 0.1 for _ in range(4))
    result = run_node(
        "BatchNormWithGlobalNormalization",
        *(X, mean, variance, offset, scale),
        known=(1, 2, 3, 4),
        variance_epsilon=0.01,
        scale_after_normalization=scaled,
    )
    expected = (X - mean) / np.sqrt(variance + 0.01) * (scale if scaled else 1) + offset
    np.testing.assert_allclose(result, expected, **CLOSE)


@pytest.mark.parametrize(
    ("fused", "formula"),
    [
        (["BiasAdd"], lambda y, b: y + b),
        (["BiasAdd", "Relu"], lambda y, b: np.maximum(y + b, 0)),
        (["BiasAdd", "Relu6"], lambda y, b: np.clip(y + b, 0, 6)),
        (["BiasAdd", "LeakyRelu"], lambda y, b: np.where(y + b < 0, 0.25 * (y + b), y + b)),
        (["BiasAdd", "Tanh"], lambda y, b: np.tanh(y + b)),
    ],
)
@pytest.mark.parametrize("op", ["_FusedConv2D", "_FusedDepthwiseConv2dNative", "_FusedMatMul"])
def test_what_the_graph_optimiser_fuses(op: str, fused: list[str], formula: Any) -> None:
    plain = {"_FusedConv2D": "Conv2D", "_FusedDepthwiseConv2dNative": "DepthwiseConv2dNative", "_FusedMatMul": "MatMul"}
    matrix = op == "_FusedMatMul"
    x, w = (X[0, 0], W[0, 0]) if matrix else (X, W)
    given: dict[str, Any] = {} if matrix else {"strides": [1, 1, 1, 1], "padding": "SAME"}
    y = run_node(plain[op], x, w, known=(1,), **given)
    bias = RNG.standard_normal(y.shape[-1]).astype(np.float32)
    result = run_node(op, x, w, bias, known=(1, 2), fused_ops=fused, leakyrelu_alpha=0.25, num_args=1, **given)
    np.testing.assert_allclose(result, formula(y, bias), **CLOSE)


def test_fused_batch_norm_in_a_convolution() -> None:
    given: dict[str, Any] = {"strides": [1, 1, 1, 1], "padding": "SAME"}
    values = [np.abs(RNG.standard_normal(5)).astype(np.float32) + 0.1 for _ in range(4)]
    y = run_node("Conv2D", X, W, known=(1,), **given)
    scale, offset, mean, variance = values
    expected = np.maximum((y - mean) / np.sqrt(variance + 0.01) * scale + offset, 0)
    fused = ["FusedBatchNorm", "Relu"]
    result = run_node("_FusedConv2D", X, W, *values, known=(1, 2, 3, 4, 5), fused_ops=fused, epsilon=0.01, **given)
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-4)


def test_an_unknown_fused_operator_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="fused operator 'Frob' is not built"):
        run_node("_FusedMatMul", X[0, 0], W[0, 0], known=(1,), fused_ops=["Frob"])


@pytest.mark.parametrize("op", ["Conv2D", "DepthwiseConv2dNative"])
@pytest.mark.parametrize(("edges", "crops", "dilated"), [(2, 0, True), (2, 1, True), (0, 0, True), (0, 1, False)])
def test_a_convolution_between_blocks_is_a_dilated_one(op: str, edges: int, crops: int, dilated: bool) -> None:
    builder = GraphDefBuilder()
    x = builder.placeholder("x", (1, 8, 8, 4))
    block, pads = np.array([2, 2], np.int32), np.full((2, 2), edges, np.int32)
    inner = builder.node("SpaceToBatchND", "s", x, block, pads)
    inner = builder.node(op, "c", inner, W, strides=[1, 1, 1, 1], padding="VALID")
    builder.node("BatchToSpaceND", "y", inner, block, np.full((2, 2), crops, np.int32))
    graph = builder.graph()
    assert ([n.op.name for n in graph.nodes] == ["Conv"]) is dilated
    data = RNG.standard_normal((1, 8, 8, 4)).astype(np.float32)
    padded = np.pad(data, ((0, 0), (edges, edges), (edges, edges), (0, 0)))
    expected = run_node(op, padded, W, known=(1,), strides=[1, 1, 1, 1], dilations=[1, 2, 2, 1], padding="VALID")
    size = expected.shape[1] - crops
    np.testing.assert_allclose(run_graph(graph, {"x": data})["y"], expected[:, crops:size, crops:size], **CLOSE)


@pytest.mark.parametrize("op", ["SpaceToBatch", "BatchToSpace"])
def test_blocks_of_the_first_form(op: str) -> None:
    x = RNG.standard_normal((4, 4, 6, 3)).astype(np.float32)
    edges = np.array([[0, 0], [2, 0]], np.int32)
    blocks = np.array([2, 2], np.int32)
    np.testing.assert_array_equal(
        run_node(op, x, edges, known=(1,), block_size=2), run_node(f"{op}ND", x, blocks, edges, known=(1, 2))
    )


def test_old_and_rare_operators() -> None:
    x = X[0, 0]
    at = np.array([2, 0], np.int32)
    np.testing.assert_array_equal(run_node("Gather", x, at), x[at])
    np.testing.assert_array_equal(run_node("Reverse", x, np.array([True, False]), known=(1,)), x[::-1])
    np.testing.assert_array_equal(run_node("AccumulateNV2", x, x, x), x + x + x)
    np.testing.assert_array_equal(run_node("TensorScatterUpdate", x, at[:, None], x[4:6])[at], x[4:6])
    np.testing.assert_allclose(run_node("TensorScatterAdd", x, at[:, None], x[4:6])[at], x[at] + x[4:6])
    np.testing.assert_array_equal(run_node("MulNoNan", np.array([np.inf, 2]), np.array([0.0, 3])), [0, 6])
    np.testing.assert_array_equal(run_node("BiasAddV1", x, x[0]), x + x[0])
    np.testing.assert_array_equal(run_node("BatchMatMul", x, x, adj_y=True), x @ x.T)
    np.testing.assert_array_equal(run_node("Invert", at), ~at)
    np.testing.assert_array_equal(run_node("OnesLike", at), [1, 1])
    np.testing.assert_array_equal(run_node("Atan2", x, x + 1), np.arctan2(x, x + 1))
    np.testing.assert_array_equal(run_node("RealDiv", x, x + 9), x / (x + 9))


@pytest.mark.parametrize(
    "op", ["Identity", "Snapshot", "StopGradient", "PreventGradient", "CheckNumerics", "EnsureShape"]
)
def test_what_passes_values_on_makes_no_node(op: str) -> None:
    builder = GraphDefBuilder()
    builder.node(op, "y", builder.placeholder("x", (4,)))
    graph = builder.graph()
    assert graph.outputs["y"] is graph.inputs["x"]


def test_shapes_are_constants() -> None:
    builder = GraphDefBuilder()
    x, y = builder.placeholder("x", (2, 3)), builder.placeholder("y", (4,))
    builder.node("ShapeN", "s", x, y, out_type=DataType.INT64)
    builder.node("Size", "n", x)
    builder.node("BroadcastArgs", "b", np.array([3, 1]), np.array([4]))
    builder.node("InvertPermutation", "p", np.array([2, 0, 1], np.int32))
    builder.node("LinSpace", "l", np.float32(0).reshape(()), np.float32(1).reshape(()), np.array(3, np.int32))
    builder.node("Where", "w", np.array([False, True, True]))
    graph = builder.graph(output_names=("s", "s:1", "n", "b", "p", "l", "w"))
    assert not graph.nodes
    assert {name: value.data.tolist() for name, value in graph.outputs.items() if value.data is not None} == {
        "s": [2, 3],
        "s:1": [4],
        "n": 6,
        "b": [3, 4],
        "p": [1, 2, 0],
        "l": [0, 0.5, 1],
        "w": [[1], [2]],
    }


@pytest.mark.parametrize(
    ("op", "inputs", "known", "attributes", "why"),
    [
        ("Conv2D", (X, W), (1,), {"padding": "SAME", "strides": [2, 1, 1, 1]}, "over batch or channels"),
        ("Conv2D", (X, W), (1,), {"padding": "FULL", "strides": [1, 1, 1, 1]}, "padding 'FULL'"),
        ("Conv2D", (X, W[:, :, :3]), (1,), {"padding": "SAME", "strides": [1, 1, 1, 1]}, "no multiple of"),
        ("Conv2D", (X[0], W), (1,), {"padding": "SAME", "strides": [1, 1, 1, 1]}, "must have 4 dimensions"),
        ("Conv2D", (X, W), (1,), {"padding": "SAME", "strides": [1, 1]}, "strides has 2 entries"),
        ("Conv2D", (X, W), (1,), {"padding": "SAME", "strides": [1, 0, 1, 1]}, "below 1"),
        ("Conv2D", (X, W), (1,), {"padding": "EXPLICIT", "strides": [1] * 4, "explicit_paddings": [1]}, "two entries"),
        ("Conv2D", (X,), (), {"padding": "SAME", "strides": [1, 1, 1, 1]}, "input 1 is missing"),
        ("MaxPool", (X,), (), {"strides": [1] * 4, "ksize": [1] * 4, "data_format": "NCHW_VECT_C"}, "NCHW_VECT_C"),
        ("Reshape", (X, np.array([5, -1])), (1,), {}, "does not fit into"),
        ("Reshape", (X, np.array([-1, -1])), (1,), {}, "does not fit into"),
        ("Squeeze", (X,), (), {"squeeze_dims": [0]}, "cannot drop dimensions"),
        ("Mean", (X, np.array([4])), (1,), {}, "axis 4 is outside of 4 dimensions"),
        ("Mean", (X, np.array([1])), (), {}, "the axes .* depends on the network's inputs"),
        ("Split", (np.array(1, np.int32), X), (0,), {"num_split": 4}, "4 equal pieces"),
        ("Slice", (X, np.array([0]), np.array([1])), (1, 2), {}, "do not fit"),
        ("ResizeBilinear", (X, np.array([0, 3], np.int32)), (1,), {}, "cannot resize"),
        ("StridedSlice", (X, np.array([0]), np.array([1]), np.array([0])), (1, 2, 3), {}, "a stride is 0"),
        ("StridedSlice", (X[0, 0, 0], *(np.array([0, 0]),) * 3), (1, 2, 3), {}, "slices 2 of 1"),
        ("Transpose", (X, np.array([0, 1, 2])), (1,), {}, "is no order of 4 dimensions"),
        ("SpaceToBatchND", (X, np.array([4, 4]), np.zeros((2, 2), int)), (1, 2), {}, "no multiple of blocks"),
        ("Range", (np.array(1), np.array(2), np.array(0)), (0, 1, 2), {}, "the step of a range is 0"),
        ("FakeQuantWithMinMaxArgs", (X,), (), {"min": 2.0, "max": 1.0}, "is empty"),
        ("Add", (X, W), (1,), {}, "do not broadcast"),
    ],
)  # fmt: skip
def test_refusals_name_the_node_and_the_reason(
    op: str, inputs: tuple[np.ndarray, ...], known: tuple[int, ...], attributes: dict[str, Any], why: str
) -> None:
    with pytest.raises(MaceError, match=why) as caught:
        run_node(op, *inputs, known=known, **attributes)
    assert isinstance(caught.value, ImportModelError | UnsupportedError) or caught.value.where
    assert "'y'" in str(caught.value)
