"""The ONNX standard's cases for single operators: each passes, or is refused for a reason that is listed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

import numpy as np
import pytest
from onnx import defs

from mace_cl.errors import UnsupportedError
from mace_cl.graph import Graph
from mace_cl.graph.evaluate import evaluate_graph
from mace_cl.importers.onnx import supported_operators
from mace_cl.passes.pipeline import run_passes
from support.onnx_cases import compare, import_case, load_cases
from support.onnx_limits import CASES, FUNCTIONS, OPERATORS, OTHER_DOMAINS, TYPES, kinds, reasons

Executor = Callable[[Graph, Mapping[str, np.ndarray]], Mapping[str, np.ndarray]]


def references(graph: Graph, feeds: Mapping[str, np.ndarray]) -> Mapping[str, np.ndarray]:
    """The operators' references, as imported."""
    return evaluate_graph(graph, feeds, dtype=None)


def references_after_passes(graph: Graph, feeds: Mapping[str, np.ndarray]) -> Mapping[str, np.ndarray]:
    """The operators' references, after all passes with checks between them."""
    run_passes(graph, checked=True)
    return evaluate_graph(graph, feeds, dtype=None)


EXECUTORS: tuple[Executor, ...] = (references, references_after_passes)
PASSING = [n for n, c in load_cases().items() if not reasons(c)]
REFUSED = [n for n, c in load_cases().items() if reasons(c)]


@pytest.mark.parametrize("execute", EXECUTORS, ids=lambda e: e.__name__)
@pytest.mark.parametrize("name", PASSING)
def test_result(name: str, execute: Executor) -> None:
    case = load_cases()[name]
    graph, feeds = import_case(case)
    assert [*graph.outputs] == [o.name for o in case.model.graph.output if o.name]
    compare(case, [*execute(graph, feeds).values()])


@pytest.mark.parametrize("name", REFUSED)
def test_refusal(name: str) -> None:
    case = load_cases()[name]
    with pytest.raises(UnsupportedError) as caught:
        import_case(case)
    assert any(reason in str(caught.value) for reason in reasons(case)), str(caught.value)


@cache
def unhandled() -> set[str]:
    """Operators of ONNX's own domain that neither a function here nor their own definition covers."""
    schemas = {s.name: s for s in defs.get_all_schemas() if not s.domain}
    defined = {n for n, s in schemas.items() if s.has_function or s.has_context_dependent_function}
    return set(schemas) - defined - set(supported_operators())


def test_list_of_operators_is_exact() -> None:
    assert {*OPERATORS} == unhandled()


def test_no_entry_is_stale() -> None:
    cases = [load_cases()[n] for n in REFUSED]
    met = set().union(*(c.operators for c in cases))
    assert {*FUNCTIONS, *OTHER_DOMAINS} <= met
    assert not {*FUNCTIONS, *OTHER_DOMAINS} & {*supported_operators()}
    assert {*TYPES} <= set().union(*(kinds(c.model.graph) for c in cases))
    assert {*CASES} <= {*REFUSED}


def test_most_cases_pass() -> None:
    assert len(PASSING) > 3 * len(REFUSED)
