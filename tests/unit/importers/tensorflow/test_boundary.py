"""Inputs and outputs: found, named, shaped."""

from __future__ import annotations

import numpy as np
import pytest

from mace_cl.errors import FormatError, ImportModelError, UnsupportedError, UsageError
from mace_cl.types import DataType
from support.graph_def import GraphDefBuilder, run_graph, shape_proto

ONE = np.ones(4, np.float32)


def chain() -> GraphDefBuilder:
    """image -> a/add -> b/mul -> scores, with a control edge and an Identity."""
    builder = GraphDefBuilder()
    builder.placeholder("image", (1, 4))
    builder.node("Add", "a/add", "image", ONE)
    builder.node("NoOp", "init", "^a/add")
    builder.node("Mul", "b/mul", "a/add", 2 * ONE)
    builder.node("Identity", "scores", "b/mul", "^init")
    return builder


def test_placeholders_and_sinks_are_found() -> None:
    graph = chain().graph()
    assert [*graph.inputs] == ["image"]
    assert [*graph.outputs] == ["scores"]
    assert [n.op.name for n in graph.nodes] == ["Add", "Mul"]
    np.testing.assert_array_equal(run_graph(graph, {"image": np.ones((1, 4), np.float32)})["scores"], [[4] * 4])


@pytest.mark.parametrize("suffix", ["", ":0"])
def test_names_with_and_without_a_port(suffix: str) -> None:
    graph = chain().graph(input_names=("image" + suffix,), output_names=("b/mul" + suffix, "a/add" + suffix))
    assert [*graph.inputs] == ["image"]
    assert [*graph.outputs] == ["b/mul", "a/add"]


def test_a_cut_in_the_middle() -> None:
    graph = chain().graph(input_names=("a/add",), input_shapes={"a/add:0": (3, 4)})
    assert graph.inputs["a/add"].shape == (3, 4)
    assert [n.op.name for n in graph.nodes] == ["Mul"]


def test_a_cut_needs_a_shape() -> None:
    with pytest.raises(UsageError, match="input 'a/add' has no shape; give it, as --input-shape a/add=1,224,224,3"):
        chain().graph(input_names=("a/add",))


def test_a_cut_may_know_its_shape_from_the_graph() -> None:
    builder = chain()
    (node,) = (n for n in builder.proto.node if n.name == "a/add")
    node.attr["_output_shapes"].list.shape.append(shape_proto((5, 4)))
    assert builder.graph(input_names=("a/add",)).inputs["a/add"].shape == (5, 4)


@pytest.mark.parametrize(
    ("options", "near"),
    [
        ({"input_names": ("imagee",)}, "no input 'imagee'; near it: 'image'"),
        ({"output_names": ("b/mull",)}, "no output 'b/mull'; near it: 'b/mul'"),
        ({"output_names": ("Scores",)}, "near it: 'scores'"),
        ({"output_names": ("model/x/scores:0",)}, "near it: 'scores'"),
        ({"input_shapes": {"imaje": (1, 4)}}, "no input 'imaje'; near it: 'image'"),
        ({"output_names": ("zzzzzzzz",)}, "the graph begins with 'image'"),
    ],
)
def test_wrong_names_list_near_ones(options: dict[str, object], near: str) -> None:
    with pytest.raises(UsageError, match=near):
        chain().graph(**options)


def test_an_output_number_that_does_not_exist() -> None:
    with pytest.raises(ImportModelError, match="node 'b/mul' has no output 3"):
        chain().graph(output_names=("b/mul:3",))


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((-1, 4), r"open dimension 0 in \[\?, 4\]; give it, as --input-shape x=1,4"),
        ((-1, -1, -1, 3), r"open dimensions 0, 1, 2 in .*; give it, as --input-shape x=1,SIZE,SIZE,3"),
        (None, "has no shape; give it, as --input-shape x=1,224,224,3"),
    ],
)
def test_open_dimensions_say_what_to_write(shape: tuple[int, ...] | None, message: str) -> None:
    builder = GraphDefBuilder()
    builder.node("Relu", "y", builder.placeholder("x", shape))
    with pytest.raises(UsageError, match=message):
        builder.graph()
    given = tuple(2 if d == -1 else d for d in shape or (2,))
    assert builder.graph(input_shapes={"x": given}).outputs["y"].shape == given


def test_all_open_inputs_at_once() -> None:
    builder = GraphDefBuilder()
    builder.node("Add", "y", builder.placeholder("a", (-1, 2)), builder.placeholder("b", (-1, 2)))
    with pytest.raises(UsageError, match=r"'a' has open .*'b' has open"):
        builder.graph()


def test_shapes_of_another_rank_or_of_no_input_are_refused() -> None:
    with pytest.raises(UsageError, match=r"given 3 dimensions \[1, 4, 1\], the model says \[1, 4\]"):
        chain().graph(input_shapes={"image": (1, 4, 1)})
    with pytest.raises(UsageError, match=r"'b/mul', which is no input \('image'\)"):
        chain().graph(input_shapes={"b/mul": (1, 4)})


