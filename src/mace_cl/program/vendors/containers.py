"""Files of other engines, recognised by name so that nobody looks for kernels of ours in them. None is unpickled."""

from __future__ import annotations

import struct
from collections.abc import Callable

from mace_cl.errors import FormatError
from mace_cl.program.vendors.cursor import Cursor, decode
from mace_cl.program.vendors.description import BinaryDescription, DescribePart, FieldValue, clip

_SCAN = 1 << 20
_PADDLE = b"lite_opencl_precompiled_binary_identifier"
_TINYGRAD = b"compile_cl_"
_MNN_NAMES = (b"conv_2d_1x1", b"winogradTransform", b"gemm_conv", b"raster_buffer", b"raster_image", b"matmul_buf",
              b"depthwise_conv2d", b"DepthwiseConv2D", b"conv_transe_c", b"nc4hw4_buffer_to_image")  # fmt: skip
_TNN_STRINGS = ((0, 30), (30, 330), (330, 630))
_TNN_RECORDS = {640: "64-bit", 636: "32-bit"}

_MAGICS: tuple[tuple[int, bytes, str, str], ...] = (
    (4, b"AFCM", "tflite-gpu-cache", "TensorFlow Lite's serialized GPU cache"),
    (4, b"TFL3", "tflite-model", "TensorFlow Lite model"),
    (0, b"GGMLCLBC", "llama.cpp-cache", "llama.cpp's cache of OpenCL binaries"),
    (0, b"FUTZ", "ncnn-cache", "ncnn's pipeline cache"),
    (0, b"meta=1.0;ov=", "openvino-blob", "OpenVINO compiled blob"),
    (0, b"GGUF", "gguf-model", "GGUF model"),
    (0, b"PK\x03\x04", "zip", "zip archive"),
    (0, b"\x1f\x8b", "gzip", "gzip archive"),
    (0, b"\x89HDF\r\n\x1a\n", "hdf5", "HDF5 file"),
    (0, b"\x93NUMPY", "npy", "NumPy array"),
    (0, b"bplist00", "apple-plist", "Apple binary property list"),
)


def _by_magic(data: memoryview) -> BinaryDescription | None:
    for offset, magic, kind, title in _MAGICS:
        if bytes(data[offset : offset + len(magic)]) == magic:
            return BinaryDescription(kind, title)
    return None


def _sqlite(data: memoryview) -> BinaryDescription | None:
    if bytes(data[:16]) != b"SQLite format 3\0":
        return None
    if _TINYGRAD in bytes(data[:_SCAN]):
        return BinaryDescription("tinygrad-cache", "tinygrad's cache (SQLite)")
    return BinaryDescription("sqlite", "SQLite database")


def _openvino(data: memoryview) -> BinaryDescription | None:
    head = bytes(data[:4096])
    if head.lstrip().startswith(b"<?xml") and (b"<net" in head or b"<cnn" in head or b"<compiled_blob" in head):
        return BinaryDescription("openvino-blob", "OpenVINO network or compiled blob")
    return None


def _paddle(data: memoryview) -> BinaryDescription | None:
    if not _is_flatbuffer(data):
        return None
    head = bytes(data[:_SCAN])
    place = head.find(_PADDLE)
    if place < 0:
        return None
    fields: dict[str, FieldValue] = {}
    identity = head.find(b"place_holder")
    if identity >= 0:
        start = head.rfind(b"\0", 0, identity) + 1
        fields["identity"] = clip(decode(head[start : identity + 12]))
    return BinaryDescription("paddle-lite-cache", "Paddle-Lite's cache of OpenCL binaries", fields)


def _mnn(data: memoryview) -> BinaryDescription | None:
    if not _is_flatbuffer(data):
        return None
    head = bytes(data[:_SCAN])
    if sum(name in head for name in _MNN_NAMES) < 1:
        return None
    return BinaryDescription("mnn-cache", "MNN's cache (guessed from its kernels' names)", is_heuristic=True)


def _is_flatbuffer(data: memoryview) -> bool:
    """Whether root table and its vtable lie where a flatbuffer has them."""
    if data.nbytes < 16:
        return False
    (root,) = struct.unpack_from("<I", data)
    if not 4 <= root <= data.nbytes - 4:
        return False
    (back,) = struct.unpack_from("<i", data, root)
    vtable = root - back
    if not 0 <= vtable <= data.nbytes - 4:
        return False
    size, table = Cursor(data, "flatbuffer", vtable).unpack("HH")
    return size >= 4 and size % 2 == 0 and table >= 4 and vtable + size <= data.nbytes


def _tnn(data: memoryview) -> BinaryDescription | None:
    for record, bits in _TNN_RECORDS.items():
        if data.nbytes and data.nbytes % record == 0 and _is_tnn_record(data[:record]):
            return BinaryDescription(
                "tnn-cache", "TNN's index of OpenCL binaries", {"programs": data.nbytes // record, "made by": bits}
            )
    return None


def _is_tnn_record(data: memoryview) -> bool:
    texts = [bytes(data[a:b]) for a, b in _TNN_STRINGS]
    for text in texts:
        body, _, padding = text.partition(b"\0")
        if any(padding) or not all(32 <= c < 127 for c in body):
            return False
    return texts[0][0] != 0


def _tvm(data: memoryview) -> BinaryDescription | None:
    """A count, then texts with 64-bit lengths."""
    try:
        cursor = Cursor(data, "TVM")
        count = cursor.u64()
        if not 1 <= count <= 65536:
            return None
        names = []
        for _ in range(min(count, 4)):
            raw = bytes(cursor.take(cursor.u64()))
            if not raw or not all(32 <= c < 127 for c in raw[:256]):
                return None
            names.append(raw[:64].decode("ascii"))
    except FormatError:
        return None
    return BinaryDescription("tvm-programs", "TVM's saved OpenCL programs", {"first names": clip(", ".join(names))})


_RECOGNISERS: tuple[Callable[[memoryview], BinaryDescription | None], ...] = (
    _by_magic,
    _sqlite,
    _openvino,
    _paddle,
    _mnn,
    _tnn,
    _tvm,
)


def recognise(data: memoryview) -> BinaryDescription | None:
    """The other engine's file that this is, or None."""
    for recogniser in _RECOGNISERS:
        found = recogniser(data)
        if found is not None:
            return found
    return None


def matches(data: memoryview) -> bool:
    """Whether this is a file of another engine."""
    return recognise(data) is not None


def describe(data: memoryview, part: DescribePart) -> BinaryDescription:
    """The engine's name, and what little is read of the file.

    Raises:
        FormatError: It is none.
    """
    found = recognise(data)
    if found is None:
        raise FormatError("is no file of another engine")
    return found
