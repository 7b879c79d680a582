"""Updates written into a copy of a tensor, at elements along an axis or at index tuples."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from mace_cl.graph.core import Graph, Node
from mace_cl.graph.ops import ScatterElements, ScatterND
from mace_cl.kernels.base import Config, Family, KernelCall, Match, Read, Refusal, Weights, Write, roofline_us
from mace_cl.kernels.blocks import dense_strides, element_type
from mace_cl.kernels.lines import computable, indexable, line_call, node_cost
from mace_cl.targets.facts import DeviceFacts

_COMBINE = {
    "none": "(update)",
    "add": "((old) + (update))",
    "mul": "((old) * (update))",
    "max": "((old) > (update) || (old) != (old) ? (old) : (update))",
    "min": "((old) < (update) || (old) != (old) ? (old) : (update))",
}
"""What is stored; of two numbers that are compared not-a-number wins."""
SHARES = 64
"""Parts of y at most where each work-item looks through all index tuples."""


class Scatter(Family):
    """Any rank and index type; every element type moves, those that the device computes with combine."""

    name = "scatter"
    operators = ("ScatterElements", "ScatterND")

    def match(self, graph: Graph, node: Node, facts: DeviceFacts) -> Match | Refusal:
        """The node alone."""
        if not node.input(2).type.elements:
            return Refusal("there are no updates")
        refusal = None if _reduction(node) == "none" else computable(node.input(0).dtype, facts)
        return refusal or indexable(node)

    def cost(self, match: Match, config: Config, facts: DeviceFacts) -> float:
        """Memory traffic, and a cache line for each update."""
        updates = match.node.input(2).type.elements
        return roofline_us(node_cost(match.node), facts, 0.05) + 64 * updates / (facts.gbytes_per_s * 1e3)

    def emit(self, match: Match, config: Config, facts: DeviceFacts) -> Sequence[KernelCall]:
        """One launch."""
        node = match.node
        reduction = _reduction(node)
        x, index = node.input(0), node.input(1)
        macros = {
            "E": element_type(x.dtype) if reduction == "none" else x.dtype.opencl,
            "INDEX": index.dtype.opencl,
            "COMBINE(old, update)": _COMBINE[reduction],
        }
        if isinstance(node.op, ScatterElements):
            return [_along(node, node.op.axis % x.type.rank, macros, facts)]
        return [_at_tuples(node, macros, facts)]


def _reduction(node: Node) -> str:
    assert isinstance(node.op, ScatterElements | ScatterND)
    return node.op.reduction


def _along(node: Node, axis: int, macros: dict[str, str], facts: DeviceFacts) -> KernelCall:
    x, index, updates, y = node.input(0), node.input(1), node.input(2), node.output
    strides = dense_strides(index.shape)
    others = [d for d in range(x.type.rank) if d != axis]
    table = [n for d in others for n in (x.shape[d], index.shape[d], strides[d])]
    size, inner = x.shape[axis], math.prod(x.shape[axis + 1 :])
    return line_call(
        "scatter",
        {**macros, "ALONG": 1},
        [Read(x), Read(index), Read(updates), Weights(np.array([*table, 0], np.int32), "table"), Write(y)],
        [size, inner, index.shape[axis], strides[axis], len(others)],
        x.type.elements // size,
        size,
        facts,
        node_cost(node),
    )


def _at_tuples(node: Node, macros: dict[str, str], facts: DeviceFacts) -> KernelCall:
    x, index, updates, y = node.input(0), node.input(1), node.input(2), node.output
    depth = index.shape[-1]
    table = np.array([*x.shape[:depth], *dense_strides(x.shape[:depth])], np.int32)
    run = math.prod(x.shape[depth:])
    return line_call(
        "scatter",
        macros,
        [Read(x), Read(index), Read(updates), Weights(table, "table"), Write(y)],
        [run, math.prod(index.shape[:-1]), depth],
        x.type.elements // run,
        run,
        facts,
        node_cost(node),
        most=SHARES,
    )


FAMILY = Scatter()
