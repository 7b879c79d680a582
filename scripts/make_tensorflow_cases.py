"""Write tests/data/tensorflow_cases.npz: small graphs made and run by TensorFlow itself.

Run it where TensorFlow is installed: `python scripts/make_tensorflow_cases.py`. For each case the file holds the
GraphDef (`NAME/graph`), its inputs (`NAME/in/INPUT`) and its outputs (`NAME/out/OUTPUT`).
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

RAW = tf.raw_ops
RNG = np.random.default_rng(7)
OPEN = ("reshape_by_shape", "fill", "range", "size_and_rank")
"""Cases whose inputs have unknown sizes, so that TensorFlow does not compute the shapes itself."""
CASES: dict[str, tuple[Callable[..., Any], list[np.ndarray]]] = {}


def normal(*shape: int, dtype: str = "float32") -> np.ndarray:
    """Random numbers, integers from -9 to 9."""
    return (RNG.standard_normal(shape) if dtype.startswith("float") else RNG.integers(-9, 10, shape)).astype(dtype)


def case(name: str, function: Callable[..., Any], *inputs: np.ndarray) -> None:
    """Add a case; the function's arguments are placeholders."""
    assert name not in CASES, name
    CASES[name] = (function, list(inputs))


def convolutions() -> None:
    """Every kind of padding, stride, dilation and group."""
    x = normal(2, 9, 8, 4)
    for padding in ("SAME", "VALID"):
        for stride, dilation, kernel in ((1, 1, 3), (2, 1, 3), (2, 1, 2), (1, 2, 3), (3, 1, 1)):
            w = normal(kernel, kernel + 1, 4, 6)
            depthwise = normal(kernel, kernel, 4, 2)
            tail = f"{padding}_s{stride}_d{dilation}_k{kernel}"
            given = {"padding": padding, "dilations": [1, dilation, dilation, 1]}
            case(
                f"conv_{tail}",
                lambda x, w=w, s=stride, g=given: RAW.Conv2D(input=x, filter=w, strides=[1, s, s, 1], **g),
                x,
            )
            case(
                f"depthwise_{tail}",
                lambda x, w=depthwise, s=stride, g=given: RAW.DepthwiseConv2dNative(
                    input=x, filter=w, strides=[1, s, s, 1], **g
                ),
                x,
            )
    explicit = {"padding": "EXPLICIT", "explicit_paddings": [0, 0, 1, 2, 0, 3, 0, 0]}
    w = normal(3, 3, 4, 6)
    case("conv_explicit", lambda x, w=w: RAW.Conv2D(input=x, filter=w, strides=[1, 2, 1, 1], **explicit), x)
    grouped = normal(3, 3, 2, 6)
    case("conv_grouped", lambda x: RAW.Conv2D(input=x, filter=grouped, strides=[1, 1, 1, 1], padding="SAME"), x)
    w3 = normal(2, 3, 2, 2, 3)
    case(
        "conv3d",
        lambda x: RAW.Conv3D(input=x, filter=w3, strides=[1, 1, 2, 1, 1], padding="SAME"),
        normal(1, 4, 5, 6, 2),
    )
    for rate, edges, crops in ((2, [[2, 3], [2, 2]], [[0, 1], [0, 0]]), (2, [[0, 1], [0, 0]], [[0, 0], [0, 0]])):
        case(
            f"conv_between_blocks_{edges[0][0]}",
            lambda x, w=w, r=rate, e=edges, c=crops: RAW.BatchToSpaceND(
                input=RAW.Conv2D(
                    input=RAW.SpaceToBatchND(input=x, block_shape=[r, r], paddings=e),
                    filter=w,
                    strides=[1, 1, 1, 1],
                    padding="VALID",
                ),
                block_shape=[r, r],
                crops=c,
            ),
            x,
        )
    for padding in ("SAME", "VALID"):
        for stride, size in ((2, (9, 11)), (3, (9, 11)), (1, (9, 11))):
            w = normal(3, 4, 5, 4)
            like = np.zeros((1, *size, 5), np.float32)
            forward = tf.nn.conv2d(like, normal(3, 4, 5, 4), [1, stride, stride, 1], padding)
            case(
                f"conv_transpose_{padding}_{stride}",
                lambda x, w=w, s=stride, z=size, p=padding: RAW.Conv2DBackpropInput(
                    input_sizes=[1, *z, 5], filter=w, out_backprop=x, strides=[1, s, s, 1], padding=p
                ),
                normal(*forward.shape),
            )
    wd = normal(3, 3, 4, 2)
    case(
        "depthwise_transpose",
        lambda x: RAW.DepthwiseConv2dNativeBackpropInput(
            input_sizes=[1, 8, 8, 4], filter=wd, out_backprop=x, strides=[1, 2, 2, 1], padding="SAME"
        ),
        normal(1, 4, 4, 8),
    )
    wt = normal(2, 3, 3, 2, 4)
    case(
        "conv3d_transpose",
        lambda x: RAW.Conv3DBackpropInputV2(
            input_sizes=[1, 4, 6, 5, 2], filter=wt, out_backprop=x, strides=[1, 2, 2, 1, 1], padding="SAME"
        ),
        normal(1, 2, 3, 5, 4),
    )
    b = normal(4)
    case("bias", lambda x: RAW.BiasAdd(value=x, bias=b), x)