def test_a_placeholder_that_is_needed_but_not_named() -> None:
    builder = GraphDefBuilder()
    builder.node("Add", "y", builder.placeholder("a", (2,)), builder.placeholder("b", (2,)))
    with pytest.raises(UsageError, match="also depend on 'b'"):
        builder.graph(input_names=("a",))


def test_fixed_inputs_become_constants() -> None:
    builder = GraphDefBuilder()
    x = builder.placeholder("x", (1, 6))
    shape = builder.placeholder("shape", (2,), DataType.INT32)
    builder.node("Reshape", "y", x, shape)
    with pytest.raises(UnsupportedError, match=r"node 'y' \(Reshape\): the shape \('shape'\) depends on"):
        builder.graph()
    graph = builder.graph(fixed_inputs={"shape": np.array([2, 3])})
    assert [*graph.inputs] == ["x"]
    assert graph.outputs["y"].shape == (2, 3)


def test_a_default_stands_where_its_input_is_not_named() -> None:
    builder = GraphDefBuilder()
    x = builder.placeholder("x", (4,))
    keep = builder.node("PlaceholderWithDefault", "keep", np.float32(0.5).reshape(()), shape=shape_proto(()))
    builder.node("Mul", "y", x, keep)
    graph = builder.graph()
    assert [*graph.inputs] == ["x"]
    assert run_graph(graph, {"x": ONE})["y"].tolist() == [0.5] * 4
    assert [*builder.graph(input_names=("x", "keep")).inputs] == ["x", "keep"]


def test_outputs_that_depend_on_nothing_are_not_found() -> None:
    builder = GraphDefBuilder()
    builder.node("Neg", "y", ONE)
    with pytest.raises(ImportModelError, match=r"found no output.*--output-name"):
        builder.graph()


def test_an_output_may_be_an_input_or_a_constant() -> None:
    builder = chain()
    builder.const("c", ONE)
    graph = builder.graph(output_names=("image", "c", "scores"))
    assert graph.outputs["image"] is graph.inputs["image"]
    assert graph.outputs["c"].is_constant


def test_constants_are_folded() -> None:
    builder = GraphDefBuilder()
    x = builder.placeholder("x", (4,))
    scale = builder.node("Rsqrt", "r", builder.node("AddV2", "e", 3 * ONE, ONE))
    builder.node("Mul", "y", x, scale)
    (node,) = builder.graph().nodes
    assert node.op.name == "Mul"
    assert node.input(1).is_constant


def test_unknown_operators_are_listed_at_once() -> None:
    builder = GraphDefBuilder()
    x = builder.placeholder("x", (4,))
    a = builder.node("Frobnicate", "a", x)
    b = builder.node("Frobnicate", "b", a)
    builder.node("Twiddle", "c", b)
    with pytest.raises(UnsupportedError) as caught:
        builder.graph()
    assert caught.value.items == ("Frobnicate (2x, first at 'a')", "Twiddle (1x, first at 'c')")


def test_broken_graphs() -> None:
    builder = chain()
    builder.node("Add", "scores", "image", ONE)
    with pytest.raises(FormatError, match="two nodes are named 'scores'"):
        builder.graph()
    builder = GraphDefBuilder()
    builder.node("Relu", "y", "missing")
    with pytest.raises(FormatError, match="node 'y' reads 'missing', which does not exist"):
        builder.graph()
    builder = GraphDefBuilder()
    builder.placeholder("x", (4,))
    builder.node("Add", "y", "z", "x")
    builder.node("Neg", "z", "y")
    with pytest.raises(ImportModelError, match="part of a loop"):
        builder.graph(output_names=("y",))


def test_a_missing_attribute_names_the_node() -> None:
    builder = GraphDefBuilder()
    builder.node("Cast", "y", builder.placeholder("x", (4,)))
    with pytest.raises(FormatError, match=r"node 'y' \(Cast\), attr.DstT: a needed attribute is missing"):
        builder.graph()


@pytest.mark.parametrize(("condition", "expected"), [(True, [1.0] * 4), (False, [-1.0] * 4)])
def test_a_known_condition_chooses_a_branch(condition: bool, expected: list[float]) -> None:
    builder = GraphDefBuilder()
    x = builder.placeholder("x", (4,))
    builder.node("Switch", "s", x, np.array(condition))
    builder.node("Neg", "n", "s")
    builder.node("Identity", "i", "s:1")
    builder.node("Merge", "y", "n", "i")
    graph = builder.graph()
    assert run_graph(graph, {"x": ONE})["y"].tolist() == expected
    assert len(graph.nodes) == (0 if condition else 1)


def test_an_unknown_condition_is_refused() -> None:
    builder = GraphDefBuilder()
    builder.node("Switch", "s", builder.placeholder("x", (4,)), builder.placeholder("c", (), DataType.BOOL))
    builder.node("Merge", "y", "s", "s:1")
    with pytest.raises(UnsupportedError, match="the condition"):
        builder.graph()
