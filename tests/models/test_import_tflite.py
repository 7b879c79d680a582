"""Published TensorFlow Lite models against LiteRT, the references computed in float64."""

from __future__ import annotations

import numpy as np
import pytest

from mace_cl.graph.check import check
from mace_cl.graph.evaluate import evaluate_graph
from mace_cl.importers import import_model
from packages import ASSETS, fetch
from support.tflite_run import litert_outputs

MODELS = sorted(n for n, asset in ASSETS.items() if asset.member.endswith(".tflite"))
TOLERANCE = 2e-4
"""Of the output's largest magnitude. LiteRT computes in float32, through some 200 layers."""


@pytest.mark.models
@pytest.mark.peers
@pytest.mark.parametrize("name", MODELS)
def test_outputs_are_those_of_litert(name: str) -> None:
    path = fetch(name)
    graph = import_model(path)
    check(graph)
    rng = np.random.default_rng(0)
    inputs = {n: rng.uniform(0, 1, v.shape).astype(v.dtype.numpy) for n, v in graph.inputs.items()}
    data = path.read_bytes()
    expected = litert_outputs(data, inputs, delegates=b"Convolution2DTransposeBias" in data)
    outputs = evaluate_graph(graph, inputs)
    assert list(outputs) == list(expected)
    for output, array in expected.items():
        limit = TOLERANCE * float(np.abs(array).max())
        np.testing.assert_allclose(outputs[output], array, rtol=0, atol=limit, err_msg=output)
