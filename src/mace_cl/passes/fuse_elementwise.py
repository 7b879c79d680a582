"""Chains of elementwise operators become one node, computed in one pass over memory.

Must not fire where the inner result is used elsewhere, has another shape than the outer one (it would be computed again
for each repetition), or where the expression would take more operands than kernels do.
"""

from __future__ import annotations

from dataclasses import dataclass

from mace_cl.graph import Graph, Node, Value
from mace_cl.graph.ops import Expression, FusedElementwise
from mace_cl.passes.base import Pass, Report, sweep
from mace_cl.passes.fuse_epilogues import append_node, is_fusable
from mace_cl.passes.rewrite import scalar_of


@dataclass(frozen=True)
class FuseElementwise(Pass):
    """Join elementwise nodes.

    Attributes:
        max_operands: Most tensors that one expression reads.
        max_steps: Longest expression.
    """

    name = "fuse-elementwise"
    max_operands: int = 6
    max_steps: int = 32

    def run(self, graph: Graph, report: Report) -> None:
        """Join each node with a producer of one of its inputs, until none can be joined."""

        def visit(node: Node) -> bool:
            if not is_fusable(node):
                return False
            for value in dict.fromkeys(node.inputs):
                if value is not None and value.producer is not None and is_fusable(value.producer):
                    reason = self._why_not(graph, value, node)
                    if reason is None:
                        self._join(graph, value.producer, node, report)
                        return True
                    report.refused(node, reason)
            return False

        sweep(graph, visit)
        graph.sort()

    def _why_not(self, graph: Graph, value: Value, node: Node) -> str | None:
        inner = value.producer
        assert inner is not None
        if graph.is_output(value) or any(u is not node for u in value.users):
            return f"the result of {inner.name} is used elsewhere"
        if value.type != node.output.type:
            return f"the result of {inner.name} is repeated"
        if len(_operands((*inner.inputs, *node.inputs)) - {value}) > self.max_operands:
            return f"would read more than {self.max_operands} tensors"
        if _steps(inner) + _steps(node) > self.max_steps:
            return f"would have more than {self.max_steps} steps"
        return None

    def _join(self, graph: Graph, inner: Node, node: Node, report: Report) -> None:
        expression, operands = as_expression(inner)
        joined, extras = append_node(expression, node, inner.output)
        inputs = _merged(joined, [*operands, *extras])
        made = graph.add1(FusedElementwise(inputs[0]), inputs[1], name=node.name, before=node)
        graph.replace(node.output, made)
        graph.remove(node)
        graph.remove(inner)
        report.changed(f"{inner.name} and {node.name} joined")


def as_expression(node: Node) -> tuple[Expression, list[Value]]:
    """An elementwise node as an expression of its distinct tensor operands; numbers become literals."""
    first = next((v for v in node.inputs if v is not None and scalar_of(v) is None), None) or node.input(0)
    expression, extras = append_node(Expression(), node, first)
    return expression, [first, *extras]


def _merged(expression: Expression, values: list[Value]) -> tuple[Expression, list[Value]]:
    """The expression with equal operands listed once."""
    unique = list(dict.fromkeys(values))
    place = [unique.index(v) for v in values]
    shift = len(unique) - len(values)

    def moved(i: int | None) -> int | None:
        return None if i is None else place[i] if i < len(values) else i + shift

    steps = tuple((op, tuple(moved(i) for i in args)) for op, args in expression.steps)
    return Expression(len(unique), steps), unique


def _operands(values: tuple[Value | None, ...]) -> set[Value]:
    return {v for v in values if v is not None and scalar_of(v) is None}


def _steps(node: Node) -> int:
    return len(node.op.expression.steps) if isinstance(node.op, FusedElementwise) else 1
