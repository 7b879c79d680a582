"""Functions of the model, functions of ONNX's schemas, branches, and constants in all their forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import FunctionProto, helper, numpy_helper

from mace_cl.errors import ImportModelError, UnsupportedError
from mace_cl.graph.evaluate import evaluate_graph
from mace_cl.importers.onnx import import_proto, supported_operators
from mace_cl.importers.onnx.registry import find_handler, handles
from mace_cl.importers.options import ImportOptions
from support.onnx_models import OPSET, model_of

X = np.array([[-2, -1, 0], [1, 2, 3]], np.float32)
MAIN = helper.make_opsetid("", OPSET)
LOCAL = helper.make_opsetid("local", 1)


def result(model: Any, **feeds: np.ndarray) -> np.ndarray:
    return evaluate_graph(import_proto(model), feeds or {"x": X}, dtype=None)["y"]


def function(name: str, nodes: list[Any], attributes: list[str] | None = None, defaults: Any = None) -> FunctionProto:
    return helper.make_function("local", name, ["a"], ["b"], nodes, [MAIN, LOCAL], attributes or [], defaults or [])


def calling(*functions: FunctionProto, **attributes: Any) -> Any:
    """y = f(x), f being the first function."""
    call = helper.make_node(functions[0].name, ["x"], ["y"], domain="local", name="call", **attributes)
    return model_of([call], {"x": X}, ["y"], functions=functions, opset_imports=[MAIN, LOCAL])


def leaky(defaults: Any = None, attributes: list[str] | None = None) -> FunctionProto:
    node = helper.make_node("LeakyRelu", ["a"], ["b"])
    node.attribute.add(name="alpha", ref_attr_name="slope", type=1)
    return function("leaky", [node], attributes, defaults)


def test_attributes_reach_the_body() -> None:
    np.testing.assert_allclose(result(calling(leaky(attributes=["slope"]), slope=0.5)), np.where(X < 0, X / 2, X))
    defaults = [helper.make_attribute("slope", 0.25)]
    np.testing.assert_allclose(result(calling(leaky(defaults))), np.where(X < 0, X / 4, X))
    np.testing.assert_allclose(result(calling(leaky(defaults), slope=2.0)), np.where(X < 0, X * 2, X))


def test_attributes_that_nobody_gives_take_the_operators_default() -> None:
    np.testing.assert_allclose(result(calling(leaky(attributes=["slope"]))), np.where(X < 0, X * np.float32(0.01), X))


def test_functions_call_functions_and_names_do_not_clash() -> None:
    inner = function("inner", [helper.make_node("Neg", ["a"], ["t"]), helper.make_node("Exp", ["t"], ["b"])])
    nodes = [
        helper.make_node("inner", ["a"], ["t"], domain="local"),
        helper.make_node("inner", ["t"], ["u"], domain="local"),
        helper.make_node("Add", ["t", "u"], ["b"]),
    ]
    first = np.exp(-X)
    np.testing.assert_allclose(result(calling(function("outer", nodes), inner)), first + np.exp(-first), rtol=1e-6)


def test_functions_override_operators() -> None:
    model = model_of([helper.make_node("Relu", ["x"], ["y"])], {"x": X}, ["y"])
    model.functions.append(
        helper.make_function("", "Relu", ["a"], ["b"], [helper.make_node("Neg", ["a"], ["b"])], [MAIN])
    )
    np.testing.assert_array_equal(result(model), -X)


def test_a_function_that_calls_itself() -> None:
    loop = function("loop", [helper.make_node("loop", ["a"], ["b"], domain="local")])
    with pytest.raises(ImportModelError, match="one calls itself"):
        import_proto(calling(loop))


def test_too_many_operands_of_a_function() -> None:
    model = calling(function("f", [helper.make_node("Neg", ["a"], ["b"])]))
    model.graph.node[0].input.append("x")
    with pytest.raises(ImportModelError, match="has 1 inputs and 1 outputs, not 2 and 1"):
        import_proto(model)


def test_unknown_operators_within_functions_are_listed() -> None:
    with pytest.raises(UnsupportedError) as caught:
        import_proto(calling(function("f", [helper.make_node("Det", ["a"], ["b"], name="inside")])))
    assert "Det (domain ai.onnx, operator set 21), 1x: 'call'" in str(caught.value)


def branch(operator: str, reads: str, out: str) -> Any:
    return helper.make_graph(
        [helper.make_node(operator, [reads], [out])], operator, [], [helper.make_empty_tensor_value_info(out)]
    )


def branching(condition: np.ndarray | None) -> Any:
    """y = -r or exp(r), r = relu(x)."""
    nodes = [
        helper.make_node("Relu", ["x"], ["r"]),
        helper.make_node("If", ["c"], ["y"], then_branch=branch("Neg", "r", "t"), else_branch=branch("Exp", "r", "t")),
    ]
    if condition is None:
        return model_of(nodes, {"x": X, "c": np.array(True)}, ["y"])
    return model_of(nodes, {"x": X}, ["y"], {"c": condition})


def test_the_branch_that_is_taken_is_put_in_place() -> None:
    relu = np.maximum(X, 0)
    np.testing.assert_array_equal(result(branching(np.array(True))), -relu)
    np.testing.assert_allclose(result(branching(np.array([False]))), np.exp(relu), rtol=1e-6)


def test_a_condition_must_be_known() -> None:
    with pytest.raises(UnsupportedError, match=r"input 0 \(cond, tensor 'c'\) depends on data"):
        import_proto(branching(None))
    graph = import_proto(branching(None), ImportOptions(fixed_inputs={"c": np.array(False)}))
    assert [n.op.name for n in graph.nodes] == ["Relu", "Exp"]


def test_a_branch_that_is_not_taken_may_hold_anything() -> None:
    model = branching(np.array(True))
    for attribute in model.graph.node[1].attribute:
        if attribute.name == "else_branch":
            attribute.g.node[0].op_type = "Det"
    np.testing.assert_array_equal(result(model), -np.maximum(X, 0))


def sparse(dims: list[int], values: np.ndarray, indices: np.ndarray, name: str = "c") -> Any:
    return helper.make_sparse_tensor(
        numpy_helper.from_array(values, name), numpy_helper.from_array(indices, "indices"), dims
    )


@pytest.mark.parametrize(
    ("form", "value", "expected"),
    [
        ("value", numpy_helper.from_array(np.eye(2, dtype=np.float32)), np.eye(2, dtype=np.float32)),
        ("value_float", 1.5, np.array(1.5, np.float32)),
        ("value_floats", [1.5, 2.0], np.array([1.5, 2], np.float32)),
        ("value_int", -3, np.array(-3)),
        ("value_ints", [1, 2], np.array([1, 2])),
        ("sparse_value", sparse([2, 2], X[1, :1], np.array([2])), np.array([[0, 0], [1, 0]], np.float32)),
        ("sparse_value", sparse([2, 2], X[1, :1], np.array([[0, 1]])), np.array([[0, 1], [0, 0]], np.float32)),
    ],
)
def test_constants(form: str, value: Any, expected: np.ndarray) -> None:
    model = model_of([helper.make_node("Constant", [], ["y"], **{form: value})], {}, ["y"])
    data = import_proto(model).outputs["y"].data
    assert data is not None
    assert data.dtype == expected.dtype
    np.testing.assert_array_equal(data, expected)


def test_sparse_initialisers() -> None:
    model = model_of([helper.make_node("Add", ["x", "c"], ["y"])], {"x": X}, ["y"])
    model.graph.sparse_initializer.append(sparse([3], np.array([5], np.float32), np.array([1])))
    np.testing.assert_array_equal(result(model), X + np.array([0, 5, 0]))


@pytest.mark.parametrize("indices", [np.array([3]), np.array([-1]), np.array([0, 1]), np.array([[0, 0]])])
def test_sparse_indices_that_do_not_fit(indices: np.ndarray) -> None:
    model = model_of([helper.make_node("Add", ["x", "c"], ["y"])], {"x": X}, ["y"])
    model.graph.sparse_initializer.append(sparse([3], np.array([5], np.float32), indices))
    with pytest.raises(ImportModelError):
        import_proto(model)


def test_shape_arithmetic_is_folded() -> None:
    nodes = [
        helper.make_node("Shape", ["x"], ["s"]),
        helper.make_node("Gather", ["s", "zero"], ["n"]),
        helper.make_node("Unsqueeze", ["n", "axes"], ["u"]),
        helper.make_node("Concat", ["u", "rest"], ["shape"], axis=0),
        helper.make_node("Reshape", ["x", "shape"], ["y"]),
    ]
    constants = {"zero": np.array(0), "axes": np.array([0]), "rest": np.array([1, -1])}
    graph = import_proto(model_of(nodes, {"x": X}, ["y"], constants))
    assert [n.op.name for n in graph.nodes] == ["Reshape"]
    assert graph.outputs["y"].shape == (2, 1, 3)


def test_weights_may_be_computed() -> None:
    nodes = [helper.make_node("Relu", ["w"], ["v"]), helper.make_node("Conv", ["x", "v"], ["y"])]
    image, weights = np.ones((1, 2, 4, 4), np.float32), np.full((3, 2, 2, 2), 0.5, np.float32)
    model = model_of(nodes, {"x": image, "w": weights}, ["y"])
    np.testing.assert_array_equal(result(model, x=image, w=weights), np.full((1, 3, 3, 3), 4))


def test_two_handlers_for_one_operator_are_an_error() -> None:
    assert "Softmax" in supported_operators()
    with pytest.raises(AssertionError, match="two handlers for Softmax since 13"):
        handles("Softmax", since=13)(lambda ctx: ctx.value(0))


def test_the_newest_handler_that_is_not_too_new() -> None:
    assert find_handler("Softmax", "", 12) is not find_handler("Softmax", "", 13)
    assert find_handler("Softmax", "", 13) is find_handler("Softmax", "", 21)
    assert find_handler("GroupNormalization", "", 17) is None
    assert find_handler("Softmax", "com.example", 13) is None
