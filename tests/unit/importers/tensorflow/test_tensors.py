"""TensorProto in its two forms."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
from google.protobuf.message import DecodeError
from hypothesis import given, settings
from hypothesis import strategies as st

from mace_cl.errors import FormatError, UnsupportedError
from mace_cl.importers.tensorflow.schema import TensorProto
from mace_cl.importers.tensorflow.tensors import TYPE_NUMBERS, read_tensor
from mace_cl.types import DataType
from support.graph_def import shape_proto

FIELDS = {
    "float32": "float_val",
    "float64": "double_val",
    "int32": "int_val",
    "int8": "int_val",
    "uint8": "int_val",
    "uint16": "int_val",
    "int16": "int_val",
    "int64": "int64_val",
    "bool": "bool_val",
    "uint32": "uint32_val",
    "uint64": "uint64_val",
}


def proto(dtype: str, shape: tuple[int, ...] | None, content: bytes = b"") -> TensorProto:
    return TensorProto(dtype=TYPE_NUMBERS[DataType(dtype)], tensor_shape=shape_proto(shape), tensor_content=content)


@pytest.mark.parametrize("dtype", [t.value for t in DataType])
def test_content_is_read_in_every_type(dtype: str) -> None:
    array = np.array([[0, 1, 3], [7, 100, 1]]).astype(dtype)
    result = read_tensor(proto(dtype, (2, 3), array.tobytes()), "t")
    assert result.dtype == array.dtype
    np.testing.assert_array_equal(result, array)


@pytest.mark.parametrize("dtype", FIELDS)
def test_the_last_listed_value_stands_for_the_rest(dtype: str) -> None:
    tensor = proto(dtype, (2, 2))
    getattr(tensor, FIELDS[dtype]).extend([0, 1])
    assert read_tensor(tensor, "t").tolist() == [[0, 1], [1, 1]]


def test_half_values_are_bits() -> None:
    tensor = proto("float16", (3,))
    tensor.half_val.extend(np.array([1.5, -2], np.float16).view(np.uint16).tolist())
    assert read_tensor(tensor, "t").tolist() == [1.5, -2, -2]


@pytest.mark.parametrize("shape", [(), (2, 3), (0,)])
def test_no_values_are_zeros(shape: tuple[int, ...]) -> None:
    np.testing.assert_array_equal(read_tensor(proto("float32", shape), "t"), np.zeros(shape))


@pytest.mark.parametrize(("shape", "content"), [((2,), b"1234"), (None, b""), ((-1,), b""), ((2**40,), b"")])
def test_shapes_that_do_not_fit_are_refused(shape: tuple[int, ...] | None, content: bytes) -> None:
    with pytest.raises(FormatError, match="constant"):
        read_tensor(proto("float32", shape, content), "t")


def test_too_many_values_are_refused() -> None:
    tensor = proto("float32", (1,))
    tensor.float_val.extend([1, 2])
    with pytest.raises(FormatError, match="has 2 values"):
        read_tensor(tensor, "t")


def test_types_without_counterpart_are_named() -> None:
    with pytest.raises(UnsupportedError, match="element type string is not built"):
        read_tensor(TensorProto(dtype=7), "t")


@settings(max_examples=50)
@given(st.binary(max_size=60))
def test_any_bytes_end_in_a_known_error(data: bytes) -> None:
    tensor = TensorProto()
    try:
        tensor.ParseFromString(data)
    except DecodeError:
        return
    with contextlib.suppress(FormatError, UnsupportedError):
        read_tensor(tensor, "t")
