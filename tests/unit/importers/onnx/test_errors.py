"""Files and models that make no sense: one message each, from the family of MaceError."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import AttributeProto, TensorProto, helper, numpy_helper

from mace_cl.errors import ImportModelError, MaceError, ShapeError, UnsupportedError, UsageError
from mace_cl.importers import ImportOptions, import_model
from mace_cl.importers.onnx import import_proto, recognises
from support.onnx_models import model_of, one_node

X = np.zeros((2, 3), np.float32)


def small() -> Any:
    """y = relu(x w)."""
    nodes = [helper.make_node("MatMul", ["x", "w"], ["m"], name="mm"), helper.make_node("Relu", ["m"], ["y"])]
    return model_of(nodes, {"x": X}, ["y"], {"w": np.ones((3, 4), np.float32)})


def test_all_unknown_operators_are_listed_at_once() -> None:
    nodes = [helper.make_node("Det", ["x"], [f"d{i}"], name=f"det{i}") for i in range(7)]
    nodes.append(helper.make_node("Magic", ["x"], ["m"], domain="com.example"))
    nodes.append(helper.make_node("GRU", ["x"], ["g"]))
    outputs = [*(f"d{i}" for i in range(7)), "m", "g"]
    with pytest.raises(UnsupportedError) as caught:
        import_proto(model_of(nodes, {"x": X}, outputs))
    assert caught.value.items == (
        "Det (domain ai.onnx, operator set 21), 7x: 'det0', 'det1', 'det2', 'det3', 'det4' ...",
        "GRU (domain ai.onnx, operator set 21), 1x: 'g'",
        "Magic (domain com.example, which the model does not import), 1x: 'm'",
    )
    assert "model:" in str(caught.value)


def edit_cycle(model: Any) -> None:
    model.graph.node[0].input[0] = "y"


def edit_self_loop(model: Any) -> None:
    model.graph.node[0].input[0] = "m"


def edit_missing_tensor(model: Any) -> None:
    model.graph.node[0].input[1] = "nobody"


def edit_produced_twice(model: Any) -> None:
    model.graph.node[1].output[0] = "m"


def edit_produces_an_input(model: Any) -> None:
    model.graph.node[1].output[0] = "x"


def edit_missing_output(model: Any) -> None:
    model.graph.output[0].name = "nobody"


def edit_absent_operand(model: Any) -> None:
    model.graph.node[0].input[1] = ""


def edit_missing_operand(model: Any) -> None:
    del model.graph.node[0].input[1]


def edit_short_data(model: Any) -> None:
    model.graph.initializer[0].raw_data = b"1234"


def edit_attribute_kind(model: Any) -> None:
    model.graph.node[1].op_type = "Elu"
    model.graph.node[1].attribute.append(helper.make_attribute("alpha", 3))


def edit_too_many_outputs(model: Any) -> None:
    model.graph.node[1].output.append("z")


def edit_external_without_folder(model: Any) -> None:
    tensor = model.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="w.bin")


def edit_name_that_is_no_text(model: Any) -> None:
    broken = model.SerializeToString().replace(b"mm", b"\xff\xfe")
    model.ParseFromString(broken)


EDITS = [v for n, v in sorted(globals().items()) if n.startswith("edit_")]


@pytest.mark.parametrize("edit", EDITS, ids=lambda e: e.__name__)
def test_models_that_make_no_sense(edit: Callable[[Any], None]) -> None:
    model = small()
    edit(model)
    with pytest.raises(ImportModelError) as caught:
        import_proto(model)
    assert "model" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_error_names_the_node() -> None:
    model = small()
    edit_missing_tensor(model)
    with pytest.raises(ImportModelError, match=r"model, node 'mm' \(MatMul\): reads 'nobody', which nothing produces"):
        import_proto(model)
    model = small()
    model.graph.initializer[0].CopyFrom(numpy_helper.from_array(np.ones((5, 4), np.float32), "w"))
    with pytest.raises(ShapeError, match=r"model, node 'mm' \(MatMul\)"):
        import_proto(model)


@pytest.mark.parametrize(("opset", "message"), [(999, "newer than"), (6, "older than 7"), (0, "older"), (-3, "older")])
def test_operator_sets_that_are_not_known(opset: int, message: str) -> None:
    model = small()
    model.opset_import[0].version = opset
    with pytest.raises(UnsupportedError, match=message):
        import_proto(model)


def test_models_without_operator_set_are_old() -> None:
    model = small()
    del model.opset_import[:]
    with pytest.raises(UnsupportedError, match="operator set 1 is older than 7"):
        import_proto(model)


@pytest.mark.parametrize("version", [1, 3, 13, 99])
def test_ir_versions_do_not_matter(version: int) -> None:
    model = small()
    model.ir_version = version
    assert len(import_proto(model).nodes) == 2


@pytest.mark.parametrize("dims", [(2**40, 2**3), (-1, 4), (2**62, 2**62)])
def test_initialisers_of_absurd_shape(dims: tuple[int, ...]) -> None:
    model = small()
    del model.graph.initializer[0].dims[:]
    model.graph.initializer[0].dims.extend(dims)
    with pytest.raises(ShapeError, match="negative or too large"):
        import_proto(model)


@pytest.mark.parametrize(
    ("op", "inputs", "attributes"),
    [
        ("Expand", [X, np.array([2**40, 2, 3])], {}),
        ("Tile", [X, np.array([2**30, 2**30])], {}),
        ("Pad", [X, np.array([0, 2**50, 0, 0])], {}),
        ("Resize", [X, None, np.array([1e9, 1e9], np.float32)], {}),
        ("ConstantOfShape", [np.array([2**40, 2])], {"n_fed": 0}),
        ("Range", [np.array(0), np.array(2**40), np.array(1)], {"n_fed": 0}),
        ("Split", [X], {"axis": 1, "num_outputs": 2**40}),
        ("Unsqueeze", [X, np.array([9])], {}),
        ("Transpose", [X], {"perm": [0, 0]}),
        ("Softmax", [X], {"axis": 2}),
        ("Reshape", [X, np.array([-1, -1])], {}),
        ("Reshape", [X, np.array([4, -1])], {}),
        ("Slice", [X, np.array([0]), np.array([1]), np.array([0]), np.array([0])], {}),
        ("Conv", [np.zeros((1, 2, 3, 3), np.float32), np.zeros((1, 2, 5, 5), np.float32)], {}),
        ("Conv", [np.zeros((1, 2, 3, 3), np.float32), np.zeros((1, 2, 1, 1), np.float32)], {"strides": [0, 1]}),
        ("MaxPool", [np.zeros((1, 2, 3, 3), np.float32)], {"kernel_shape": [2]}),
        ("AveragePool", [np.zeros((1, 2, 3, 3), np.float32)], {"kernel_shape": [2, 2], "auto_pad": "SOMEHOW"}),
        ("Einsum", [X, X], {"n_fed": 2, "equation": "ij,jk->ik"}),
        ("Einsum", [X], {"equation": "i1->"}),
        ("Cast", [X], {"to": 16}),
        ("Cast", [X], {"to": 77}),
        ("If", [np.array([True, False])], {"n_fed": 0}),
    ],
)
def test_nodes_that_make_no_sense(op: str, inputs: list[np.ndarray | None], attributes: dict[str, Any]) -> None:
    case = one_node(op, inputs, **attributes)
    with pytest.raises((ImportModelError, ShapeError, UnsupportedError), match="node 'tested'"):
        import_proto(case.model)


def test_what_is_large_is_not_made_while_importing() -> None:
    case = one_node("Expand", [np.zeros((), np.float32), np.array([2**20, 2**10])], n_fed=0)
    graph = import_proto(case.model)
    assert graph.outputs["y0"].data is None
    assert graph.outputs["y0"].shape == (2**20, 2**10)
    eye = one_node("EyeLike", [np.zeros((1, 1), np.int8)])
    with pytest.raises(ShapeError, match="too many"):
        import_proto(eye.model, ImportOptions({"x0": (2**20, 2**10)}))


def saved(tmp_path: Path, data: bytes, name: str = "model.onnx") -> Path:
    path = tmp_path / name
    path.write_bytes(data)
    return path


def test_bad_files(tmp_path: Path) -> None:
    data = small().SerializeToString()
    for bad in (b"\x00" * 100, b"just a text\n", data[:-7], data[:30], b"\x08\x07", b"\xff" * 64):
        with pytest.raises(ImportModelError) as caught:
            import_model(saved(tmp_path, bad))
        assert "model.onnx" in str(caught.value)
    with pytest.raises(ImportModelError, match="empty"):
        import_model(saved(tmp_path, b""))
    with pytest.raises(UsageError, match="no such file"):
        import_model(tmp_path / "absent.onnx")


def test_every_truncation_is_refused(tmp_path: Path) -> None:
    data = small().SerializeToString()
    for end in range(1, len(data)):
        # The operator sets stand at the end; without them the model is one of operator set 1.
        with pytest.raises((ImportModelError, UnsupportedError)) as caught:
            import_model(saved(tmp_path, data[:end]))
        assert "\n" not in str(caught.value)


def test_mutations_raise_only_our_errors(tmp_path: Path) -> None:
    data = small().SerializeToString()
    rng = np.random.default_rng(0)
    for _ in range(1500):
        changed = bytearray(data)
        for place in rng.integers(0, len(data), rng.integers(1, 4)):
            changed[place] = rng.integers(0, 256)
        with contextlib.suppress(MaceError):
            import_model(saved(tmp_path, bytes(changed)))


class TestExternalData:
    def write(self, folder: Path, **entries: str) -> Path:
        model = small()
        tensor = model.graph.initializer[0]
        (folder / "w.bin").write_bytes(b"\0" * 8 + tensor.raw_data)
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        for key, value in {"location": "w.bin", "offset": "8", "length": "48", **entries}.items():
            tensor.external_data.add(key=key, value=value)
        return saved(folder, model.SerializeToString())

    def test_is_read(self, tmp_path: Path) -> None:
        graph = import_model(self.write(tmp_path))
        weights = graph.nodes[0].input(1)
        np.testing.assert_array_equal(weights.data, np.ones((3, 4)))

    def test_missing_file(self, tmp_path: Path) -> None:
        path = self.write(tmp_path, location="lost.bin")
        with pytest.raises(ImportModelError, match=r"lost\.bin with its external data is missing"):
            import_model(path)

    @pytest.mark.parametrize(
        "entries",
        [
            {"location": "../outside.bin"}, {"location": "/etc/passwd"}, {"location": ""}, {"location": "a\0b"},
            {"offset": "9"}, {"offset": "-1"}, {"offset": "x"}, {"length": "47"}, {"offset": "99999999999999999999"},
            {"location": "."},
        ],
    )  # fmt: skip
    def test_wrong_place(self, tmp_path: Path, entries: dict[str, str]) -> None:
        path = self.write(tmp_path, **entries)
        with pytest.raises(ImportModelError, match="initialiser 'w'"):
            import_model(path)

    def test_a_link_out_of_the_folder_is_not_followed(self, tmp_path: Path) -> None:
        (tmp_path / "secret.bin").write_bytes(b"\0" * 100)
        folder = tmp_path / "model"
        folder.mkdir()
        (folder / "link.bin").symlink_to(tmp_path / "secret.bin")
        with pytest.raises(ImportModelError, match="outside"):
            import_model(self.write(folder, location="link.bin"))


def test_recognises() -> None:
    data = small().SerializeToString()
    assert recognises(data)
    assert recognises(data[:60])
    for other in (b"", b"TFL3" * 9, b"\x0a\x10hello", b"PK\x03\x04", b"text\n", onnx.TensorProto().SerializeToString()):
        assert not recognises(other)


def test_graph_attribute_of_a_wrong_kind() -> None:
    case = one_node("If", [np.array(True)], n_fed=0, then_branch=3, else_branch=4)
    assert case.model.graph.node[0].attribute[0].type == AttributeProto.INT
    with pytest.raises(ImportModelError, match="'then_branch' is of kind INT instead of GRAPH"):
        import_proto(case.model, ImportOptions())
