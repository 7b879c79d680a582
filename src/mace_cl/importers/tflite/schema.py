"""Names of the schema's numbers, taken from the `tflite` package, and their counterparts here."""

from __future__ import annotations

import tflite

from mace_cl.types import DataType


def _names(enum: type) -> dict[int, str]:
    return {v: k for k, v in vars(enum).items() if isinstance(v, int)}


OPERATORS = _names(tflite.BuiltinOperator)
"""Operator code to name."""

TENSOR_TYPES = _names(tflite.TensorType) | {19: "INT2", 20: "UINT4"}
"""Tensor type code to name; the last two are newer than some versions of the package."""

OPTIONS = _names(tflite.BuiltinOptions)
OPTIONS_2 = _names(tflite.BuiltinOptions2)
ACTIVATIONS = _names(tflite.ActivationFunctionType)

CUSTOM = "CUSTOM"

DATA_TYPES = {
    "FLOAT16": DataType.FLOAT16,
    "FLOAT32": DataType.FLOAT32,
    "FLOAT64": DataType.FLOAT64,
    "INT8": DataType.INT8,
    "INT16": DataType.INT16,
    "INT32": DataType.INT32,
    "INT64": DataType.INT64,
    "UINT8": DataType.UINT8,
    "UINT16": DataType.UINT16,
    "UINT32": DataType.UINT32,
    "UINT64": DataType.UINT64,
    "BOOL": DataType.BOOL,
    # Constants of these types are widened when they are read, and results are computed in the wider type.
    "BFLOAT16": DataType.FLOAT32,
    "INT4": DataType.INT8,
    "INT2": DataType.INT8,
    "UINT4": DataType.UINT8,
}
"""Tensor type name to element type; STRING, COMPLEX64, COMPLEX128, RESOURCE and VARIANT have none."""

PACKED_BITS = {"INT4": 4, "UINT4": 4, "INT2": 2}
"""Types whose elements share a byte, with the bits of one."""

WIDENED = frozenset({"BFLOAT16", *PACKED_BITS})


def operator_name(code: int) -> str:
    """The operator's name, or what is known of a code newer than the installed schema."""
    known = OPERATORS.get(code)
    if known is not None:
        return known
    return f"operator code {code} (newer than the installed tflite package, which ends at {max(OPERATORS)})"
