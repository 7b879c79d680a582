from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from mace_cl.errors import ImportModelError, UsageError
from mace_cl.importers import import_model
from mace_cl.importers.content import describe_content
from support.tflite_builder import ModelBuilder


def relu_model() -> bytes:
    m = ModelBuilder()
    x, y = m.tensor("x", (2, 3)), m.tensor("y", (2, 3))
    m.operator("RELU", [x], [y])
    return m.build([x], [y])


@pytest.mark.parametrize("name", ["model.tflite", "model.onnx", "model", "model.pb"])
def test_content_decides_not_the_extension(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(relu_model())
    graph = import_model(path)
    assert list(graph.inputs) == ["x"]
    assert list(graph.outputs) == ["y"]


def test_a_tflite_file_loads_no_other_format(tmp_path: Path) -> None:
    path = tmp_path / "model.tflite"
    path.write_bytes(relu_model())
    code = (
        "import sys; from mace_cl.importers import import_model; import_model(sys.argv[1]); "
        "print([m for m in ('onnx', 'tensorboard', 'mace_cl.importers.onnx', 'mace_cl.importers.tensorflow') "
        "if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b"just some text\nin a file\n", "looks like text"),
        (b"PK\x03\x04" + bytes(50), "zip archive"),
        (b"\x89HDF\r\n\x1a\n" + bytes(50), "HDF5"),
        (b"\x89MACECL\n" + bytes(50), "mace run"),
        (bytes(100), "zero bytes"),
        (b"\x10\x00\x00\x00TFL2" + bytes(50), "another schema version"),
        (b"\xfe\xff\x00\x01\x02\x03\x04\x05" * 9, "fe ff 00 01"),
    ],
    ids=["empty", "text", "zip", "hdf5", "compiled", "zeros", "old", "binary"],
)
@pytest.mark.parametrize("suffix", [".tflite", ".onnx", ""])
def test_other_files_are_named_for_what_they_are(tmp_path: Path, content: bytes, words: str, suffix: str) -> None:
    path = tmp_path / f"model{suffix}"
    path.write_bytes(content)
    with pytest.raises(ImportModelError) as caught:
        import_model(path)
    assert words in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file"):
        import_model(tmp_path / "absent.tflite")


def test_a_folder(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="folder"):
        import_model(tmp_path)
    (tmp_path / "saved_model.pb").write_bytes(b"x")
    with pytest.raises(UsageError, match=r"saved_model\.pb"):
        import_model(str(tmp_path))


def test_a_path_that_no_system_takes() -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        import_model("model\0.tflite")


def test_text_is_recognised_where_a_character_is_cut() -> None:
    assert describe_content("ä".encode() * 5000) == "text"
    assert describe_content(np.arange(256, dtype=np.uint8).tobytes()).startswith("binary data")
