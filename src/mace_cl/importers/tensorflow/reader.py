"""A file's bytes to a GraphDef: recognises the format, and tells how to freeze what is not frozen."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from google.protobuf import text_format
from google.protobuf.message import DecodeError

from mace_cl.errors import FormatError, ImportModelError, UnsupportedError
from mace_cl.importers.tensorflow.schema import GraphDef

FREEZE_HINT = """freeze it first, where TensorFlow is installed:
    import tensorflow as tf
    from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2
    model = tf.saved_model.load("FOLDER")    # or tf.keras.models.load_model(...) and tf.function(model)
    frozen = convert_variables_to_constants_v2(model.signatures["serving_default"])
    tf.io.write_graph(frozen.graph.as_graph_def(), ".", "frozen.pb", as_text=False)
(TensorFlow 1: python -m tensorflow.python.tools.freeze_graph), or export it to .tflite or .onnx"""

VARIABLES = frozenset(
    {
        "Variable",
        "VariableV2",
        "VarHandleOp",
        "AutoReloadVariable",
        "TemporaryVariable",
        "ReadVariableOp",
        "AssignVariableOp",
        "Assign",
        "ResourceGather",
        "HashTableV2",
        "RestoreV2",
    }
)
CALLS = frozenset(
    {"PartitionedCall", "StatefulPartitionedCall", "SymbolicGradient", "If", "StatelessIf", "While", "StatelessWhile"}
)
"""Operators that a frozen graph does not have: they read variables, or call functions of the graph's library."""


_TEXT_START = re.compile(rb"(\s|#[^\n]*\n)*(node|versions|library)\s*:?\s*\{")


def _varint(data: bytes, at: int) -> tuple[int, int] | None:
    """A varint's value and the place behind it; None where the data ends or it is too long."""
    value = 0
    for shift in range(0, 64, 7):
        if at >= len(data):
            return None
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    return None


def _open(data: bytes, at: int, tag: int) -> tuple[int, int] | None:
    """Length and start of a length-delimited field with this tag byte at `at`; None where there is none."""
    return _varint(data, at + 1) if at < len(data) and data[at] == tag else None


def is_graph_def(head: bytes) -> bool:
    """Whether a file begins as a GraphDef does: a node that begins with a name and an operator."""
    node = _open(head, 0, 0x0A)
    name = _open(head, node[1], 0x0A) if node else None
    if node is None or name is None or not 0 < name[0] < node[0]:
        return False
    operator = _open(head, name[0] + name[1], 0x12)
    if operator is None:
        return False
    length, start = operator
    text = head[start : start + length]
    return 0 < length == len(text) and start + length <= node[0] + node[1] and text.replace(b"_", b"").isalnum()


def is_saved_model(head: bytes) -> bool:
    """Whether a file begins as a saved_model.pb does: schema version 1, then a meta graph."""
    graph = _open(head, 2, 0x12) if head[:2] == b"\x08\x01" else None
    return graph is not None and head[graph[1] : graph[1] + 1] in (b"\x0a", b"\x12")


def is_meta_graph(head: bytes) -> bool:
    """Whether a file begins as a checkpoint's .meta does: information that begins with a list of operators."""
    info = _open(head, 0, 0x0A)
    listed = _open(head, info[1], 0x12) if info else None
    operator = _open(head, listed[1], 0x0A) if listed else None
    return operator is not None and head[operator[1] : operator[1] + 1] == b"\x0a"


def is_text_graph(head: bytes) -> bool:
    """Whether a file begins as a GraphDef in text form does."""
    return _TEXT_START.match(head) is not None


def read_graph_def(path: Path) -> Any:
    """The GraphDef of a frozen graph's file.

    Raises:
        ImportModelError: The file cannot be read.
        FormatError: Its bytes are no GraphDef.
        UnsupportedError: It is a saved model or a checkpoint's graph; says how to freeze it.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ImportModelError(f"cannot be read: {error.strerror}", where=str(path)) from error
    if is_saved_model(data):
        raise UnsupportedError("this is a SavedModel, not a frozen graph", where=str(path), hint=FREEZE_HINT)
    if is_meta_graph(data):
        raise UnsupportedError("this is a checkpoint's meta graph, not a frozen one", where=str(path), hint=FREEZE_HINT)
    graph = GraphDef()
    try:
        if is_text_graph(data):
            text_format.Parse(data.decode("utf-8"), graph, allow_unknown_field=True)
        else:
            graph.ParseFromString(data)
    except (DecodeError, text_format.ParseError, UnicodeDecodeError) as error:
        raise FormatError("the file is damaged, or no GraphDef", where=str(path)) from error
    if not graph.node:
        raise FormatError("the graph has no nodes", where=str(path))
    return graph


def check_frozen(nodes: Iterable[Any], functions: frozenset[str], where: str) -> None:
    """Refuse a graph that reads variables or calls functions.

    Raises:
        UnsupportedError: It does; names some nodes and says how to freeze it.
    """
    found = [n for n in nodes if n.op in VARIABLES or n.op in CALLS or n.op in functions]
    if found:
        some = ", ".join(f"{n.name!r} ({n.op})" for n in found[:3]) + (" ..." if len(found) > 3 else "")
        what = "variables" if any(n.op in VARIABLES for n in found) else "function calls"
        raise UnsupportedError(f"the graph is not frozen: it has {what}, as {some}", where=where, hint=FREEZE_HINT)
