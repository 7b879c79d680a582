"""Operators in every form that operator sets 7 to 21 give them, against ONNX Runtime."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest

from support.onnx_models import OneNode, evaluated, one_node

pytestmark = pytest.mark.peers
onnxruntime = pytest.importorskip("onnxruntime")

RNG = np.random.default_rng(0)
TOLERANCE = 2e-5
"""float32 sums of some hundred terms, of the largest magnitude."""


def f(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def i(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def s(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def convolutions() -> Iterator[OneNode]:
    for pads, stride, dilation, group in product(
        ({"pads": [1, 0, 2, 1]}, {"auto_pad": "SAME_UPPER"}, {"auto_pad": "SAME_LOWER"}, {"auto_pad": "VALID"}),
        (1, 2), (1, 2), (1, 2),
    ):  # fmt: skip
        if "SAME" in str(pads) and dilation > 1:
            continue  # ONNX Runtime refuses it
        common: dict[str, Any] = {
            **pads, "strides": [stride, 1], "dilations": [dilation] * 2, "group": group
        }  # fmt: skip
        yield one_node("Conv", [f(2, 4, 9, 8), f(6, 4 // group, 3, 2), f(6)], opset=11, **common)
        yield one_node("ConvTranspose", [f(2, 4, 5, 4), f(4, 6 // group, 3, 2), f(6)], opset=11, **common)
    yield one_node("Conv", [f(1, 3, 11), f(2, 3, 4)], strides=[3], pads=[2, 1])
    yield one_node("Conv", [f(1, 2, 5, 6, 4), f(3, 2, 2, 3, 1)], strides=[1, 2, 1], pads=[0, 1, 0, 1, 0, 1])
    yield one_node("Conv", [f(1, 4, 6, 6), f(4, 1, 3, 3), f(4)], group=4, n_fed=3)
    shaped: dict[str, Any] = {"strides": [3, 2], "output_shape": [10, 8]}
    for mode in ("NOTSET", "SAME_UPPER", "SAME_LOWER"):
        yield one_node("ConvTranspose", [f(1, 2, 3, 3), f(2, 2, 3, 3)], auto_pad=mode, **shaped)
    yield one_node("ConvTranspose", [f(1, 2, 3, 3), f(2, 2, 3, 3)], strides=[3, 2], output_padding=[2, 1])
    yield one_node("ConvTranspose", [f(1, 2, 5), f(2, 3, 4), f(3)], strides=[2], pads=[1, 2])


def pools() -> Iterator[OneNode]:
    for op, size, stride, ceil, pads in product(
        ("MaxPool", "AveragePool"), (7, 10), (2, 3), (0, 1),
        ({"pads": [1, 0, 1, 1]}, {"auto_pad": "SAME_UPPER"}, {"auto_pad": "SAME_LOWER"}, {"auto_pad": "VALID"}, {}),
    ):  # fmt: skip
        if ceil and "auto_pad" in pads:
            continue
        common: dict[str, Any] = {**pads, "kernel_shape": [3, 2], "strides": [stride, stride], "ceil_mode": ceil}
        yield one_node(op, [f(1, 2, size, size)], opset=19, **common)
        if op == "AveragePool":
            yield one_node(op, [f(1, 2, size, size)], opset=19, count_include_pad=1, **common)
            if not pads.get("auto_pad"):
                yield one_node(op, [f(1, 2, 12, 13)], opset=19, dilations=[2, 3], count_include_pad=ceil, **common)
        elif pads.get("auto_pad") in (None, "VALID"):
            yield one_node(op, [f(1, 2, 12, 13)], opset=12, dilations=[2, 3], **common)
            yield one_node(op, [f(1, 2, size, size)], opset=12, n_outputs=2, **common)
    for order in (0, 1):
        shape: dict[str, Any] = {"kernel_shape": [2, 3], "storage_order": order, "n_outputs": 2}
        yield one_node("MaxPool", [f(2, 3, 5, 6)], opset=8, pads=[1, 1, 1, 1], strides=[2, 2], **shape)
    for op, opset in (("MaxPool", 7), ("AveragePool", 7), ("LpPool", 7), ("MaxPool", 10), ("AveragePool", 10)):
        yield one_node(op, [f(1, 2, 8, 8)], opset=opset, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 0, 0])
    yield one_node("LpPool", [f(1, 2, 8, 8)], opset=18, kernel_shape=[3, 3], p=3, pads=[1, 1, 1, 1], ceil_mode=1)
    yield one_node("MaxPool", [f(1, 2, 9)], kernel_shape=[2], strides=[2])
    yield one_node("AveragePool", [f(1, 2, 4, 5, 6)], kernel_shape=[2, 3, 2], pads=[1, 0, 1, 0, 1, 0])
    for op in ("GlobalAveragePool", "GlobalMaxPool"):
        yield one_node(op, [f(2, 3, 4, 5)])
        yield one_node(op, [f(2, 3, 7)])


def resizes() -> Iterator[OneNode]:
    x = f(1, 2, 5, 7)
    up, down = s(1, 1, 2.5, 3), s(1, 1, 0.62, 0.45)
    for scales in (up, down, s(1, 1, 2, 2)):
        yield one_node("Resize", [x, scales], opset=10, mode="linear")
    yield one_node("Resize", [x, s(1, 1, 2, 3)], opset=10, mode="nearest")
    yield one_node("Upsample", [x], opset=7, mode="nearest", scales=[1.0, 1.0, 2.0, 3.0])
    yield one_node("Upsample", [x], opset=7, mode="linear", scales=[1.0, 1.0, 2.0, 3.0])
    yield one_node("Upsample", [x, s(1, 1, 2, 2)], opset=9, mode="nearest")
    coordinates = ("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel")
    for scales, place in product((up, down), coordinates):
        # With align_corners, ONNX Runtime rounds a fractional size before it computes the coordinates; ONNX does not.
        target = (None, None, i(1, 2, 8, 9)) if place == "align_corners" else (None, scales)
        for rounding in ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"):
            given: dict[str, Any] = {"coordinate_transformation_mode": place, "nearest_mode": rounding}
            yield one_node("Resize", [x, *target], opset=13, mode="nearest", **given)
        for mode in ("linear", "cubic"):
            yield one_node("Resize", [x, *target], opset=13, mode=mode, coordinate_transformation_mode=place)
    for mode, size in product(("nearest", "linear", "cubic"), (i(1, 2, 8, 9), i(1, 2, 3, 4), i(1, 2, 1, 1))):
        yield one_node("Resize", [x, s(), s(), size], opset=11, mode=mode)
    for policy in ("stretch", "not_larger", "not_smaller"):
        given = {"keep_aspect_ratio_policy": policy, "axes": [2, 3], "mode": "linear"}
        yield one_node("Resize", [x, None, None, i(9, 8)], opset=18, **given)
    yield one_node("Resize", [x, None, s(0.5, 0.6)], opset=18, mode="linear", axes=[2, 3], antialias=1)
    yield one_node("Resize", [x, None, s(1, 1, 0.5, 0.6)], opset=18, mode="cubic", antialias=1)
    yield one_node("Resize", [x, None, s(1, 1, 1.5, 0.6)], opset=18, mode="cubic", exclude_outside=1)
    yield one_node("Resize", [x, None, s(1, 1, 1.5, 1.6)], opset=13, mode="cubic", cubic_coeff_a=-0.5)
    crop: dict[str, Any] = {"coordinate_transformation_mode": "tf_crop_and_resize", "extrapolation_value": 3.0}
    roi = s(0, 0, 0.2, -0.1, 1, 1, 0.8, 1.2)
    yield one_node("Resize", [x, roi, None, i(1, 2, 6, 6)], opset=13, mode="linear", **crop)


def shapes() -> Iterator[OneNode]:
    x = f(2, 3, 4, 5)
    for axis in range(-4, 5):
        yield one_node("Flatten", [x], opset=11 if axis < 0 else 9, axis=axis)
    yield one_node("Squeeze", [f(1, 3, 1, 2)], opset=11, axes=[0, 2])
    yield one_node("Squeeze", [f(1, 3, 1, 2)], opset=13)
    yield one_node("Squeeze", [f(1, 3, 1, 2), i(-2)], opset=13)
    yield one_node("Unsqueeze", [f(3, 2)], opset=11, axes=[3, 0])
    yield one_node("Unsqueeze", [f(3, 2), i(-1, 1)], opset=13)
    yield one_node("Reshape", [x, i(0, -1, 2)], opset=7)
    yield one_node("Reshape", [f(2, 0, 3), i(3, 0)], opset=14, allowzero=1)
    yield one_node("Expand", [f(3, 1), i(2, 1, 6)])
    yield one_node("Tile", [f(2, 3), i(2, 3)])
    yield one_node("Transpose", [x])
    yield one_node("Transpose", [x], perm=[1, 3, 0, 2])
    for start, end in ((0, 2), (-2, 4), (1, -1), (3, 1), (-9, 9)):
        yield one_node("Shape", [x], opset=15, start=start, end=end)
    yield one_node("Size", [x])
    for mode in ("DCR", "CRD"):
        yield one_node("DepthToSpace", [f(1, 12, 2, 3)], opset=11, mode=mode, blocksize=2)
    yield one_node("SpaceToDepth", [f(1, 3, 4, 6)], blocksize=2)
    yield one_node("Concat", [f(2, 3), f(2, 1)], n_fed=2, axis=-1)


def cuts() -> Iterator[OneNode]:
    x = f(4, 6, 5)
    yield one_node("Slice", [x], opset=7, starts=[1, -3], ends=[100, -1], axes=[0, 1])
    yield one_node("Slice", [x], opset=9, starts=[0, 2, 1], ends=[-1, 4, 2**31 - 1])
    yield one_node("Slice", [x, i(-1, 5), i(-(2**63), 0), i(0, 1), i(-2, -3)], opset=13)
    yield one_node("Slice", [x, i(3), i(1), i(-1)], opset=10)
    yield one_node("Slice", [x, np.array([1], np.int32), np.array([3], np.int32)], opset=11)
    yield one_node("Split", [x], opset=11, axis=1, split=[1, 2, 3], n_outputs=3)
    yield one_node("Split", [x], opset=11, axis=-2, n_outputs=3)
    yield one_node("Split", [x, i(4, 1)], opset=13, axis=-1, n_outputs=2)
    yield one_node("Split", [x], opset=18, axis=2, num_outputs=3, n_outputs=3)
    for mode in ("constant", "reflect", "edge"):
        yield one_node("Pad", [x], opset=7, mode=mode, pads=[0, 2, 1, 1, 0, 3], value=2.0)
        yield one_node("Pad", [x, i(1, 0, 2, 0, 3, 1)], opset=11, mode=mode)
        yield one_node("Pad", [x, i(1, 2, 3, 0), None, i(-1, 0)], opset=18, mode=mode)
    yield one_node("Pad", [x, i(1, 0, 2, 0, 3, 1)], opset=19, mode="wrap")
    yield one_node("Pad", [x, i(-1, 0, 2, 0, -3, 1), np.array(7, np.float32)], opset=13)
    for upper, k in product((0, 1), (-2, 0, 1)):
        yield one_node("Trilu", [f(2, 3, 4), np.array(k)], opset=14, upper=upper)
    for batch, time in ((0, 1), (1, 0)):
        yield one_node("ReverseSequence", [f(3, 3, 2), i(1, 3, 2)], n_fed=2, batch_axis=batch, time_axis=time)


def reductions() -> Iterator[OneNode]:
    x = np.abs(f(2, 3, 4)) + 0.1
    kinds = ["L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare"]
    for kind in kinds:
        yield one_node(f"Reduce{kind}", [x], opset=11, axes=[1, -1], keepdims=0)
        yield one_node(f"Reduce{kind}", [x], opset=7)
        yield one_node(f"Reduce{kind}", [x, i(-2)], opset=18)
        yield one_node(f"Reduce{kind}", [x, i()], opset=18, noop_with_empty_axes=0, keepdims=0)
    yield one_node("ReduceSum", [x, i()], opset=13, noop_with_empty_axes=1)
    ties = np.array([[3, 1, 3], [0, 0, 0]], np.float32)
    for op, last, keep in product(("ArgMax", "ArgMin"), (0, 1), (0, 1)):
        yield one_node(op, [ties], opset=12, axis=-1, keepdims=keep, select_last_index=last)
    for exclusive, reverse in product((0, 1), (0, 1)):
        yield one_node("CumSum", [x, np.array(-2)], opset=14, exclusive=exclusive, reverse=reverse)
    yield one_node("TopK", [f(3, 7)], opset=9, k=3, n_outputs=2)
    yield one_node("TopK", [f(3, 7), i(2)], opset=10, axis=0, n_outputs=2)
    yield one_node("TopK", [f(3, 7), i(4)], opset=11, largest=0, n_outputs=2)
    for op, axis in product(("Softmax", "LogSoftmax", "Hardmax"), (0, 1, 2)):
        yield one_node(op, [f(2, 3, 4)], opset=7, axis=axis)
        yield one_node(op, [f(2, 3, 4)], opset=11, axis=axis - 3)
        yield one_node(op, [f(2, 3, 4)], opset=13, axis=axis - 3)
    yield one_node("Softmax", [f(2, 3, 4)], opset=11)
    yield one_node("Softmax", [f(2, 3, 4)], opset=13)


def norms() -> Iterator[OneNode]:
    x, scale, bias, mean, var = f(2, 4, 3, 5), f(4), f(4), f(4), np.abs(f(4)) + 0.5
    for opset in (7, 9, 14, 15):
        yield one_node("BatchNormalization", [x, scale, bias, mean, var], opset=opset, epsilon=1e-3)
    yield one_node("BatchNormalization", [f(3, 4), scale, bias, mean, var], opset=9)
    yield one_node("InstanceNormalization", [x, scale, bias], opset=7, epsilon=1e-2)
    yield one_node("GroupNormalization", [x, f(2), f(2)], opset=18, num_groups=2)
    yield one_node("GroupNormalization", [x, scale, bias], opset=21, num_groups=2, epsilon=1e-2)
    yield one_node("LayerNormalization", [x, f(3, 5), f(3, 5)], opset=17, axis=2)
    yield one_node("LayerNormalization", [x, f(5)], opset=17)
    yield one_node("LayerNormalization", [x, f(5), f(5)], opset=17, n_outputs=3)
    yield one_node("LRN", [f(1, 7, 2, 2)], size=5, alpha=0.3, beta=0.5, bias=2.0)
    yield one_node("LRN", [f(1, 7, 2, 2)], size=3)
    yield one_node("LpNormalization", [x], axis=1, p=1)
    yield one_node("LpNormalization", [x])
    yield one_node("MeanVarianceNormalization", [x], axes=[1, 3])


def products() -> Iterator[OneNode]:
    for a, b in (((2, 3), (3, 4)), ((3,), (3, 4)), ((2, 3), (3,)), ((3,), (3,)), ((5, 1, 2, 3), (4, 3, 2)),
                 ((3,), (5, 3, 2)), ((5, 2, 3), (3,))):  # fmt: skip
        yield one_node("MatMul", [f(*a), f(*b)], n_fed=2)
    for ta, tb, c in product((0, 1), (0, 1), (None, f(1), f(4), f(2, 1), f(2, 4), np.array(3, np.float32))):
        a, b = f(*((3, 2) if ta else (2, 3))), f(*((4, 3) if tb else (3, 4)))
        yield one_node("Gemm", [a, b, c], transA=ta, transB=tb, alpha=0.5, beta=2.0)
        yield one_node("Gemm", [a, b, c], n_fed=2, transA=ta, transB=tb, alpha=0.25)
    yield one_node("Gemm", [f(2, 3), f(3, 4), f(2, 4)], opset=7)
    for equation, *arrays in (
        ("ij,jk->ik", f(2, 3), f(3, 4)), ("ij,jk", f(2, 3), f(3, 4)), ("ij->ji", f(2, 3)), ("ij->", f(2, 3)),
        ("bij,bjk->bik", f(2, 3, 4), f(2, 4, 5)), ("...ij,...jk->...ik", f(2, 3, 4), f(1, 4, 5)), ("ii->i", f(3, 3)),
        ("bhwc,hkc->bhwk", f(2, 3, 4, 5), f(3, 6, 5)), ("i,j->ij", f(3), f(4)), ("ij,ij->", f(2, 3), f(2, 3)),
        ("ij,jk,kl->il", f(2, 3), f(3, 4), f(4, 2)), ("bqhd,bkhd->bhqk", f(2, 3, 2, 5), f(2, 4, 2, 5)),
        ("i,i->i", f(3), f(3)), ("ibnd,jbnd->bnij", f(2, 3, 4, 5), f(6, 3, 4, 5)), ("...i->...", f(2, 3, 4)),
    ):  # fmt: skip
        yield one_node("Einsum", arrays, n_fed=len(arrays), equation=equation)


def elementwise() -> Iterator[OneNode]:
    x = f(2, 3, 4)
    yield one_node("Clip", [x], opset=7, min=-0.5)
    yield one_node("Clip", [x, None, np.array(0.3, np.float32)], opset=11)
    yield one_node("Clip", [x, np.array(-0.1, np.float32), np.array(0.3, np.float32)], opset=13, n_fed=3)
    yield one_node("Clip", [np.arange(-5, 5, dtype=np.int32), np.array(-2, np.int32)], opset=12)
    yield one_node("PRelu", [x, f(3, 1)], opset=9)
    yield one_node("PRelu", [x, f(1)], opset=7)
    yield one_node("Dropout", [x], opset=7, ratio=0.7)
    yield one_node("Dropout", [x], opset=12, n_outputs=2)
    yield one_node("Dropout", [x, np.array(0.7, np.float32), np.array(False)], opset=13)
    for op, count in product(("Sum", "Mean", "Max", "Min"), (1, 2, 4)):
        yield one_node(op, [f(2, 1, 4), f(3, 1), f(1), f(2, 3, 4)][:count], n_fed=count)
    for op in ("Add", "Sub", "Mul", "Div", "Pow"):
        yield one_node(op, [np.abs(f(2, 1, 4)) + 0.1, f(3, 1)], opset=7, n_fed=2)
    a, b = np.array([-7, 7, -7, 7, 5], np.int64), np.array([2, 2, -2, -3, 5], np.int64)
    yield one_node("Div", [a, b], n_fed=2)
    yield one_node("Mod", [a, b], n_fed=2)
    yield one_node("Mod", [a.astype(np.float32), b.astype(np.float32)], n_fed=2, fmod=1)
    yield one_node("Where", [f(2, 3) > 0, f(2, 1), f(3)], n_fed=3)
    yield one_node("Cast", [s(-1.7, 0.0, 2.9)], to=7)
    yield one_node("Cast", [s(-1.7, 0.0, 2.9)], to=9)
    for op in ("Elu", "Celu", "LeakyRelu", "ThresholdedRelu"):
        yield one_node(op, [x], alpha=0.3, opset=12)
    yield one_node("Selu", [x], alpha=1.5, gamma=1.1)
    yield one_node("HardSigmoid", [x], alpha=0.3, beta=0.4)
    yield one_node("HardSwish", [4 * x], opset=14)
    yield one_node("Mish", [x], opset=18)
    yield one_node("Gelu", [x], opset=20)
    yield one_node("Gelu", [x], opset=20, approximate="tanh")
    yield one_node("Shrink", [x], bias=0.1, lambd=0.4)
    yield one_node("IsInf", [s(1, np.inf, -np.inf, np.nan)], detect_negative=0)


def lookups() -> Iterator[OneNode]:
    x = f(3, 4, 5)
    for axis in (0, 1, -1):
        yield one_node("Gather", [x, np.array([[0, 2], [-1, 1]])], n_fed=2, axis=axis)
    yield one_node("Gather", [x, np.array(1)], axis=1)
    yield one_node("GatherElements", [f(3, 3), RNG.integers(-3, 3, (2, 3))], n_fed=2, axis=0)
    yield one_node("GatherND", [x, RNG.integers(0, 3, (2, 2))], n_fed=2)
    yield one_node("GatherND", [x, RNG.integers(0, 4, (3, 2, 1))], n_fed=2, batch_dims=1)
    yield one_node("ScatterElements", [f(3, 3), i(2, 0)[None], f(1, 2)], n_fed=3, opset=11, axis=1)
    yield one_node("Scatter", [f(3, 3), i(2, 0)[None], f(1, 2)], n_fed=3, opset=9, axis=1)
    for how in ("none", "add", "mul", "max", "min"):
        yield one_node("ScatterND", [x, i(0, 2)[:, None], f(2, 4, 5)], n_fed=3, opset=18, reduction=how)
    yield one_node("OneHot", [i(0, -1, 3), i(4), s(2, 5)], axis=0)
    for mode, padding, align in product(("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection"), (0, 1)):
        grid = (1.5 * f(1, 3, 4, 2)).clip(-1.8, 1.8)
        yield one_node(
            "GridSample", [f(1, 2, 5, 6), grid], n_fed=2, opset=16, mode=mode, padding_mode=padding, align_corners=align
        )
    yield one_node("QuantizeLinear", [5 * f(2, 3), s(0.1), np.array([3], np.uint8)], opset=10)
    yield one_node("QuantizeLinear", [5 * f(2, 3), s(0.1, 0.2, 0.3), np.array([3, 0, 9], np.int8)], opset=13, axis=-1)
    yield one_node("QuantizeLinear", [5 * f(2, 4), f(1, 4) ** 2 + 0.1, None], opset=21, axis=0, block_size=2)
    x8 = RNG.integers(0, 255, (2, 5)).astype(np.uint8)
    yield one_node("DequantizeLinear", [x8, s(0.1, 0.2), np.array([3, 200], np.uint8)], opset=13, axis=0)
    yield one_node("DequantizeLinear", [x8, f(2, 3), x8[:, :3]], opset=21, axis=1, block_size=2)


FAMILIES = (convolutions, pools, resizes, shapes, cuts, reductions, norms, products, elementwise, lookups)


def named() -> Iterator[Any]:
    for family in FAMILIES:
        for number, case in enumerate(family()):
            opset = case.model.opset_import[0].version
            yield pytest.param(case, id=f"{family.__name__}-{number}-{case.model.graph.node[0].op_type}-{opset}")


@pytest.mark.parametrize("case", [*named()])
def test_same_as_onnxruntime(case: OneNode) -> None:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(case.model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    expected = session.run(None, case.feeds)
    for got, wanted in zip(evaluated(case), expected, strict=True):
        assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
        scale = float(np.abs(wanted[np.isfinite(wanted)]).max(initial=0.0)) if wanted.dtype.kind == "f" else 0.0
        np.testing.assert_allclose(got, wanted, rtol=0, atol=TOLERANCE * scale)
