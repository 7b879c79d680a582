"""Spatial operators work on [N, *spatial, C]; transposes around them keep every other value as it was.

`sink-transposes` then removes nearly all of those transposes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from mace_cl.graph import Graph, Node
from mace_cl.graph.ops import Transpose
from mace_cl.passes.base import Pass, Report

MIN_RANK = 3


def to_last(rank: int) -> tuple[int, ...]:
    """The permutation from [N, C, *S] to [N, *S, C]."""
    return (0, *range(2, rank), 1)


def to_first(rank: int) -> tuple[int, ...]:
    """The permutation from [N, *S, C] to [N, C, *S]."""
    return (0, rank - 1, *range(1, rank - 1))


@dataclass(frozen=True)
class ChannelsLast(Pass):
    """Choose the layout."""

    name = "channels-last"

    def run(self, graph: Graph, report: Report) -> None:
        """Every operator that has a `channels_last` attribute, once."""
        for node in list(graph.nodes):
            if getattr(node.op, "channels_last", True) is False:
                self._turn(graph, node, report)

    def _turn(self, graph: Graph, node: Node, report: Report) -> None:
        x = node.input(0)
        rank = x.type.rank
        if rank < MIN_RANK:
            return
        extras = range(3, len(node.inputs)) if getattr(node.op, "epilogue", None) else ()
        if any((v := node.inputs[i]) is not None and v.type.rank != rank for i in extras):
            report.refused(node, "an operand of its epilogue has another rank")
            return
        inputs = list(node.inputs)
        for i in (0, *extras):
            inputs[i] = graph.add1(Transpose(to_last(rank)), [node.inputs[i]], name=f"{node.name}.nhwc", before=node)
        op: Any = node.op
        turned = graph.add1(replace(op, channels_last=True), inputs, name=f"{node.name}", before=node)
        back = graph.add1(Transpose(to_first(rank)), [turned], name=f"{node.name}.nchw", before=node)
        graph.replace(node.output, back)
        graph.remove(node)
        report.changed(f"{node.name} works on channels last")
