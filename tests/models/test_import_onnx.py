"""Published ONNX models, and those of the benchmarks, against ONNX Runtime, the references computed in float64."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from inputs import natural_input, random_input
from mace_cl.errors import ShapeError
from mace_cl.graph.check import check
from mace_cl.graph.evaluate import evaluate_graph
from mace_cl.importers import ImportOptions, import_model
from mace_cl.types import Shape
from models import MODELS, write_model
from zoo import Network

onnxruntime = pytest.importorskip("onnxruntime")

FOLDER = os.environ.get("MACE_CL_TEST_MODELS", "")
"""A folder that is searched for models, such as an unpacked wheel of rapidocr_onnxruntime."""

TOLERANCE = 2e-4
"""Of the output's largest magnitude. ONNX Runtime computes in float32, through some 300 layers."""

PUBLISHED = [
    ("text_detector", "ch_PP-OCRv4_det_infer", (1, 3, 640, 640)),
    ("text_detector", "ch_PP-OCRv4_det_infer", (1, 3, 736, 480)),
    ("text_recogniser", "ch_PP-OCRv4_rec_infer", (1, 3, 48, 320)),
    ("text_classifier", "ch_ppocr_mobile_v2.0_cls_infer", (1, 3, 48, 192)),
]


def agrees(path: Path, shapes: dict[str, Shape], kind: str) -> list[np.ndarray]:
    """Compare the outputs for rendered text (text networks) or noise; returns what ONNX Runtime computes."""
    graph = import_model(path, ImportOptions(shapes))
    check(graph)
    text = kind.startswith("text")
    feeds = {
        n: natural_input(Network(kind, kind), v.type) if text else random_input(v.type, 0)
        for n, v in graph.inputs.items()
    }
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    expected = session.run(None, feeds)
    outputs = evaluate_graph(graph, feeds)
    assert [*outputs] == [o.name for o in session.get_outputs()]
    for array, wanted in zip(outputs.values(), expected, strict=True):
        np.testing.assert_allclose(array, wanted, rtol=0, atol=TOLERANCE * float(np.abs(wanted).max()))
    return expected


def published(name: str) -> Path:
    found = sorted(Path(FOLDER).rglob(f"{name}.onnx")) if FOLDER else []
    if not found:
        pytest.skip(f"MACE_CL_TEST_MODELS names no folder with {name}.onnx")
    return found[0]


@pytest.mark.models
@pytest.mark.peers
@pytest.mark.parametrize(("kind", "name", "shape"), PUBLISHED)
def test_published_models(kind: str, name: str, shape: Shape) -> None:
    outputs = agrees(published(name), {"x": shape}, kind)
    # Something is found; an output of zeros would prove nothing.
    assert max(np.abs(a).max() for a in outputs) > 0.5


@pytest.mark.models
@pytest.mark.parametrize("name", sorted({n for _, n, _ in PUBLISHED}))
def test_open_dimensions_are_asked_for(name: str) -> None:
    with pytest.raises(ShapeError, match="--input-shape x="):
        import_model(published(name))


@pytest.mark.slow
@pytest.mark.peers
@pytest.mark.parametrize("name", MODELS)
def test_models_of_the_benchmarks(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"{name}.onnx"
    write_model(name, path)
    (logits,) = agrees(path, {}, name)
    # Large enough for a wrong layer to be seen.
    assert logits.std() >= 1
