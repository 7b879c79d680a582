"""Recognising files, and telling how to freeze what is not frozen."""

from __future__ import annotations

import contextlib
from pathlib import Path

import numpy as np
import pytest
from google.protobuf import text_format
from hypothesis import given, settings
from hypothesis import strategies as st

from mace_cl.errors import FormatError, ImportModelError, MaceError, UnsupportedError
from mace_cl.importers.options import ImportOptions
from mace_cl.importers.tensorflow import import_file, recognises
from mace_cl.types import DataType
from support.graph_def import GraphDefBuilder


def small() -> GraphDefBuilder:
    builder = GraphDefBuilder()
    x = builder.placeholder("x", (1, 4))
    builder.node("Add", "y", x, np.ones(4, np.float32))
    return builder


def length_delimited(tag: int, payload: bytes) -> bytes:
    assert len(payload) < 128
    return bytes([tag, len(payload)]) + payload


SAVED_MODEL = b"\x08\x01" + length_delimited(0x12, length_delimited(0x0A, b""))
META_GRAPH = length_delimited(0x0A, length_delimited(0x12, length_delimited(0x0A, length_delimited(0x0A, b"Add"))))


def test_graphs_are_recognised_by_content() -> None:
    data = small().bytes()
    assert recognises(data)
    assert recognises(data[:64])
    assert recognises(SAVED_MODEL)
    assert recognises(META_GRAPH)
    assert recognises(b"# a graph\nnode {\n  name: ")


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"\n",
        b"\x0a\x05",
        b"\x08\x07\x12\x07pytorch",
        b"\x08\x01\x12\x07pytorch",
        b"TFL3",
        b"name: value\n",
        b"\x0a" * 64,
    ],
)
def test_other_files_are_not(head: bytes) -> None:
    assert not recognises(head)


@settings(max_examples=50)
@given(st.binary(max_size=64))
def test_recognising_never_fails(head: bytes) -> None:
    assert recognises(head) in (True, False)


def test_text_form(tmp_path: Path) -> None:
    path = tmp_path / "graph.pbtxt"
    path.write_text(text_format.MessageToString(small().proto))
    assert recognises(path.read_bytes())
    assert "DT_FLOAT" in path.read_text()
    graph = import_file(path, ImportOptions())
    assert [n.op.name for n in graph.nodes] == ["Add"]


@pytest.mark.parametrize(("data", "what"), [(SAVED_MODEL, "a SavedModel"), (META_GRAPH, "a checkpoint's meta graph")])
def test_unfrozen_files_tell_how_to_freeze(tmp_path: Path, data: bytes, what: str) -> None:
    path = tmp_path / "saved_model.pb"
    path.write_bytes(data)
    with pytest.raises(UnsupportedError, match=what) as caught:
        import_file(path, ImportOptions())
    assert "convert_variables_to_constants_v2" in str(caught.value)


@pytest.mark.parametrize("op", ["VariableV2", "VarHandleOp", "ReadVariableOp", "StatefulPartitionedCall"])
def test_unfrozen_graphs_tell_how_to_freeze(op: str) -> None:
    builder = GraphDefBuilder()
    x = builder.placeholder("x", (1, 4))
    builder.node(op, "w", dtype=DataType.FLOAT32)
    builder.node("Add", "y", x, "w")
    with pytest.raises(UnsupportedError, match=f"not frozen: it has .*'w' \\({op}\\)") as caught:
        builder.graph()
    assert "freeze it first" in str(caught.value)


def test_calls_of_the_graphs_own_functions_are_unfrozen() -> None:
    builder = small()
    builder.proto.library.function.add().signature.name = "my_function"
    builder.node("my_function", "z", "y")
    with pytest.raises(UnsupportedError, match="function calls"):
        builder.graph()


def test_variables_that_the_outputs_do_not_need_are_left_out() -> None:
    builder = small()
    builder.node("VariableV2", "global_step")
    builder.node("SaveV2", "save", "global_step")
    assert [*builder.graph().outputs] == ["y"]


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ImportModelError, match=r"none\.pb: cannot be read"):
        import_file(tmp_path / "none.pb", ImportOptions())


def test_empty_graph(tmp_path: Path) -> None:
    path = tmp_path / "empty.pb"
    path.write_bytes(b"")
    with pytest.raises(FormatError, match="no nodes"):
        import_file(path, ImportOptions())


def test_damage_ends_in_a_known_error(tmp_path: Path) -> None:
    whole = small().bytes()
    path = tmp_path / "damaged.pb"
    rng = np.random.default_rng(5)
    for i in range(300):
        data = bytearray(whole)
        if i % 2:
            del data[rng.integers(1, len(data)) :]
        for _ in range(rng.integers(0, 4)):
            data[rng.integers(0, len(data))] = rng.integers(0, 256)
        path.write_bytes(data)
        with contextlib.suppress(MaceError):
            import_file(path, ImportOptions())
