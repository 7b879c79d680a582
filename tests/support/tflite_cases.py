"""Small TensorFlow Lite models, one for each operator, attribute and rank that matters.

A case is a file and the seed-made inputs it is run with. They are compared with LiteRT, and serve as samples for
damage.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tflite

from support.tflite_builder import TYPES, ModelBuilder

ACT = tflite.ActivationFunctionType
SAME, VALID = tflite.Padding.SAME, tflite.Padding.VALID

Array = np.ndarray


@dataclass(frozen=True)
class Case:
    """A model file with inputs."""

    id: str
    operator: str
    data: bytes
    inputs: Mapping[str, Array]
    expected: Array | None = None
    """What the first output holds, where it was worked out by hand."""


def _rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def floats(*shape: int, seed: int = 0, low: float = -3.0, high: float = 3.0) -> Array:
    """Seeded numbers."""
    return _rng(seed).uniform(low, high, shape).astype(np.float32)


def ints(*values: Any, dtype: str = "int32") -> Array:
    """A constant of integers."""
    return np.asarray(values, dtype)


def case(
    id_: str,
    name: str,
    inputs: Sequence[Array],
    outputs: Sequence[tuple[Sequence[int], str]],
    options: str | None = None,
    *,
    constants: Mapping[int, Array] | None = None,
    version: int = 1,
    custom: str | None = None,
    custom_options: bytes = b"",
    expected: Array | None = None,
    **fields: Any,
) -> Case:
    """A model of one operator.

    Args:
        id_: The case's name.
        name: The operator.
        inputs: What the network's inputs hold, in order.
        outputs: Shape and element type of each result.
        options: Option table and its `fields`.
        constants: Operand number to a constant that stands there, among the inputs.
        version: The operator's version.
        custom, custom_options: Of a custom operator.
        expected: What the first result holds, if it is known.
    """
    m = ModelBuilder()
    constants = constants or {}
    waiting = list(inputs)
    operands, fed, feeds = [], [], {}
    for i in range(len(inputs) + len(constants)):
        if i in constants:
            operands.append(m.constant(f"c{i}", constants[i]))
            continue
        array = waiting.pop(0)
        operands.append(m.tensor(f"x{i}", array.shape, TYPES[array.dtype.name]))
        fed.append(operands[-1])
        feeds[f"x{i}"] = array
    results = [m.tensor(f"y{i}", shape, TYPES[dtype]) for i, (shape, dtype) in enumerate(outputs)]
    m.operator(
        name, operands, results, options, version=version, custom=custom, custom_options=custom_options, **fields
    )
    shown = f"CUSTOM {custom}" if custom else name
    return Case(id_, shown, m.build(fed, results), feeds, expected)


def _f32(*shape: int) -> list[tuple[Sequence[int], str]]:
    return [(shape, "float32")]


def _spatial(size: int, kernel: int, stride: int, dilation: int, same: bool) -> int:
    reach = dilation * (kernel - 1) + 1
    return -(-size // stride) if same else (size - reach) // stride + 1


def _conv() -> list[Case]:
    cases = []
    for i, (hw, k, s, d, same) in enumerate(
        [
            ((7, 8), (3, 3), (1, 1), (1, 1), True),
            ((7, 8), (3, 2), (2, 3), (1, 1), True),
            ((9, 8), (3, 2), (2, 1), (1, 1), False),
            ((9, 8), (3, 3), (1, 1), (2, 2), True),
            ((5, 5), (1, 1), (2, 2), (1, 1), True),
            ((6, 6), (5, 5), (4, 4), (1, 1), True),
        ]
    ):
        out = tuple(_spatial(n, a, b, c, same) for n, a, b, c in zip(hw, k, s, d, strict=True))
        common = {
            "Padding": SAME if same else VALID,
            "StrideH": s[0],
            "StrideW": s[1],
            "DilationHFactor": d[0],
            "DilationWFactor": d[1],
        }
        constants = {1: floats(5, *k, 3, seed=1), 2: floats(5, seed=2)}
        cases.append(
            case(
                f"conv_{i}",
                "CONV_2D",
                [floats(2, *hw, 3)],
                _f32(2, *out, 5),
                "Conv2DOptions",
                constants=constants,
                FusedActivationFunction=i % 4,
                **common,
            )
        )
        for multiplier in (1, 2):
            n = 3 * multiplier
            constants = {1: floats(1, *k, n, seed=1), 2: floats(n, seed=2)}
            if s[0] == s[1]:
                cases.append(
                    case(
                        f"depthwise_{i}_{multiplier}",
                        "DEPTHWISE_CONV_2D",
                        [floats(2, *hw, 3)],
                        _f32(2, *out, n),
                        "DepthwiseConv2DOptions",
                        constants=constants,
                        DepthMultiplier=multiplier,
                        **common,
                    )
                )
    cases.append(
        case(
            "conv_groups",
            "CONV_2D",
            [floats(1, 5, 5, 6)],
            _f32(1, 5, 5, 4),
            "Conv2DOptions",
            constants={1: floats(4, 3, 3, 3, seed=1), 2: floats(4, seed=2)},
            Padding=SAME,
            StrideH=1,
            StrideW=1,
        )
    )
    cases.append(
        case(
            "conv_weights_computed",
            "CONV_2D",
            [floats(1, 5, 5, 2), floats(4, 3, 3, 2, seed=3)],
            _f32(1, 3, 3, 4),
            "Conv2DOptions",
            constants={2: floats(4, seed=2)},
            Padding=VALID,
            StrideH=1,
            StrideW=1,
        )
    )
    cases.append(
        case(
            "conv_3d",
            "CONV_3D",
            [floats(1, 4, 5, 6, 2)],
            _f32(1, 4, 3, 3, 3),
            "Conv3DOptions",
            constants={1: floats(3, 3, 2, 2, 3, seed=1), 2: floats(3, seed=2)},
            Padding=SAME,
            StrideD=1,
            StrideH=2,
            StrideW=2,
        )
    )
    return cases


def _conv_transpose() -> list[Case]:
    cases = []
    for i, (n, k, s, same, out) in enumerate(
        [
            ((4, 5), (3, 3), (2, 2), True, (8, 10)),
            ((4, 5), (3, 3), (2, 2), True, (7, 9)),
            ((4, 5), (2, 4), (2, 2), False, (8, 12)),
            ((4, 5), (2, 2), (3, 3), True, (12, 15)),
            ((4, 5), (2, 2), (3, 3), False, (12, 15)),
            ((4, 5), (3, 3), (1, 1), True, (4, 5)),
        ]
    ):
        for bias in (False, True):
            constants = {0: ints(1, *out, 3), 1: floats(3, *k, 2, seed=1)} | ({3: floats(3, seed=2)} if bias else {})
            cases.append(
                case(
                    f"transpose_conv_{i}_{bias}",
                    "TRANSPOSE_CONV",
                    [floats(1, *n, 2)],
                    _f32(1, *out, 3),
                    "TransposeConvOptions",
                    constants=constants,
                    version=3 if bias else 1,
                    Padding=SAME if same else VALID,
                    StrideH=s[0],
                    StrideW=s[1],
                )
            )
    return cases


def _matmul() -> list[Case]:
    w, b = floats(4, 6, seed=1), floats(4, seed=2)
    fc = "FullyConnectedOptions"
    mm = "BatchMatMulOptions"
    return [
        case(
            "fc", "FULLY_CONNECTED", [floats(3, 6)], _f32(3, 4), fc, constants={1: w, 2: b}, FusedActivationFunction=1
        ),
        case("fc_flattens", "FULLY_CONNECTED", [floats(2, 1, 2, 3)], _f32(2, 4), fc, constants={1: w, 2: b}),
        case(
            "fc_keeps",
            "FULLY_CONNECTED",
            [floats(2, 3, 6)],
            _f32(2, 3, 4),
            fc,
            constants={1: w, 2: b},
            version=5,
            KeepNumDims=True,
        ),
        case("fc_no_bias", "FULLY_CONNECTED", [floats(2, 6)], _f32(2, 4), fc, constants={1: w}, version=6),
        case(
            "fc_weights_computed",
            "FULLY_CONNECTED",
            [floats(2, 6), floats(4, 6, seed=3)],
            _f32(2, 4),
            fc,
            constants={2: b},
        ),
        case("batch_matmul", "BATCH_MATMUL", [floats(2, 3, 4), floats(2, 4, 5, seed=1)], _f32(2, 3, 5), mm),
        case(
            "batch_matmul_adjoint",
            "BATCH_MATMUL",
            [floats(2, 4, 3), floats(2, 5, 4, seed=1)],
            _f32(2, 3, 5),
            mm,
            AdjX=True,
            AdjY=True,
        ),
        case(
            "batch_matmul_broadcast",
            "BATCH_MATMUL",
            [floats(2, 1, 3, 4), floats(5, 4, 2, seed=1)],
            _f32(2, 5, 3, 2),
            mm,
        ),
    ]


def _elementwise() -> list[Case]:
    cases = []
    for name in (
        "ABS",
        "CEIL",
        "COS",
        "EXP",
        "FLOOR",
        "HARD_SWISH",
        "LOGISTIC",
        "NEG",
        "RELU",
        "RELU6",
        "RELU_0_TO_1",
        "RELU_N1_TO_1",
        "ROUND",
        "SIGN",
        "SIN",
        "SQUARE",
        "TANH",
        "ELU",
    ):
        cases += [case(name.lower(), name, [floats(2, 3, 5)], _f32(2, 3, 5))]
    for name in ("LOG", "RSQRT", "SQRT"):
        cases += [case(name.lower(), name, [floats(2, 7, low=0.1)], _f32(2, 7))]
    cases += [case("round_halves", "ROUND", [np.arange(-3, 3, 0.5, np.float32)], _f32(12))]
    x, y = floats(2, 3, 4), floats(3, 1, seed=1)
    for name, options in (("ADD", "AddOptions"), ("SUB", "SubOptions"), ("MUL", "MulOptions"), ("DIV", "DivOptions")):
        cases += [case(name.lower(), name, [x, y], _f32(2, 3, 4), options, FusedActivationFunction=ACT.RELU6)]
        i, j = ints(-7, 7, 6, -9), ints(2, -2, 4, 5)
        cases += [case(f"{name.lower()}_int", name, [i, j], [((4,), "int32")], options)]
    for name in ("MAXIMUM", "MINIMUM", "SQUARED_DIFFERENCE", "FLOOR_DIV", "FLOOR_MOD", "ATAN2"):
        second = floats(2, 3, 4, seed=1) if name == "ATAN2" else y
        cases += [case(name.lower(), name, [x, second], _f32(2, 3, 4))]
    for name in ("FLOOR_DIV", "FLOOR_MOD"):
        cases += [case(f"{name.lower()}_int", name, [ints(-7, 7, 6, -9), ints(2, -2, 4, 5)], [((4,), "int32")])]
    cases += [case("pow", "POW", [floats(2, 3, low=0.2), floats(2, 3, seed=1)], _f32(2, 3))]
    for name in ("EQUAL", "NOT_EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL"):
        a, b = _rng(0).integers(0, 3, (2, 2, 3, 4)), _rng(1).integers(0, 3, (4,))
        cases += [case(name.lower(), name, [a.astype(np.float32), b.astype(np.float32)], [((2, 2, 3, 4), "bool")])]
        cases.append(
            case(f"{name.lower()}_int", name, [a.astype(np.int32), b.astype(np.int32)], [((2, 2, 3, 4), "bool")])
        )
    p, q = _rng(0).integers(0, 2, (2, 2, 5)) > 0, _rng(1).integers(0, 2, (2, 2, 5)) > 0
    for name in ("LOGICAL_AND", "LOGICAL_OR"):
        cases += [case(name.lower(), name, [p, q], [((2, 2, 5), "bool")])]
    cases += [case("logical_not", "LOGICAL_NOT", [p], [((2, 2, 5), "bool")])]
    cases += [case("leaky_relu", "LEAKY_RELU", [x], _f32(2, 3, 4), "LeakyReluOptions", Alpha=0.3)]
    cases += [case("prelu", "PRELU", [floats(1, 3, 4, 5)], _f32(1, 3, 4, 5), constants={1: floats(1, 1, 5, seed=1)})]
    for approximate in (False, True):
        cases += [case(f"gelu_{approximate}", "GELU", [x], _f32(2, 3, 4), "GeluOptions", Approximate=approximate)]
    cases += [case("add_n", "ADD_N", [x, x * 2, x - 1], _f32(2, 3, 4), "AddNOptions")]
    cases += [case("cast_to_int", "CAST", [x], [((2, 3, 4), "int32")], "CastOptions", OutDataType=2)]
    cases += [case("cast_to_float", "CAST", [ints(1, -2, 3)], _f32(3), "CastOptions", InDataType=2)]
    cases.append(
        case(
            "cast_to_bool",
            "CAST",
            [np.asarray([0, 1, -2, 0], np.float32)],
            [((4,), "bool")],
            "CastOptions",
            OutDataType=6,
        )
    )
    rows = np.asarray([True, False])
    cases += [case("select_rows", "SELECT", [rows, x, x + 1], _f32(2, 3, 4), "SelectOptions")]
    mask = _rng(5).integers(0, 2, (2, 3, 4)) > 0
    cases += [case("select", "SELECT", [mask, x, x + 1], _f32(2, 3, 4), "SelectOptions")]
    cases += [case("select_v2", "SELECT_V2", [mask, x, floats(3, 1, seed=4)], _f32(2, 3, 4), "SelectV2Options")]
    return cases


def _pool() -> list[Case]:
    cases = []
    for name in ("MAX_POOL_2D", "AVERAGE_POOL_2D", "L2_POOL_2D"):
        for i, (k, s, same) in enumerate([((2, 2), (2, 2), True), ((3, 2), (1, 2), True), ((3, 3), (2, 2), False)]):
            out = tuple(_spatial(n, a, b, 1, same) for n, a, b in zip((7, 9), k, s, strict=True))
            cases.append(
                case(
                    f"{name.lower()}_{i}",
                    name,
                    [floats(2, 7, 9, 3)],
                    _f32(2, *out, 3),
                    "Pool2DOptions",
                    Padding=SAME if same else VALID,
                    StrideH=s[0],
                    StrideW=s[1],
                    FilterHeight=k[0],
                    FilterWidth=k[1],
                    FusedActivationFunction=ACT.RELU if i == 1 else ACT.NONE,
                )
            )
    return cases


def _reduce() -> list[Case]:
    cases = []
    x = floats(2, 3, 4, 5)
    for name in ("MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD"):
        for axes, keep, shape in (((1, 2), True, (2, 1, 1, 5)), ((-1, 0), False, (3, 4)), ((2,), False, (2, 3, 5))):
            cases.append(
                case(
                    f"{name.lower()}_{len(axes)}_{keep}",
                    name,
                    [x],
                    _f32(*shape),
                    "ReducerOptions",
                    constants={1: ints(*axes)},
                    KeepDims=keep,
                )
            )
    p = _rng(0).integers(0, 2, (2, 3, 2)) > 0
    for name in ("REDUCE_ANY", "REDUCE_ALL"):
        cases += [case(name.lower(), name, [p], [((2, 3), "bool")], "ReducerOptions", constants={1: ints(2)})]
    tied = np.asarray([[1, 5, 5, 2], [-1, -1, -3, -3]], np.float32)
    cases.append(
        case("arg_max", "ARG_MAX", [tied], [((2,), "int64")], "ArgMaxOptions", constants={1: ints(-1)}, OutputType=4)
    )
    cases.append(
        case("arg_min", "ARG_MIN", [tied], [((4,), "int32")], "ArgMinOptions", constants={1: ints(0)}, OutputType=2)
    )
    for exclusive in (False, True):
        for reverse in (False, True):
            cases += [
                case(
                    f"cumsum_{exclusive}_{reverse}",
                    "CUMSUM",
                    [x],
                    _f32(2, 3, 4, 5),
                    "CumsumOptions",
                    constants={1: ints(-2)},
                    Exclusive=exclusive,
                    Reverse=reverse,
                )
            ]
    cases.append(
        case(
            "top_k",
            "TOPK_V2",
            [floats(2, 7)],
            [((2, 3), "float32"), ((2, 3), "int32")],
            "TopKV2Options",
            constants={1: np.asarray(3, np.int32)},
        )
    )
    cases += [case("softmax", "SOFTMAX", [floats(2, 3, 4)], _f32(2, 3, 4), "SoftmaxOptions", Beta=0.7)]
    cases += [case("log_softmax", "LOG_SOFTMAX", [floats(3, 4)], _f32(3, 4), "LogSoftmaxOptions")]
    cases += [case("l2_normalization", "L2_NORMALIZATION", [floats(2, 3, 4)], _f32(2, 3, 4), "L2NormOptions")]
    cases.append(
        case(
            "lrn",
            "LOCAL_RESPONSE_NORMALIZATION",
            [floats(1, 2, 2, 9)],
            _f32(1, 2, 2, 9),
            "LocalResponseNormalizationOptions",
            Radius=2,
            Bias=1.5,
            Alpha=0.4,
            Beta=0.6,
        )
    )
    return cases


def _shape() -> list[Case]:
    x = floats(2, 3, 4)
    f = _f32
    return [
        case("reshape", "RESHAPE", [x], f(6, 4), "ReshapeOptions", constants={1: ints(-1, 4)}, NewShape=[-1, 4]),
        case("reshape_by_options", "RESHAPE", [x], f(4, 6), "ReshapeOptions", NewShape=[4, -1]),
        case("squeeze", "SQUEEZE", [floats(1, 3, 1, 2)], f(3, 1, 2), "SqueezeOptions", SqueezeDims=[0]),
        case("squeeze_negative", "SQUEEZE", [floats(1, 3, 1, 2)], f(1, 3, 2), "SqueezeOptions", SqueezeDims=[-2]),
        case("squeeze_all", "SQUEEZE", [floats(1, 3, 1, 2)], f(3, 2), "SqueezeOptions"),
        case("expand_dims", "EXPAND_DIMS", [x], f(2, 3, 1, 4), "ExpandDimsOptions", constants={1: ints(-2)}),
        case("transpose", "TRANSPOSE", [x], f(4, 2, 3), "TransposeOptions", constants={1: ints(2, 0, 1)}),
        case(
            "concatenation", "CONCATENATION", [x, floats(2, 1, 4, seed=1)], f(2, 4, 4), "ConcatenationOptions", Axis=-2
        ),
        case("pack", "PACK", [x, x + 1], f(2, 3, 2, 4), "PackOptions", Axis=2, ValuesCount=2),
        case("unpack", "UNPACK", [x], f(2, 4) * 3, "UnpackOptions", Axis=1, Num=3),
        case(
            "split", "SPLIT", [x], f(2, 3, 2) * 2, "SplitOptions", constants={0: np.asarray(2, np.int32)}, NumSplits=2
        ),
        case(
            "split_v",
            "SPLIT_V",
            [x],
            [((2, 1, 4), "float32"), ((2, 2, 4), "float32")],
            "SplitVOptions",
            constants={1: ints(1, -1), 2: np.asarray(1, np.int32)},
            NumSplits=2,
        ),
        case("tile", "TILE", [x], f(2, 6, 12), "TileOptions", constants={1: ints(1, 2, 3)}),
        case(
            "broadcast_to",
            "BROADCAST_TO",
            [floats(3, 1)],
            f(2, 3, 4),
            "BroadcastToOptions",
            version=2,
            constants={1: ints(2, 3, 4)},
        ),
        case("fill", "FILL", [np.asarray(2.5, np.float32)], f(2, 3), "FillOptions", constants={0: ints(2, 3)}),
        case("zeros_like", "ZEROS_LIKE", [x], f(2, 3, 4), "ZerosLikeOptions"),
        case("shape", "SHAPE", [x], [((3,), "int64")], "ShapeOptions", OutType=4),
        case("rank", "RANK", [x], [((), "int32")], "RankOptions"),
    ]


def _slicing() -> list[Case]:
    x = floats(4, 5, 6)
    f = _f32
    s = "StridedSliceOptions"

    def strided(id_: str, begin: Array, end: Array, step: Array, shape: Sequence[int], **masks: int) -> Case:
        return case(
            f"strided_slice_{id_}", "STRIDED_SLICE", [x], f(*shape), s, constants={1: begin, 2: end, 3: step}, **masks
        )

    return [
        case("slice", "SLICE", [x], f(2, 5, 2), "SliceOptions", constants={1: ints(1, 0, 3), 2: ints(2, -1, 2)}),
        strided("plain", ints(1, 0, 1), ints(3, 5, 6), ints(1, 2, 3), (2, 3, 2)),
        strided("negative", ints(-1, 4, 5), ints(-4, -10, 0), ints(-1, -2, -2), (3, 3, 3)),
        strided("masks", ints(9, 1, 2), ints(2, 9, 4), ints(1, 1, 1), (2, 4, 2), BeginMask=1, EndMask=2),
        strided("shrink", ints(1, 0, -1), ints(2, 5, 0), ints(1, 1, 1), (5,), ShrinkAxisMask=5),
        strided("short", ints(1), ints(3), ints(1), (2, 5, 6)),
        strided("ellipsis", ints(0, 1), ints(0, 4), ints(1, 1), (4, 5, 3), EllipsisMask=1),
        strided("new_axis", ints(1, 0, 2), ints(3, 0, 4), ints(1, 1, 1), (2, 1, 2, 6), NewAxisMask=2),
        strided("empty", ints(3, 0, 0), ints(1, 5, 6), ints(1, 1, 1), (0, 5, 6)),
        strided("clamped", ints(-20, 2, 0), ints(20, 50, 6), ints(1, 1, 1), (4, 3, 6)),
        case("pad", "PAD", [x], f(5, 8, 6), "PadOptions", constants={1: ints([0, 1], [1, 2], [0, 0])}),
        case(
            "pad_v2",
            "PADV2",
            [x],
            f(5, 8, 6),
            "PadV2Options",
            constants={1: ints([0, 1], [1, 2], [0, 0], dtype="int64"), 2: np.asarray(-1.5, np.float32)},
        ),
        case(
            "mirror_reflect",
            "MIRROR_PAD",
            [x],
            f(6, 8, 6),
            "MirrorPadOptions",
            constants={1: ints([1, 1], [2, 1], [0, 0])},
            Mode=0,
        ),
        case(
            "mirror_symmetric",
            "MIRROR_PAD",
            [x],
            f(6, 8, 6),
            "MirrorPadOptions",
            constants={1: ints([1, 1], [2, 1], [0, 0])},
            Mode=1,
        ),
        case("reverse", "REVERSE_V2", [x], f(4, 5, 6), "ReverseV2Options", constants={1: ints(1)}),
        case(
            "reverse_sequence",
            "REVERSE_SEQUENCE",
            [x, ints(1, 3, 5, 2)],
            f(4, 5, 6),
            "ReverseSequenceOptions",
            SeqDim=1,
            BatchDim=0,
        ),
    ]


def _gather() -> list[Case]:
    x = floats(4, 3, 5)
    f = _f32
    return [
        case("gather", "GATHER", [x, ints([2, 0], [1, 1])], f(4, 2, 2, 5), "GatherOptions", Axis=1),
        case(
            "gather_batch",
            "GATHER",
            [x, _rng(0).integers(0, 5, (4, 3, 2)).astype(np.int32)],
            f(4, 3, 2),
            "GatherOptions",
            Axis=2,
            BatchDims=2,
        ),
        case("gather_nd", "GATHER_ND", [x, ints([3, 1], [0, 2])], f(2, 5), "GatherNdOptions"),
        case(
            "scatter_nd",
            "SCATTER_ND",
            [ints([1], [3], [1]), floats(3, 2)],
            f(4, 2),
            "ScatterNdOptions",
            constants={2: ints(4, 2)},
        ),
        case(
            "one_hot",
            "ONE_HOT",
            [ints([1, 3], [-1, 9], [0, 2])],
            f(3, 4, 2),
            "OneHotOptions",
            constants={1: np.asarray(4, np.int32), 2: np.asarray(2, np.float32), 3: np.asarray(-1, np.float32)},
            Axis=1,
        ),
        case(
            "one_hot_last",
            "ONE_HOT",
            [ints(1, 3)],
            f(2, 4),
            "OneHotOptions",
            constants={1: np.asarray(4, np.int32), 2: np.asarray(1, np.float32), 3: np.asarray(0, np.float32)},
            Axis=-1,
        ),
        case("embedding_lookup", "EMBEDDING_LOOKUP", [ints(2, 0, 1)], f(3, 3, 5), constants={1: x}),
    ]


def _resize() -> list[Case]:
    cases = []
    x = floats(2, 3, 4, 2)
    for name, options in (
        ("RESIZE_BILINEAR", "ResizeBilinearOptions"),
        ("RESIZE_NEAREST_NEIGHBOR", "ResizeNearestNeighborOptions"),
    ):
        for size in ((6, 8), (2, 3), (7, 9), (1, 1)):
            for mode in ({}, {"AlignCorners": True}, {"HalfPixelCenters": True}):
                cases += [
                    case(
                        f"{name.lower()}_{size[0]}_{''.join(mode)}",
                        name,
                        [x],
                        _f32(2, *size, 2),
                        options,
                        constants={1: ints(*size)},
                        version=3,
                        **mode,
                    )
                ]
    return cases


def _space() -> list[Case]:
    f = _f32
    return [
        case(
            "depth_to_space", "DEPTH_TO_SPACE", [floats(2, 3, 4, 12)], f(2, 6, 8, 3), "DepthToSpaceOptions", BlockSize=2
        ),
        case(
            "space_to_depth", "SPACE_TO_DEPTH", [floats(2, 6, 4, 3)], f(2, 3, 2, 12), "SpaceToDepthOptions", BlockSize=2
        ),
        case(
            "space_to_batch",
            "SPACE_TO_BATCH_ND",
            [floats(2, 5, 6, 3)],
            f(12, 3, 3, 3),
            "SpaceToBatchNDOptions",
            constants={1: ints(2, 3), 2: ints([0, 1], [1, 2])},
        ),
        case(
            "space_to_batch_3d",
            "SPACE_TO_BATCH_ND",
            [floats(2, 6, 3)],
            f(4, 3, 3),
            "SpaceToBatchNDOptions",
            constants={1: ints(2), 2: ints([0, 0])},
        ),
        case(
            "batch_to_space",
            "BATCH_TO_SPACE_ND",
            [floats(12, 3, 3, 3)],
            f(2, 5, 6, 3),
            "BatchToSpaceNDOptions",
            constants={1: ints(2, 3), 2: ints([0, 1], [1, 2])},
        ),
    ]


_FAMILIES: tuple[Callable[[], list[Case]], ...] = (
    _conv,
    _conv_transpose,
    _matmul,
    _elementwise,
    _pool,
    _reduce,
    _shape,
    _slicing,
    _gather,
    _resize,
    _space,
)


def all_cases() -> list[Case]:
    """Every case."""
    return [c for family in _FAMILIES for c in family()]


def cases_by_hand() -> list[Case]:
    """Cases whose results are written down here, for what LiteRT lacks or does only with constants."""
    x, y = np.asarray([1.5, -2.5, 0.25], np.float32), np.asarray([2.0, -0.5, 4.0], np.float32)
    f = _f32(3)
    unary = {
        "ABS": np.abs(x), "COSINE": np.cos(x), "EXPONENTIAL": np.exp(x), "FLOOR": np.floor(x),
        "LOGISTIC": 1 / (1 + np.exp(-x)), "NEGATE": -x, "TANH": np.tanh(x),
    }  # fmt: skip
    binary = {
        "ADD": x + y, "DIVIDE": x / y, "MAXIMUM": np.maximum(x, y), "MINIMUM": np.minimum(x, y),
        "MULTIPLY": x * y, "REMAINDER": np.fmod(x, y), "SUBTRACT": x - y,
    }  # fmt: skip
    cases = [case(f"stablehlo_{n.lower()}", f"STABLEHLO_{n}", [x], f, expected=v) for n, v in unary.items()]
    cases += [case(f"stablehlo_{n.lower()}", f"STABLEHLO_{n}", [x, y], f, expected=v) for n, v in binary.items()]
    positive = np.abs(x)
    mask, other = np.asarray([True, False, True]), np.asarray([True, True, False])
    a, b = ints(6, -3, 12), ints(3, 1, 10)
    cases += [
        case("stablehlo_log", "STABLEHLO_LOG", [positive], f, expected=np.log(positive)),
        case("stablehlo_rsqrt", "STABLEHLO_RSQRT", [positive], f, expected=1 / np.sqrt(positive)),
        case("stablehlo_power", "STABLEHLO_POWER", [positive, y], f, expected=positive**y),
        case("stablehlo_select", "STABLEHLO_SELECT", [mask, x, y], f, expected=np.where(mask, x, y)),
        case("stablehlo_clamp", "STABLEHLO_CLAMP", [x, y, x + 1], f, expected=np.minimum(np.maximum(x, y), x + 1)),
        case("stablehlo_and", "STABLEHLO_AND", [mask, other], [((3,), "bool")], expected=mask & other),
        case("stablehlo_or_int", "STABLEHLO_OR", [a, b], [((3,), "int32")], expected=a | b),
        case("stablehlo_convert", "STABLEHLO_CONVERT", [x], [((3,), "int32")], expected=ints(1, -2, 0)),
        case("stablehlo_reshape", "STABLEHLO_RESHAPE", [x], _f32(3, 1), expected=x[:, None]),
        case(
            "stablehlo_transpose",
            "STABLEHLO_TRANSPOSE",
            [floats(2, 3)],
            _f32(3, 2),
            "StablehloTransposeOptions",
            Permutation=np.asarray([1, 0], np.int64),
            expected=floats(2, 3).T,
        ),
        case(
            "stablehlo_concatenate",
            "STABLEHLO_CONCATENATE",
            [x, y],
            _f32(6),
            "StablehloConcatenateOptions",
            Dimension=0,
            expected=np.concatenate([x, y]),
        ),
        case("bitwise_xor", "BITWISE_XOR", [a, b], [((3,), "int32")], expected=a ^ b),
        case("bitwise_xor_bool", "BITWISE_XOR", [mask, other], [((3,), "bool")], expected=mask ^ other),
        case(
            "right_shift",
            "RIGHT_SHIFT",
            [ints(200, 7, 1, dtype="uint32"), ints(3, 1, 0, dtype="uint32")],
            [((3,), "uint32")],
            expected=ints(25, 3, 1, dtype="uint32"),
        ),
        case(
            "range",
            "RANGE",
            [],
            [((3,), "int32")],
            constants=dict(enumerate(map(np.int32, (7, -2, -3)))),
            expected=ints(7, 4, 1),
        ),
        case(
            "range_float",
            "RANGE",
            [],
            _f32(4),
            constants=dict(enumerate(map(np.float32, (0, 1, 0.25)))),
            expected=np.asarray([0, 0.25, 0.5, 0.75], np.float32),
        ),
        case(
            "where",
            "WHERE",
            [],
            [((2, 2), "int64")],
            constants={0: np.asarray([[True, False], [False, True]])},
            expected=ints([0, 0], [1, 1], dtype="int64"),
        ),
        case(
            "broadcast_args",
            "BROADCAST_ARGS",
            [],
            [((3,), "int32")],
            constants={0: ints(4, 1), 1: ints(2, 1, 5)},
            expected=ints(2, 4, 5),
        ),
        case(
            "fake_quant",
            "FAKE_QUANT",
            [np.asarray([-9, -0.3, 0.4, 9], np.float32)],
            _f32(4),
            "FakeQuantOptions",
            Min=-1.0,
            Max=2.0,
            NumBits=2,
            expected=np.asarray([-1, 0, 0, 2], np.float32),
        ),
        case(
            "conv_3d_transpose",
            "CONV_3D_TRANSPOSE",
            [np.ones((1, 1, 1, 2, 1), np.float32)],
            _f32(1, 1, 1, 4, 1),
            "Conv3DOptions",
            constants={0: ints(1, 1, 1, 4, 1), 1: np.asarray([3, 5], np.float32).reshape(1, 1, 2, 1, 1)},
            Padding=VALID,
            StrideD=1,
            StrideH=1,
            StrideW=2,
            expected=np.asarray([3, 5, 3, 5], np.float32).reshape(1, 1, 1, 4, 1),
        ),
    ]
    directions = tflite.StablehloComparisonDirection
    for name, expected in (
        ("EQ", x == y),
        ("NE", x != y),
        ("GE", x >= y),
        ("GT", x > y),
        ("LE", x <= y),
        ("LT", x < y),
    ):
        code = getattr(directions, f"STABLEHLO_COMPARISON_DIRECTION_{name}")
        cases += [
            case(
                f"stablehlo_compare_{name}",
                "STABLEHLO_COMPARE",
                [x, y],
                [((3,), "bool")],
                "StablehloCompareOptions",
                ComparisonDirection=code,
                expected=expected,
            )
        ]
    return cases + _transpose_bias()


def _transpose_bias() -> list[Case]:
    """MediaPipe's transposed convolution of a row (1, 2) with weights (3, 5), stride 2, bias 1."""
    cases = []
    row, weights = np.asarray([1, 2], np.float32), np.asarray([3, 5], np.float32)
    for padding in (1, 2):
        cases += [
            case(
                f"transpose_bias_{padding}",
                "CUSTOM",
                [row.reshape(1, 1, 2, 1)],
                _f32(1, 1, 4, 1),
                constants={1: weights.reshape(1, 1, 2, 1), 2: np.ones(1, np.float32)},
                custom="Convolution2DTransposeBias",
                custom_options=ints(padding, 2, 1, dtype="<i4").tobytes(),
                expected=np.asarray([4, 6, 7, 11], np.float32).reshape(1, 1, 4, 1),
            )
        ]
    return cases
