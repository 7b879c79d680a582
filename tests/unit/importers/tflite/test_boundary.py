"""Names, shapes, cuts and fixed inputs."""

from __future__ import annotations

import numpy as np
import pytest

from mace_cl.errors import ImportModelError, ShapeError, UnsupportedError, UsageError
from mace_cl.graph.evaluate import evaluate_graph
from mace_cl.importers.options import ImportOptions
from support.tflite_builder import ModelBuilder
from support.tflite_run import import_bytes


def two_layers(signature: tuple[int, ...] | None = None, tail: bool = False) -> bytes:
    """x -> ABS -> middle -> NEG -> y, and RESHAPE to [1, 48] behind it if asked for."""
    m = ModelBuilder()
    x = m.tensor("x", (1, 4, 4, 3), signature=signature)
    middle, y, z = m.tensor("middle", (1, 4, 4, 3)), m.tensor("y", (1, 4, 4, 3)), m.tensor("z", (1, 48))
    m.operator("ABS", [x], [middle])
    m.operator("NEG", [middle], [y])
    if tail:
        m.operator("RESHAPE", [y, m.constant("shape", np.asarray([1, 48], np.int32))], [z])
    return m.build([x], [z if tail else y])


def test_names_are_the_tensors() -> None:
    graph = import_bytes(two_layers())
    assert list(graph.inputs) == ["x"]
    assert list(graph.outputs) == ["y"]
    assert [n.output.name for n in graph.nodes] == ["middle", "y"]


def test_nameless_and_equal_names_are_told_apart() -> None:
    m = ModelBuilder()
    a, b, c = m.tensor("", (2,)), m.tensor("x", (2,)), m.tensor("x", (2,))
    y = m.tensor("x", (2,))
    m.operator("ADD_N", [a, b, c], [y])
    graph = import_bytes(m.build([a, b, c], [y]))
    assert list(graph.inputs) == ["input_0", "x", "x_1"]
    assert list(graph.outputs) == ["x"]


def test_a_dynamic_dimension_is_named_with_the_flag() -> None:
    with pytest.raises(ShapeError) as caught:
        import_bytes(two_layers((-1, 4, -1, 3)))
    text = str(caught.value)
    assert "input 'x'" in text
    assert "0, 2 of [?,4,?,3]" in text
    assert "--input-shape x=1,4,4,3" in text


def test_a_dynamic_dimension_can_be_fixed() -> None:
    graph = import_bytes(two_layers((-1, 4, 4, 3)), ImportOptions(input_shapes={"x": (5, 4, 4, 3)}))
    assert graph.outputs["y"].shape == (5, 4, 4, 3)


def test_a_fixed_dimension_can_be_changed() -> None:
    graph = import_bytes(two_layers(), ImportOptions(input_shapes={"x": (2, 8, 6, 3)}))
    assert graph.outputs["y"].shape == (2, 8, 6, 3)


def test_a_constant_shape_that_disagrees_is_an_error() -> None:
    with pytest.raises(ShapeError) as caught:
        import_bytes(two_layers(tail=True), ImportOptions(input_shapes={"x": (2, 4, 4, 3)}))
    assert "RESHAPE" in str(caught.value)
    assert "[1, 48]" in str(caught.value)
    assert "the model fixes this shape" in str(caught.value)


def test_a_shape_that_does_not_fit_a_constant_says_why() -> None:
    m = ModelBuilder()
    x, y = m.tensor("x", (2, 3)), m.tensor("y", (2, 3))
    m.operator("ADD", [x, m.constant("c", np.zeros((2, 3), np.float32))], [y], "AddOptions")
    with pytest.raises(ShapeError, match="may not fit its constants"):
        import_bytes(m.build([x], [y]), ImportOptions(input_shapes={"x": (2, 4)}))


@pytest.mark.parametrize(
    "options",
    [
        ImportOptions(input_shapes={"q": (1, 4, 4, 3)}),
        ImportOptions(input_shapes={"x": (4, 4, 3)}),
        ImportOptions(input_shapes={"x": (1, 0, 4, 3)}),
        ImportOptions(input_shapes={"x": (1, -4, 4, 3)}),
        ImportOptions(input_shapes={"x": (1 << 20, 1 << 20, 4, 3)}),
        ImportOptions(fixed_inputs={"q": np.zeros((1, 4, 4, 3), np.float32)}),
        ImportOptions(fixed_inputs={"x": np.zeros((4, 3), np.float32)}),
        ImportOptions(output_names=("q",)),
        ImportOptions(input_names=("q",)),
    ],
)
def test_what_the_user_got_wrong_is_a_usage_error(options: ImportOptions) -> None:
    with pytest.raises(UsageError):
        import_bytes(two_layers(), options)


