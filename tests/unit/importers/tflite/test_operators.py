"""Every operator: names and shapes as the file says, numbers as LiteRT computes them."""

from __future__ import annotations

import numpy as np
import pytest

from mace_cl.graph.evaluate import evaluate_graph
from mace_cl.importers.tflite.registry import supported_operators
from support.tflite_cases import Case, all_cases, cases_by_hand
from support.tflite_run import import_bytes, litert_outputs

CASES = all_cases()
BY_HAND = cases_by_hand()


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)
def test_types_are_those_of_the_file(case: Case) -> None:
    graph = import_bytes(case.data)
    assert {n: v.shape for n, v in graph.inputs.items()} == {n: a.shape for n, a in case.inputs.items()}
    outputs = evaluate_graph(graph, case.inputs, dtype=None)
    for name, value in graph.outputs.items():
        assert outputs[name].shape == value.shape
        assert outputs[name].dtype == value.dtype.numpy


@pytest.mark.peers
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)
def test_numbers_are_those_of_litert(case: Case) -> None:
    expected = litert_outputs(case.data, case.inputs)
    outputs = evaluate_graph(import_bytes(case.data), case.inputs, dtype=None)
    assert list(outputs) == list(expected)
    for name, array in expected.items():
        assert outputs[name].shape == array.shape
        assert outputs[name].dtype == array.dtype
        if array.dtype.kind == "f":
            limit = 16 * np.finfo(np.float32).eps * max(1.0, float(np.abs(array).max(initial=0)))
            np.testing.assert_allclose(outputs[name], array, rtol=0, atol=limit)
        else:
            np.testing.assert_array_equal(outputs[name], array)


def test_every_handler_has_a_case() -> None:
    covered = {c.operator for c in CASES} | {c.operator for c in BY_HAND}
    elsewhere = {"DENSIFY", "DEQUANTIZE", "QUANTIZE"}
    assert set(supported_operators()) - covered == elsewhere


@pytest.mark.parametrize("case", BY_HAND, ids=lambda c: c.id)
def test_numbers_are_those_worked_out_by_hand(case: Case) -> None:
    """Operators that LiteRT lacks, or computes from constants."""
    outputs = evaluate_graph(import_bytes(case.data), case.inputs, dtype=None)
    np.testing.assert_allclose(outputs["y0"], case.expected, rtol=1e-6, atol=1e-6)
    assert outputs["y0"].dtype == np.asarray(case.expected).dtype
