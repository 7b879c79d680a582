"""Recognising an ONNX file by its first bytes: ONNX has no signature, so the fields of a ModelProto are walked.

Source: onnx.proto, messages ModelProto and GraphProto; protobuf's wire format.
"""

from __future__ import annotations

from collections.abc import Iterator

_VARINT, _BYTES = 0, 2
_MODEL_FIELDS = {
    1: _VARINT,  # ir_version
    2: _BYTES,  # producer_name
    3: _BYTES,  # producer_version
    4: _BYTES,  # domain
    5: _VARINT,  # model_version
    6: _BYTES,  # doc_string
    7: _BYTES,  # graph
    8: _BYTES,  # opset_import
    14: _BYTES,  # metadata_props
    20: _BYTES,  # training_info
    25: _BYTES,  # functions
    26: _BYTES,  # configuration
}
_TEXTS = (2, 3, 4, 6)
_GRAPH = 7
_GRAPH_FIELDS = (1, 2, 5, 10, 11, 12, 13, 14, 15, 16)
_MAX_IR_VERSION = 1000


def recognises(head: bytes) -> bool:
    """Whether a file's beginning is that of a ModelProto: known fields only, one of them a graph."""
    found = False
    for number, wire, start, end in _fields(head):
        if _MODEL_FIELDS.get(number) != wire:
            return False
        content = head[start:end]
        if number in _TEXTS and not _is_text(content):
            return False
        if number == 1 and not 0 < _varint(head, start)[0] < _MAX_IR_VERSION:
            return False
        if number == _GRAPH:
            if not _looks_like_graph(content):
                return False
            found = True
    return found


def _looks_like_graph(content: bytes) -> bool:
    """Whether the first field is one that a GraphProto has; all of them are length-delimited."""
    first = next(_fields(content), None)
    return first is not None and first[0] in _GRAPH_FIELDS and first[1] == _BYTES


def _fields(data: bytes) -> Iterator[tuple[int, int, int, int]]:
    """(number, wire type, start, end) of each field; a field that cannot be is given as number 0.

    The data may end within a field: it is a file's beginning.
    """
    at = 0
    while at < len(data):
        tag, start = _varint(data, at)
        number, wire = tag >> 3, tag & 7
        if wire == _VARINT:
            _, end = _varint(data, start)
        elif wire == _BYTES:
            length, start = _varint(data, start)
            end = start + length
        else:
            number, end = 0, len(data)
        yield number, wire, start, end
        at = end


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A varint's value and the place behind it; as far as the data goes, and ten bytes at most."""
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            break
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
    return value, at


def _is_text(content: bytes) -> bool:
    # The last character may be cut off with the file's beginning.
    text = content.decode("utf-8", "replace")
    return all(c.isprintable() or c in "\t\r\n\f" for c in text)
