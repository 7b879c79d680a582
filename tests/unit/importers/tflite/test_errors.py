"""What is unsupported or broken is named, all of it at once."""

from __future__ import annotations

import numpy as np
import pytest
import tflite

from mace_cl.errors import ImportModelError, ShapeError, UnsupportedError
from support.tflite_builder import ModelBuilder
from support.tflite_run import import_bytes


def test_all_unknown_operators_are_reported_at_once() -> None:
    m = ModelBuilder()
    x, a, b, y = (m.tensor(n, (2,)) for n in ("x", "a", "b", "y"))
    m.operator("CUSTOM", [x], [a], custom="TransformLandmarks", version=2)
    m.operator("ABS", [a], [b])
    m.operator("UNIQUE", [b], [y], version=3)
    with pytest.raises(UnsupportedError) as caught:
        import_bytes(m.build([x], [y]))
    first, second = caught.value.items
    assert first == "custom operator TransformLandmarks version 2, operator 0: 'x' -> 'a'"
    assert second == "UNIQUE version 3, operator 2: 'b' -> 'y'"
    assert "model.tflite" in str(caught.value)


def test_an_operator_newer_than_the_schema_is_called_so() -> None:
    m = ModelBuilder()
    x, y = m.tensor("x", (2,)), m.tensor("y", (2,))
    m.operator(3000, [x], [y])
    with pytest.raises(UnsupportedError, match=r"3000.*newer than the installed tflite package"):
        import_bytes(m.build([x], [y]))


@pytest.mark.parametrize("name", ["IF", "WHILE", "CALL_ONCE", "VAR_HANDLE"])
def test_control_flow_is_listed(name: str) -> None:
    m = ModelBuilder(n_subgraphs=3)
    x, y = m.tensor("x", (2,)), m.tensor("y", (2,))
    m.operator(name, [x], [y])
    with pytest.raises(UnsupportedError) as caught:
        import_bytes(m.build([x], [y]))
    assert any(name in item for item in caught.value.items)
    assert any("3 subgraphs" in item for item in caught.value.items)


def broken(case: str) -> bytes:
    m = ModelBuilder()
    x, y = m.tensor("x", (2, 3)), m.tensor("y", (2, 3))
    if case == "missing operand":
        m.operator("ADD", [x], [y], "AddOptions")
    elif case == "absent operand":
        m.operator("ADD", [x, -1], [y], "AddOptions")
    elif case == "unknown tensor":
        m.operator("ABS", [77], [y])
    elif case == "other options":
        m.operator("ADD", [x, x], [y], "Conv2DOptions")
    elif case == "cycle":
        z = m.tensor("z", (2, 3))
        m.operator("ADD", [x, z], [y], "AddOptions")
        m.operator("ABS", [y], [z])
        return m.build([x], [z])
    elif case == "nothing produces it":
        return m.build([x], [y])
    elif case == "produced twice":
        m.operator("ABS", [x], [y])
        m.operator("NEG", [x], [y])
    elif case == "no output":
        m.operator("ABS", [x], [y])
        return m.build([x], [])
    elif case == "type":
        m.operator("ABS", [x], [m.tensor("i", (2, 3), "INT32")])
        return m.build([x], [len(m.tensors) - 1])
    elif case == "results":
        m.operator("ABS", [x], [y, m.tensor("z", (2, 3))])
    elif case == "float shape":
        m.operator("RESHAPE", [x, m.constant("c", np.asarray([3, 2], np.float32))], [y])
    elif case == "version":
        m.version = 2
        m.operator("ABS", [x], [y])
    elif case == "empty input":
        m.tensors[x].shape = (2, 0)
        m.operator("ABS", [x], [y])
    elif case == "huge input":
        m.tensors[x].shape = (1 << 30, 1 << 30)
        m.operator("ABS", [x], [y])
    elif case == "activation":
        m.operator("ADD", [x, x], [y], "AddOptions", FusedActivationFunction=99)
    elif case == "zero delta":
        one, zero = (m.constant("k", np.asarray(v, np.int32)) for v in (1, 0))
        m.operator("RANGE", [zero, one, zero], [m.tensor("i", (1,), "INT32")])
        return m.build([], [len(m.tensors) - 1])
    return m.build([x], [y])


@pytest.mark.parametrize(
    "case",
    [
        "missing operand", "absent operand", "unknown tensor", "other options", "cycle", "nothing produces it",
        "produced twice", "no output", "type", "results", "float shape", "version",
        "empty input", "huge input", "activation", "zero delta",
    ],
)  # fmt: skip
def test_a_broken_model_is_refused(case: str) -> None:
    with pytest.raises(ImportModelError) as caught:
        import_bytes(broken(case))
    assert "model.tflite" in str(caught.value)


SHAPES = {
    "RESHAPE": ([5, 5], "ReshapeOptions", {}),
    "TRANSPOSE": ([0, 0], "TransposeOptions", {}),
    "EXPAND_DIMS": ([4], "ExpandDimsOptions", {}),
    "TILE": ([2], "TileOptions", {}),
    "PAD": ([1, 1], "PadOptions", {}),
    "MIRROR_PAD": ([3, 3, 3, 3], "MirrorPadOptions", {"Mode": 1}),
    "BROADCAST_TO": ([2, 4], "BroadcastToOptions", {}),
    "SUM": ([2], "ReducerOptions", {}),
    "ARG_MAX": ([-3], "ArgMaxOptions", {}),
    "REVERSE_V2": ([7], "ReverseV2Options", {}),
    "TOPK_V2": ([4], "TopKV2Options", {}),
    "SPACE_TO_BATCH_ND": ([2], "SpaceToBatchNDOptions", {}),
}


@pytest.mark.parametrize("name", SHAPES)
def test_operands_that_do_not_fit_say_which_operator(name: str) -> None:
    numbers, options, fields = SHAPES[name]
    m = ModelBuilder()
    x, y = m.tensor("x", (2, 3)), m.tensor("y", (2, 3))
    c = m.constant("c", np.asarray(numbers, np.int32))
    more = [m.constant("d", np.zeros((1, 2), np.int32))] if name == "SPACE_TO_BATCH_ND" else []
    results = [y, m.tensor("i", (2, 3), "INT32")] if name == "TOPK_V2" else [y]
    m.operator(name, [x, c, *more], results, options, **fields)
    with pytest.raises(ShapeError) as caught:
        import_bytes(m.build([x], [y]))
    assert f"model.tflite, operator 0 ({name}) giving 'y'" in str(caught.value)


def test_a_folded_index_out_of_range() -> None:
    m = ModelBuilder()
    table, index = m.constant("t", np.zeros((2, 3), np.float32)), m.constant("i", np.asarray([5], np.int32))
    y = m.tensor("y", (1, 3))
    m.operator("GATHER", [table, index], [y], "GatherOptions")
    with pytest.raises(ShapeError, match="index 5"):
        import_bytes(m.build([], [y]))


def test_shuffled_weights_and_sign_bit_are_unsupported() -> None:
    for fields in ({"WeightsFormat": 1}, {"FusedActivationFunction": tflite.ActivationFunctionType.SIGN_BIT}):
        m = ModelBuilder()
        x, y = m.tensor("x", (2, 3)), m.tensor("y", (2, 4))
        w = m.constant("w", np.zeros((4, 3), np.float32))
        m.operator("FULLY_CONNECTED", [x, w, -1], [y], "FullyConnectedOptions", **fields)
        with pytest.raises(UnsupportedError):
            import_bytes(m.build([x], [y]))
