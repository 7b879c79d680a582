"""A frozen MobileNet against TensorFlow's own output, with batch norm in its decomposed form."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from mace_cl.graph.evaluate import evaluate_graph
from mace_cl.importers import import_model

DATA = Path(__file__).parent.parent / "data"


def test_same_as_tensorflow() -> None:
    graph = import_model(DATA / "mobilenet_v1_025_128.pb")
    assert {n: v.shape for n, v in graph.inputs.items()} == {"input": (1, 128, 128, 3)}
    with np.load(DATA / "mobilenet_v1_025_128.in.npz") as given, np.load(DATA / "mobilenet_v1_025_128.out.npz") as out:
        (expected,), (result,) = out.values(), evaluate_graph(graph, dict(given)).values()
    # TensorFlow's sums of up to 2304 float32 products, through 28 layers.
    assert np.max(np.abs(result - expected)) <= 1e-5 * np.max(np.abs(expected))


def test_decomposed_batch_norm_is_folded() -> None:
    graph = import_model(DATA / "mobilenet_v1_025_128.pb")
    names = [n.op.name for n in graph.nodes]
    assert names.count("Conv") == 28
    assert not {"Rsqrt", "Sub", "Identity"} & {*names}
