"""Graphs that TensorFlow made and ran, imported and evaluated by the operators' references."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from mace_cl.importers.options import ImportOptions
from mace_cl.importers.tensorflow.importer import import_graph_def
from mace_cl.importers.tensorflow.schema import GraphDef
from support.graph_def import run_graph

DATA = Path(__file__).parent.parent / "data" / "tensorflow_cases.npz"


@cache
def cases() -> dict[str, dict[str, np.ndarray]]:
    """Case to its arrays (`graph`, `in/...`, `out/...`)."""
    found: dict[str, dict[str, np.ndarray]] = {}
    with np.load(DATA) as arrays:
        for key, array in arrays.items():
            name, _, part = key.partition("/")
            found.setdefault(name, {})[part] = array
    return found


@pytest.mark.parametrize("name", cases())
def test_same_as_tensorflow(name: str) -> None:
    parts = cases()[name]
    graph_def = GraphDef()
    graph_def.ParseFromString(parts["graph"].tobytes())
    feeds = {k.removeprefix("in/"): v for k, v in parts.items() if k.startswith("in/")}
    expected = {k.removeprefix("out/"): v for k, v in parts.items() if k.startswith("out/")}
    shapes = {k: v.shape for k, v in feeds.items()}
    options = ImportOptions(shapes, input_names=tuple(feeds), output_names=tuple(expected))
    results = run_graph(import_graph_def(graph_def, name, options, name), feeds)
    assert [*results] == [*expected]
    for output, array in expected.items():
        assert results[output].dtype == array.dtype
        assert results[output].shape == array.shape
        # TensorFlow's legacy bicubic reads its weights from a table of 1024 steps.
        tolerance = 2e-3 if name.startswith("bicubic") else 1e-5
        np.testing.assert_allclose(results[output], array, rtol=tolerance, atol=tolerance)
