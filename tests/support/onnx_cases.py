"""The cases of the ONNX standard for single operators, and how one is imported here."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from onnx import TensorProto, numpy_helper
from onnx.backend.test.loader import load_model_tests

from mace_cl.errors import UnsupportedError
from mace_cl.graph import Graph
from mace_cl.importers.onnx import import_proto
from mace_cl.importers.options import ImportOptions


@dataclass(frozen=True)
class Case:
    """One case.

    Attributes:
        name: Its id, without 'test_'.
        model: The ModelProto.
        feeds: Input name to array; what is no array (a sequence, an absent optional) stays as it is.
        wanted: Outputs in the model's order.
        rtol, atol: The standard's own tolerances.
    """

    name: str
    model: Any
    feeds: dict[str, Any]
    wanted: list[Any]
    rtol: float
    atol: float

    @property
    def operators(self) -> set[str]:
        """Every operator of the model, those in branches included."""
        return _operators(self.model.graph)


def _operators(graph: Any) -> set[str]:
    found = {n.op_type for n in graph.node}
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                found |= _operators(attribute.g)
    return found


@cache
def load_cases() -> dict[str, Case]:
    """All cases by name."""
    with warnings.catch_warnings():
        # The standard's own scripts overflow and divide by zero on purpose.
        warnings.simplefilter("ignore")
        tests = load_model_tests(kind="node")
    found = {}
    for test in tests:
        inputs, outputs = test.data_sets[0]
        names = [i.name for i in test.model.graph.input]
        name = test.name.removeprefix("test_")
        feeds = {n: _array(a) for n, a in zip(names, inputs, strict=False)}
        found[name] = Case(name, test.model, feeds, [_array(a) for a in outputs], test.rtol, test.atol)
    return found


def _array(given: Any) -> Any:
    """A tensor of whatever form as an array; what is no tensor as it is."""
    if isinstance(given, TensorProto):
        return numpy_helper.to_array(given)
    return np.asarray(given) if isinstance(given, np.generic) else given


def import_case(case: Case) -> tuple[Graph, dict[str, np.ndarray]]:
    """The graph for the case's input shapes, and the arrays of the inputs that it has.

    Inputs that decide shapes become constants, if the import asks for it.
    """
    arrays = {n: a for n, a in case.feeds.items() if isinstance(a, np.ndarray)}
    fixed: dict[str, np.ndarray] = {}
    while True:
        shapes = {n: a.shape for n, a in arrays.items() if n not in fixed and a.size}
        try:
            graph = import_proto(case.model, ImportOptions(shapes, fixed))
        except UnsupportedError as error:
            asked = _asked_for(error) - set(fixed)
            if not asked:
                raise
            fixed |= {n: arrays[n] for n in asked}
            continue
        return graph, {n: arrays[n] for n in graph.inputs}


def compare(case: Case, results: Sequence[np.ndarray]) -> None:
    """Fail where results differ from the case's in type, shape, or by more than the standard allows."""
    assert len(results) == len(case.wanted)
    for got, wanted in zip(results, case.wanted, strict=True):
        assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
        np.testing.assert_allclose(got, wanted, rtol=case.rtol, atol=case.atol)


def _asked_for(error: UnsupportedError) -> set[str]:
    """The inputs that an import wants to be fixed."""
    return set(re.findall(r"'([^']*)'", error.hint or "")) if "depends on data" in str(error) else set()
