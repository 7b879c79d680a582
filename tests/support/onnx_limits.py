"""What of the ONNX standard is not built here, and why: every case that needs it must be refused, all others pass."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from onnx import AttributeProto, TensorProto

from support.onnx_cases import Case

_SEQUENCES = "tensors only: sequences and optionals hold a number of tensors that is known when the network runs"
_STRINGS = "tensors of numbers only"
_RECURRENT = "recurrent networks are not built"
_LOOPS = "networks without loops only"
_RANDOM = "its result is random"
_BY_DATA = "the shape of its result depends on data"
_SIGNALS = "signal processing is not built"
_INTEGER_PRODUCTS = "products of integers are not built; DequantizeLinear, Conv or MatMul, QuantizeLinear are"
_TRAINING = "networks are run here, not trained"
_CLASSIC = "classic machine learning, not networks"

OPERATORS: dict[str, str] = {
    "BitCast": "elements of all types are kept as numbers, not as bits",
    "Col2Im": "not built",
    "ConcatFromSequence": _SEQUENCES,
    "ConvInteger": _INTEGER_PRODUCTS,
    "CumProd": "not built",
    "DFT": _SIGNALS,
    "DeformConv": "not built",
    "Det": "not built",
    "GRU": _RECURRENT,
    "ImageDecoder": "pictures are decoded outside of the network",
    "LSTM": _RECURRENT,
    "Loop": _LOOPS,
    "MatMulInteger": _INTEGER_PRODUCTS,
    "MaxRoiPool": "not built",
    "MaxUnpool": "not built",
    "MelWeightMatrix": _SIGNALS,
    "Multinomial": _RANDOM,
    "NonMaxSuppression": _BY_DATA,
    "Optional": _SEQUENCES,
    "OptionalGetElement": _SEQUENCES,
    "OptionalHasElement": _SEQUENCES,
    "QLinearConv": _INTEGER_PRODUCTS,
    "QLinearMatMul": _INTEGER_PRODUCTS,
    "RNN": _RECURRENT,
    "RandomNormal": _RANDOM,
    "RandomNormalLike": _RANDOM,
    "RandomUniform": _RANDOM,
    "RandomUniformLike": _RANDOM,
    "RegexFullMatch": _STRINGS,
    "RoiAlign": "not built",
    "STFT": _SIGNALS,
    "Scan": _LOOPS,
    "SequenceAt": _SEQUENCES,
    "SequenceConstruct": _SEQUENCES,
    "SequenceEmpty": _SEQUENCES,
    "SequenceErase": _SEQUENCES,
    "SequenceInsert": _SEQUENCES,
    "SequenceLength": _SEQUENCES,
    "SplitToSequence": _SEQUENCES,
    "StringConcat": _STRINGS,
    "StringNormalizer": _STRINGS,
    "StringSplit": _STRINGS,
    "TensorScatter": "not built",
    "TfIdfVectorizer": "texts are counted outside of the network",
    "Unique": _BY_DATA,
}
"""Operators of ONNX's own domain that no function converts."""

FUNCTIONS: dict[str, str] = {
    "Bernoulli": "RandomUniformLike",
    "LinearAttention": "Scan",
}
"""Operators that ONNX defines by others, and the one of those that is not built."""

OTHER_DOMAINS: dict[str, str] = {
    "Adagrad": _TRAINING,
    "Adam": _TRAINING,
    "ArrayFeatureExtractor": _CLASSIC,
    "Binarizer": _CLASSIC,
    "Momentum": _TRAINING,
    "TreeEnsemble": _CLASSIC,
}
"""Operators of other domains that the standard has cases for."""

TYPES: dict[str, str] = {
    "bfloat16": "NumPy has no such type, and no reference could be computed",
    "float4e2m1": "narrow floating-point types are not built",
    "float8e4m3fn": "narrow floating-point types are not built",
    "float8e4m3fnuz": "narrow floating-point types are not built",
    "float8e5m2": "narrow floating-point types are not built",
    "float8e5m2fnuz": "narrow floating-point types are not built",
    "float8e8m0": "narrow floating-point types are not built",
    "int2": "packed integers are not built",
    "int4": "packed integers are not built",
    "optional_type": _SEQUENCES,
    "sequence_type": _SEQUENCES,
    "string": _STRINGS,
    "uint2": "packed integers are not built",
    "uint4": "packed integers are not built",
}
"""Element types and kinds of values that no tensor here has."""

CASES: dict[str, str] = {
    "batchnorm_epsilon_training_mode": _TRAINING,
    "batchnorm_example_training_mode": _TRAINING,
    "not_2d": "operator set 1 is older than 7",
    "not_3d": "operator set 1 is older than 7",
    "not_4d": "operator set 1 is older than 7",
    "training_dropout": _TRAINING,
    "training_dropout_default": _TRAINING,
    "training_dropout_default_mask": _TRAINING,
    "training_dropout_mask": _TRAINING,
}
"""Single cases, and what their errors say."""


def reasons(case: Case) -> list[str]:
    """What of the case is not built, each as the error must say it; empty where it has to pass."""
    found = [CASES[case.name]] if case.name in CASES else []
    found += [FUNCTIONS[o] for o in sorted(case.operators) if o in FUNCTIONS]
    found += [o for o in sorted(case.operators) if o in OPERATORS or o in OTHER_DOMAINS]
    return found + sorted(kinds(case.model.graph) & set(TYPES))


def kinds(graph: Any) -> set[str]:
    """Every element type in a GraphProto, and the kinds of values that are no tensors."""
    return set(_kinds(graph))


def _kinds(graph: Any) -> Iterator[str]:
    for info in (*graph.input, *graph.output, *graph.value_info):
        kind = info.type.WhichOneof("value")
        yield _name(info.type.tensor_type.elem_type) if kind == "tensor_type" else str(kind)
    for tensor in graph.initializer:
        yield _name(tensor.data_type)
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == AttributeProto.TENSOR:
                yield _name(attribute.t.data_type)
            elif attribute.type == AttributeProto.GRAPH:
                yield from _kinds(attribute.g)
            elif attribute.name in ("to", "dtype", "output_dtype"):
                yield _name(attribute.i)


def _name(number: int) -> str:
    return str(TensorProto.DataType.Name(number).lower())