def products() -> None:
    """Matrix products."""
    for ta in (False, True):
        for tb in (False, True):
            a, b = normal(*((4, 3) if ta else (3, 4))), normal(*((5, 4) if tb else (4, 5)))
            case(f"matmul_{ta:d}{tb:d}", lambda a, b, t=(ta, tb): tf.matmul(a, b, *t), a, b)
    case("identity_n", lambda a, b: RAW.Sub(x=(r := RAW.IdentityN(input=[a, b]))[1], y=r[0]), normal(3), normal(3))
    case(
        "batch_matmul_v3",
        lambda a, b: RAW.BatchMatMulV3(x=a, y=b, Tout=tf.float32, adj_x=True),
        normal(2, 4, 3),
        normal(2, 4, 5),
    )
    case("batch_matmul", lambda a, b: RAW.BatchMatMulV2(x=a, y=b, adj_y=True), normal(2, 1, 3, 4), normal(3, 5, 4))


def pools_and_norms() -> None:
    """Pooling and normalisation."""
    x = normal(2, 7, 8, 3)
    for padding in ("SAME", "VALID"):
        given = {"ksize": [1, 3, 2, 1], "strides": [1, 2, 2, 1], "padding": padding}
        case(f"max_pool_{padding}", lambda x, g=given: RAW.MaxPool(input=x, **g), x)
        case(f"average_pool_{padding}", lambda x, g=given: RAW.AvgPool(value=x, **g), x)
    case("max_pool_v2", lambda x: RAW.MaxPoolV2(input=x, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID"), x)
    for op in ("MaxPool3D", "AvgPool3D"):
        case(
            op.lower(),
            lambda x, op=op: getattr(RAW, op)(input=x, ksize=[1, 2, 3, 2, 1], strides=[1, 1, 2, 2, 1], padding="SAME"),
            normal(1, 3, 5, 4, 2),
        )
    scale, offset, mean, variance = normal(3), normal(3), normal(3), np.abs(normal(3)) + 0.5
    case(
        "fused_batch_norm",
        lambda x: (
            RAW.FusedBatchNormV3(
                x=x, scale=scale, offset=offset, mean=mean, variance=variance, epsilon=0.002, is_training=False
            ).y
        ),
        x,
    )
    case("lrn", lambda x: RAW.LRN(input=x, depth_radius=2, bias=1.5, alpha=0.3, beta=0.6), normal(1, 3, 3, 7))
    for op in ("Softmax", "LogSoftmax"):
        case(op.lower(), lambda x, op=op: getattr(RAW, op)(logits=x), normal(2, 5))


UNARY = [
    *("Abs", "Neg", "Exp", "Sin", "Cos", "Tan", "Atan", "Sinh", "Cosh", "Asinh", "Tanh", "Sigmoid", "Erf", "Erfc"),
    *("Floor", "Ceil", "Round", "Rint", "Sign", "Square", "Expm1", "IsNan", "IsInf", "IsFinite", "ZerosLike"),
]
FEATURES = ["Relu", "Relu6", "Elu", "Selu", "Softplus", "Softsign"]
BINARY = [
    *("Add", "AddV2", "Sub", "Mul", "Maximum", "Minimum", "SquaredDifference", "Greater", "GreaterEqual", "Less"),
    *("LessEqual", "Equal", "NotEqual", "Div", "FloorDiv", "FloorMod", "Mod"),
]


def elementwise() -> None:
    """Arithmetic of one, two and three inputs."""
    x = np.concatenate([normal(4, 5).ravel() * 3, [-2.5, -1.5, -0.5, 0, 0.5, 1.5, 2.5]]).astype(np.float32)
    for op in UNARY:
        case(f"unary_{op}", lambda x, op=op: getattr(RAW, op)(x=x), x)
    for op in FEATURES:
        case(f"activation_{op}", lambda x, op=op: getattr(RAW, op)(features=x), x)
    for op in ("Sqrt", "Rsqrt", "Log", "Log1p", "Reciprocal", "Inv"):
        case(f"positive_{op}", lambda x, op=op: getattr(RAW, op)(x=x), np.abs(x) + 0.1)
    inside = RNG.uniform(-0.9, 0.9, 9).astype(np.float32)
    for op in ("Acos", "Asin", "Atanh"):
        case(f"inside_{op}", lambda x, op=op: getattr(RAW, op)(x=x), inside)
    case("acosh", lambda x: RAW.Acosh(x=x), inside + 2)
    case("leaky_relu", lambda x: RAW.LeakyRelu(features=x, alpha=0.3), x)
    case("leaky_relu_default", lambda x: RAW.LeakyRelu(features=x), x)
    for op in BINARY:
        case(f"float_{op}", lambda x, y, op=op: getattr(RAW, op)(x=x, y=y), normal(2, 3, 4), normal(3, 1) + 0.01)
        a, b = normal(2, 30, dtype="int32"), normal(30, dtype="int32")
        b[b == 0] = 3
        if op != "Div":
            case(f"int_{op}", lambda x, y, op=op: getattr(RAW, op)(x=x, y=y), a, b)
    for op in ("BitwiseAnd", "BitwiseOr", "BitwiseXor", "TruncateMod"):
        case(f"int_{op}", lambda x, y, op=op: getattr(RAW, op)(x=x, y=y), a, b)
    case("int_TruncateDiv", lambda x, y: RAW.TruncateDiv(x=x, y=y), a, b)
    case("pow", lambda x, y: RAW.Pow(x=x, y=y), np.abs(normal(3, 4)), normal(4))
    case("div_no_nan", lambda x, y: RAW.DivNoNan(x=x, y=y), normal(4), np.array([0, 1, -2, 0], np.float32))
    flags = np.array([True, False, True])
    case("logic", lambda a, b: RAW.LogicalOr(x=RAW.LogicalAnd(x=a, y=b), y=RAW.LogicalNot(x=b)), flags, flags[::-1])
    case("select_v2", lambda c, a: RAW.SelectV2(condition=c, t=a, e=0.0), flags[:, None], normal(3, 4))
    case("select_vector", lambda c, a, b: RAW.Select(condition=c, x=a, y=b), flags, normal(3, 4), normal(3, 4))
    case("add_n", lambda a, b: RAW.AddN(inputs=[a, b, a]), normal(3), normal(3))
    case("clip", lambda x: RAW.ClipByValue(t=x, clip_value_min=-0.5, clip_value_max=0.7), x)
    case("cast_to_int", lambda x: RAW.Cast(x=x, DstT=tf.int32), x)
    case("cast_to_bool", lambda x: RAW.Cast(x=x, DstT=tf.bool), x)
    for narrow in (False, True):
        case(
            f"fake_quant_{narrow:d}",
            lambda x, n=narrow: RAW.FakeQuantWithMinMaxVars(inputs=x, min=-1.3, max=5.1, narrow_range=n),
            x,
        )


def reductions() -> None:
    """Reductions and searches."""
    x = normal(2, 3, 4)
    for op in ("Mean", "Sum", "Max", "Min", "Prod", "EuclideanNorm"):
        for axes, keep in (([1], False), ([-1, 0], True), ([0, 1, 2], False)):
            case(
                f"reduce_{op}_{len(axes)}",
                lambda x, op=op, a=axes, k=keep: getattr(RAW, op)(input=x, axis=a, keep_dims=k),
                x,
            )
    case("reduce_all", lambda x: RAW.All(input=x > 0.0, axis=[1]), x)
    case("reduce_any", lambda x: RAW.Any(input=x > 0.0, axis=[1]), x)
    case("arg_max", lambda x: RAW.ArgMax(input=x, dimension=-1, output_type=tf.int32), x)
    case("arg_min", lambda x: RAW.ArgMin(input=x, dimension=1), x)
    case("cumsum", lambda x: RAW.Cumsum(x=x, axis=-1, exclusive=True, reverse=True), x)
    case("top_k", lambda x: list(RAW.TopKV2(input=x, k=3)), normal(2, 6))


def shapes() -> None:
    """Rearranging, joining, cutting, padding."""
    x = normal(2, 3, 4)
    case("reshape", lambda x: RAW.Reshape(tensor=x, shape=[4, -1]), x)
    case("reshape_by_shape", lambda x: tf.reshape(x, tf.stack([tf.shape(x)[0], -1])), x)
    case("squeeze_all", lambda x: RAW.Squeeze(input=x), normal(1, 3, 1, 2))
    case("squeeze", lambda x: RAW.Squeeze(input=x, axis=[-2]), normal(1, 3, 1, 2))
    case("expand_dims", lambda x: RAW.ExpandDims(input=x, axis=-2), x)
    case("transpose", lambda x: RAW.Transpose(x=x, perm=[2, 0, 1]), x)
    case("tile", lambda x: RAW.Tile(input=x, multiples=[2, 1, 3]), x)
    case("broadcast_to", lambda x: RAW.BroadcastTo(input=x, shape=[5, 2, 3, 4]), x)
    case("pack", lambda a, b: RAW.Pack(values=[a, b], axis=-1), x, normal(2, 3, 4))
    case("unpack", lambda x: RAW.Unpack(value=x, num=3, axis=1), x)
    case("concat", lambda a, b: RAW.ConcatV2(values=[a, b], axis=-2), x, normal(2, 5, 4))
    case("concat_v1", lambda a, b: RAW.Concat(concat_dim=1, values=[a, b]), x, normal(2, 5, 4))
    case("split", lambda x: RAW.Split(axis=-1, value=x, num_split=2), x)
    case("split_v", lambda x: RAW.SplitV(value=x, size_splits=[1, -1, 1], axis=2, num_split=3), x)
    case("slice", lambda x: RAW.Slice(input=x, begin=[0, 1, 2], size=[1, -1, 2]), x)
    for mode in ("REFLECT", "SYMMETRIC"):
        case(f"mirror_{mode}", lambda x, m=mode: RAW.MirrorPad(input=x, paddings=[[0, 1], [2, 1], [0, 3]], mode=m), x)
    case("pad", lambda x: RAW.Pad(input=x, paddings=[[0, 1], [2, 1], [0, 3]]), x)
    case("pad_v2", lambda x: RAW.PadV2(input=x, paddings=[[0, 1], [2, 1], [0, 3]], constant_values=-7.5), x)
    case("reverse", lambda x: RAW.ReverseV2(tensor=x, axis=[-1, 0]), x)
    lengths = np.array([1, 3], np.int32)
    case("reverse_sequence", lambda x, n: RAW.ReverseSequence(input=x, seq_lengths=n, seq_dim=1), x, lengths)
    y = normal(5, 6, 7)
    for i, cut in enumerate(
        [
            np.s_[1:3, ::2, ::-1],
            np.s_[..., 2],
            np.s_[1, ..., tf.newaxis, -3:],
            np.s_[tf.newaxis, 2:, -1],
            np.s_[4:1:-2, :0, :],
            np.s_[-1:-9:-2],
            np.s_[:, tf.newaxis, ..., 1:100],
            np.s_[2, 3, 4],
        ]
    ):
        case(f"strided_slice_{i}", lambda x, c=cut: x[c], y)
    case("fill", lambda x: tf.fill(tf.shape(x), 2.5) + x, x)
    case("range", lambda x: x + tf.cast(tf.range(1, 1 + 2 * tf.shape(x)[2], 2), tf.float32), x)
    case("size_and_rank", lambda x: x + tf.cast(tf.size(x) * tf.rank(x), tf.float32), x)


def gathers() -> None:
    """Indexed reads and writes."""
    x, at = normal(3, 4, 5), np.array([[2, 0], [1, 1]], np.int32)
    case("gather", lambda x, i: RAW.GatherV2(params=x, indices=i, axis=-2), x, at)
    case("gather_batched", lambda x, i: RAW.GatherV2(params=x, indices=i, axis=2, batch_dims=1), x[:2], at)
    case("gather_nd", lambda x, i: RAW.GatherNd(params=x, indices=i), x, at)
    case("scatter_nd", lambda u, i: RAW.ScatterNd(indices=i, updates=u, shape=[3, 4, 2]), normal(2, 2), at)
    case("one_hot", lambda i: RAW.OneHot(indices=i, depth=3, on_value=2.0, off_value=-1.0, axis=1), at - 1)


def resizes() -> None:
    """Interpolation, and space to depth."""
    x = normal(1, 5, 4, 2)
    for size in ((9, 11), (3, 2), (10, 8), (1, 1)):
        for corners, centres in ((False, False), (True, False), (False, True)):
            given = {"size": list(size), "align_corners": corners, "half_pixel_centers": centres}
            tail = f"{size[0]}x{size[1]}_{corners:d}{centres:d}"
            case(f"bilinear_{tail}", lambda x, g=given: RAW.ResizeBilinear(images=x, **g), x)
            case(f"nearest_{tail}", lambda x, g=given: RAW.ResizeNearestNeighbor(images=x, **g), x)
            case(f"bicubic_{tail}", lambda x, g=given: RAW.ResizeBicubic(images=x, **g), x)
    case(
        "bilinear_of_bytes",
        lambda x: RAW.ResizeBilinear(images=x, size=[3, 7]),
        np.arange(40, dtype=np.uint8).reshape(1, 5, 4, 2),
    )
    case("depth_to_space", lambda x: RAW.DepthToSpace(input=x, block_size=2), normal(1, 2, 3, 12))
    case("space_to_depth", lambda x: RAW.SpaceToDepth(input=x, block_size=2), normal(1, 4, 6, 3))
    edges = [[1, 0], [2, 2]]
    case(
        "space_to_batch", lambda x: RAW.SpaceToBatchND(input=x, block_shape=[2, 3], paddings=edges), normal(2, 5, 5, 3)
    )
    crops = [[1, 0], [2, 1]]
    case("batch_to_space", lambda x: RAW.BatchToSpaceND(input=x, block_shape=[2, 3], crops=crops), normal(12, 3, 4, 2))


def record(function: Callable[..., Any], inputs: list[np.ndarray], is_open: bool) -> dict[str, np.ndarray]:
    """The graph of a function, its inputs and its outputs."""
    shapes = [(None,) * a.ndim if is_open else a.shape for a in inputs]
    specs = [tf.TensorSpec(s, a.dtype, name=f"x{i}") for i, (s, a) in enumerate(zip(shapes, inputs, strict=True))]
    # Default arguments, which bind the loops' variables, must not become placeholders.
    concrete = tf.function(lambda *given: function(*given), autograph=False).get_concrete_function(*specs)
    graph = concrete.graph
    arrays = {"graph": np.frombuffer(graph.as_graph_def().SerializeToString(), np.uint8)}
    arrays |= {f"in/x{i}": a for i, a in enumerate(inputs)}
    results = tf.nest.flatten(concrete(*map(tf.constant, inputs)))
    names = [t.name.removesuffix(":0") for t in graph.outputs]
    return arrays | {f"out/{n}": r.numpy() for n, r in zip(names, results, strict=True)}


def main() -> None:
    """Write the file; equal cases give equal bytes."""
    for family in (convolutions, products, pools_and_norms, elementwise, reductions, shapes, gathers, resizes):
        family()
    path = Path(__file__).parent.parent / "tests" / "data" / "tensorflow_cases.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, (function, inputs) in CASES.items():
            for key, array in record(function, inputs, name in OPEN).items():
                buffer = io.BytesIO()
                np.save(buffer, array)
                archive.writestr(zipfile.ZipInfo(f"{name}/{key}.npy"), buffer.getvalue(), zipfile.ZIP_DEFLATED)
    print(f"{path}: {len(CASES)} cases, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