def test_an_unknown_input_lists_the_known_ones() -> None:
    with pytest.raises(UsageError, match="the inputs are 'x'"):
        import_bytes(two_layers(), ImportOptions(input_shapes={"q": (1,)}))


def test_a_cut_at_tensors_in_the_middle() -> None:
    graph = import_bytes(two_layers(), ImportOptions(input_names=("middle",)))
    assert [n.op.name for n in graph.nodes] == ["Neg"]
    graph = import_bytes(two_layers(), ImportOptions(output_names=("middle", "x")))
    assert [n.op.name for n in graph.nodes] == ["Abs"]
    assert list(graph.outputs) == ["middle", "x"]


def test_a_cut_that_leaves_an_input_out() -> None:
    m = ModelBuilder()
    a, b, y = m.tensor("a", (2,)), m.tensor("b", (2,)), m.tensor("y", (2,))
    m.operator("ADD", [a, b], [y], "AddOptions")
    with pytest.raises(ImportModelError, match="'b'"):
        import_bytes(m.build([a, b], [y]), ImportOptions(input_names=("a",)))


def test_operators_that_no_output_needs_are_not_read() -> None:
    m = ModelBuilder()
    x, y, z = m.tensor("x", (2,)), m.tensor("y", (2,)), m.tensor("z", (2,))
    m.operator("ABS", [x], [y])
    m.operator("CUSTOM", [x], [z], custom="Unheard")
    data = m.build([x], [y, z])
    with pytest.raises(UnsupportedError):
        import_bytes(data)
    assert [n.op.name for n in import_bytes(data, ImportOptions(output_names=("y",))).nodes] == ["Abs"]


def test_a_fixed_input_decides_a_shape() -> None:
    m = ModelBuilder()
    x, shape, y = m.tensor("x", (2, 6)), m.tensor("shape", (2,), "INT32"), m.tensor("y", (3, 4))
    m.operator("RESHAPE", [x, shape], [y])
    data = m.build([x, shape], [y])
    with pytest.raises(UnsupportedError, match="'shape'"):
        import_bytes(data)
    graph = import_bytes(data, ImportOptions(fixed_inputs={"shape": np.asarray([3, -1])}))
    assert list(graph.inputs) == ["x"]
    assert graph.outputs["y"].shape == (3, 4)


def test_shape_arithmetic_is_folded() -> None:
    """Flatten as converters write it: the batch from SHAPE, the rest -1."""
    m = ModelBuilder()
    x, s = m.tensor("x", (3, 4, 5)), m.tensor("s", (3,), "INT32")
    n, new, y = m.tensor("n", (), "INT32"), m.tensor("new", (2,), "INT32"), m.tensor("y", (3, 20))
    zero, one = m.constant("zero", np.zeros(1, np.int32)), m.constant("one", np.ones(1, np.int32))
    rest = m.constant("rest", np.asarray(-1, np.int32))
    m.operator("SHAPE", [x], [s], "ShapeOptions", OutType=2)
    m.operator("STRIDED_SLICE", [s, zero, one, one], [n], "StridedSliceOptions", ShrinkAxisMask=1)
    m.operator("PACK", [n, rest], [new], "PackOptions", ValuesCount=2)
    m.operator("RESHAPE", [x, new], [y])
    data = m.build([x], [y])
    for batch in (3, 7):
        graph = import_bytes(data, ImportOptions(input_shapes={"x": (batch, 4, 5)}))
        assert [node.op.name for node in graph.nodes] == ["Reshape"]
        assert graph.outputs["y"].shape == (batch, 20)


def test_an_output_may_be_an_input_or_a_constant() -> None:
    m = ModelBuilder()
    x, c = m.tensor("x", (2,)), m.constant("c", np.asarray([1, 2], np.float32))
    graph = import_bytes(m.build([x], [x, c]))
    out = evaluate_graph(graph, {"x": np.asarray([5, 6], np.float32)})
    np.testing.assert_array_equal(out["x"], [5, 6])
    np.testing.assert_array_equal(out["c"], [1, 2])


def test_the_same_tensor_twice_as_an_output() -> None:
    m = ModelBuilder()
    x, y = m.tensor("x", (2,)), m.tensor("y", (2,))
    m.operator("ABS", [x], [y])
    assert list(import_bytes(m.build([x], [y, y])).outputs) == ["y"]


@pytest.mark.parametrize("type_", ["STRING", "COMPLEX64", "BFLOAT16", "INT4"])
def test_inputs_of_types_that_no_array_has(type_: str) -> None:
    m = ModelBuilder()
    x, y = m.tensor("x", (2,), type_), m.tensor("y", (2,))
    m.operator("CAST", [x], [y])
    with pytest.raises(UnsupportedError, match=type_):
        import_bytes(m.build([x], [y]))
