"""Published TensorFlow Lite models against LiteRT, the references computed in float64."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from mace_cl.errors import UnsupportedError
from mace_cl.graph.check import check
from mace_cl.graph.evaluate import evaluate_graph
from mace_cl.importers import import_model
from support.tflite_run import litert_outputs

FOLDER = os.environ.get("MACE_CL_TEST_MODELS", "")
"""A folder that is searched for models, such as an unpacked wheel of MediaPipe."""

MODELS = sorted(Path(FOLDER).rglob("*.tflite")) if FOLDER else []
TOLERANCE = 2e-4
"""Of the output's largest magnitude. LiteRT computes in float32, through some 200 layers."""


@pytest.mark.models
@pytest.mark.peers
@pytest.mark.skipif(not MODELS, reason="MACE_CL_TEST_MODELS names no folder with .tflite files")
@pytest.mark.parametrize("path", MODELS, ids=lambda p: p.stem)
def test_outputs_are_those_of_litert(path: Path) -> None:
    try:
        graph = import_model(path)
    except UnsupportedError as error:
        pytest.skip(str(error))
    check(graph)
    rng = np.random.default_rng(0)
    inputs = {n: rng.uniform(0, 1, v.shape).astype(v.dtype.numpy) for n, v in graph.inputs.items()}
    data = path.read_bytes()
    expected = litert_outputs(data, inputs, delegates=b"Convolution2DTransposeBias" in data)
    outputs = evaluate_graph(graph, inputs)
    assert list(outputs) == list(expected)
    for name, array in expected.items():
        limit = TOLERANCE * float(np.abs(array).max())
        np.testing.assert_allclose(outputs[name], array, rtol=0, atol=limit, err_msg=name)
