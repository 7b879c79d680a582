"""Inputs and outputs: names, shapes that the user gives, inputs that become constants, cuts."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from mace_cl.errors import ImportModelError, ShapeError, UnsupportedError, UsageError
from mace_cl.graph.evaluate import evaluate_graph
from mace_cl.importers.onnx import import_proto
from mace_cl.importers.options import ImportOptions
from mace_cl.types import DataType
from support.onnx_models import model_of

X = np.zeros((2, 3), np.float32)


def typed(name: str, shape: list[int | str | None] | None, kind: int = TensorProto.FLOAT) -> object:
    return helper.make_tensor_value_info(name, kind, shape)


def with_inputs(*infos: object) -> object:
    """y = relu(x) + b, or relu(x) alone, with inputs declared as given."""
    model = model_of([helper.make_node("Relu", ["x"], ["y"])], {"x": X}, ["y"])
    del model.graph.input[:]
    model.graph.input.extend(infos)
    return model


def test_names_are_the_models_own() -> None:
    nodes = [helper.make_node("Relu", ["in put:0"], ["r"]), helper.make_node("Neg", ["r"], ["out/put"])]
    graph = import_proto(model_of(nodes, {"in put:0": X}, ["out/put", "r"]))
    assert [*graph.inputs] == ["in put:0"]
    assert [*graph.outputs] == ["out/put", "r"]


def test_open_dimensions_are_listed_all_at_once() -> None:
    model = with_inputs(typed("x", ["N", 3, None]), typed("z", [1, "length"]), typed("u", None))
    with pytest.raises(ShapeError) as caught:
        import_proto(model)
    text = str(caught.value)
    assert "'x': float32[N,3,?] (dimensions 0, 2)" in text
    assert "'z': float32[1,length] (dimension 1)" in text
    assert "'u': float32[...] (unknown number of dimensions)" in text
    assert "--input-shape x=1,3,640" in text
    assert "--input-shape z=1,640" in text


def test_given_shapes_replace_open_and_fixed_dimensions() -> None:
    graph = import_proto(with_inputs(typed("x", ["N", 3])), ImportOptions({"x": (5, 4)}))
    assert graph.inputs["x"].shape == (5, 4)
    assert graph.outputs["y"].shape == (5, 4)
    assert import_proto(with_inputs(typed("x", None)), ImportOptions({"x": (2,)})).inputs["x"].shape == (2,)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (ImportOptions({"q": (1,)}), r"--input-shape: no input is named 'q'; the inputs are 'x' float32\[N,3\]"),
        (ImportOptions(fixed_inputs={"q": X}), "--fixed-input: no input is named 'q'"),
        (ImportOptions({"x": (1, 2, 3)}), r"--input-shape x: 3 dimensions are given, the model has 2"),
        (ImportOptions({"x": (-1, 3)}), "must be 1 or more"),
        (ImportOptions({"x": (0, 3)}), "must be 1 or more"),
        (ImportOptions({"x": (2**30, 2**30)}), "negative or too large"),
        (ImportOptions(fixed_inputs={"x": np.zeros(3, np.float32)}), r"the value is float32\[3\], the model wants"),
        (ImportOptions(fixed_inputs={"x": np.zeros((1, 4), np.float32)}), "the model wants"),
        (ImportOptions(fixed_inputs={"x": np.array([["a", "b", "c"]])}), "the model wants"),
        (ImportOptions(output_names=("q",)), r"no tensor is named 'q'; the model's outputs are 'y'"),
        (ImportOptions(input_names=("q",)), "no tensor named 'q' has a type in the model"),
    ],
)
def test_wrong_options(options: ImportOptions, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        import_proto(with_inputs(typed("x", ["N", 3])), options)


@pytest.mark.parametrize("shape", [[2**31, 2**31], [2**40, 3], [2**62, 2**62, 2**62]])
def test_huge_shapes_are_refused(shape: list[int]) -> None:
    with pytest.raises(ShapeError, match="too large"):
        import_proto(with_inputs(typed("x", [*shape])))


def test_initialisers_that_are_inputs_too_are_constants() -> None:
    nodes = [helper.make_node("Add", ["x", "w"], ["y"])]
    model = model_of(nodes, {"x": X, "w": X}, ["y"], {"w": np.ones((2, 3), np.float32)})
    graph = import_proto(model)
    assert [*graph.inputs] == ["x"]
    np.testing.assert_array_equal(evaluate_graph(graph, {"x": X})["y"], np.ones((2, 3)))


def test_an_input_that_decides_a_shape_must_be_fixed() -> None:
    nodes = [helper.make_node("Cast", ["n"], ["m"], to=7), helper.make_node("Reshape", ["x", "m"], ["y"], name="re")]
    model = model_of(nodes, {"x": X, "n": np.zeros(1, np.int32)}, ["y"])
    with pytest.raises(UnsupportedError) as caught:
        import_proto(model)
    text = str(caught.value)
    assert "node 're' (Reshape)" in text
    assert "input 1 (shape, tensor 'm') depends on data" in text
    assert "--fixed-input" in text
    assert "('n')" in text
    graph = import_proto(model, ImportOptions(fixed_inputs={"n": np.array([-1])}))
    assert [*graph.inputs] == ["x"]
    assert graph.outputs["y"].shape == (6,)


def test_fixed_inputs_take_the_models_type() -> None:
    model = with_inputs(typed("x", ["N", 3]))
    graph = import_proto(model, ImportOptions(fixed_inputs={"x": np.array([[1, -2, 3]])}))
    assert graph.outputs["y"].dtype is DataType.FLOAT32
    assert graph.outputs["y"].is_constant


def test_cuts_at_inner_tensors() -> None:
    nodes = [
        helper.make_node("Cos", ["x"], ["a"]),
        helper.make_node("Neg", ["a"], ["b"]),
        helper.make_node("Sin", ["b"], ["y"]),
    ]
    model = model_of(nodes, {"x": X}, ["y"])
    model.graph.value_info.append(typed("a", [2, 3]))
    graph = import_proto(model, ImportOptions(input_names=("a",), output_names=("b",)))
    assert [*graph.inputs] == ["a"]
    assert [n.op.name for n in graph.nodes] == ["Neg"]
    assert [*graph.outputs] == ["b"]


def test_inputs_that_nobody_reads_stay() -> None:
    graph = import_proto(with_inputs(typed("x", [2, 3]), typed("unused", [4])))
    assert [*graph.inputs] == ["x", "unused"]


def test_outputs_may_be_inputs_or_constants() -> None:
    model = model_of([], {"x": X}, ["x", "w"], {"w": np.arange(3, dtype=np.float32)})
    graph = import_proto(model)
    assert graph.outputs["x"] is graph.inputs["x"]
    assert graph.outputs["w"].is_constant


def test_only_what_outputs_need_is_imported() -> None:
    nodes = [helper.make_node("NonsenseOperator", ["x"], ["z"]), helper.make_node("Relu", ["x"], ["y"])]
    assert len(import_proto(model_of(nodes, {"x": X}, ["y"])).nodes) == 1


@pytest.mark.parametrize("case", ["no output", "two inputs", "two outputs", "two initialisers", "scalar type"])
def test_broken_boundaries(case: str) -> None:
    model = with_inputs(typed("x", [2, 3]))
    graph = model.graph
    if case == "no output":
        del graph.output[:]
    elif case == "two inputs":
        graph.input.append(graph.input[0])
    elif case == "two outputs":
        graph.output.append(graph.output[0])
    elif case == "two initialisers":
        graph.initializer.extend([numpy_helper.from_array(X, "w")] * 2)
    else:
        graph.input[0].type.tensor_type.elem_type = 99
    with pytest.raises(ImportModelError):
        import_proto(model)


@pytest.mark.parametrize("kind", ["string", "bfloat16", "sequence"])
def test_inputs_that_are_no_tensors_of_numbers(kind: str) -> None:
    number = {"string": TensorProto.STRING, "bfloat16": TensorProto.BFLOAT16}.get(kind)
    if number is None:
        info = helper.make_tensor_sequence_value_info("x", TensorProto.FLOAT, [2])
    else:
        info = typed("x", [2, 3], number)
    with pytest.raises(UnsupportedError, match=kind):
        import_proto(with_inputs(info))
