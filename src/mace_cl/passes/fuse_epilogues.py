"""Elementwise operators behind a convolution or matrix product go into its epilogue.

The other operands must be numbers, one value for each channel, or tensors of the output's shape (a residual). Of two
convolutions that are added, the later one takes the sum. Must not fire where the sum is used elsewhere, where types
change, or where the elementwise operator enlarges its operand.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from mace_cl.graph import Graph, Node, Value
from mace_cl.graph.ops import Conv, ConvTranspose, Expression, FusedElementwise, Literal, MatMul
from mace_cl.passes.base import Pass, Report, sweep
from mace_cl.passes.rewrite import scalar_of
from mace_cl.types import DataType

FUSED_TYPE = DataType.FLOAT32


@dataclass(frozen=True)
class FuseEpilogues(Pass):
    """Let convolutions do what follows them.

    Attributes:
        max_extras: Most operands of one epilogue.
    """

    name = "fuse-epilogues"
    max_extras: int = 4

    def run(self, graph: Graph, report: Report) -> None:
        """Repeat, since one elementwise operator may follow another."""
        place = {node: i for i, node in enumerate(graph.nodes)}

        def visit(node: Node) -> bool:
            if not is_fusable(node):
                return False
            producers = dict.fromkeys(v.producer for v in node.inputs if v is not None and v.producer is not None)
            hosts = [p for p in producers if isinstance(p.op, Conv | ConvTranspose | MatMul)]
            for host in sorted(hosts, key=lambda p: -place.get(p, 0)):
                if self._fuse(graph, host, node, report):
                    place[host] = max(place.get(host, 0), place.get(node, 0))
                    return True
            return False

        sweep(graph, visit)
        graph.sort()

    def _fuse(self, graph: Graph, host: Node, node: Node, report: Report) -> bool:
        reason = self._why_not(graph, host, node)
        if reason:
            report.refused(node, reason)
            return False
        op: Any = host.op
        x = host.output
        epilogue, extras = append_node(op.epilogue, node, x)
        inputs = [*host.inputs, *[None] * (3 - len(host.inputs)), *extras]
        made = graph.add1(replace(op, epilogue=epilogue), inputs, name=host.name, before=node)
        graph.replace(node.output, made)
        graph.remove(node)
        graph.remove(host)
        # The host's name lives on in its successor.
        report.changed(f"{node.name} fused into {host.name}")
        assert made.producer is not None
        made.producer.name = host.name
        return True

    def _why_not(self, graph: Graph, host: Node, node: Node) -> str | None:
        x = host.output
        if graph.is_output(x) or any(u is not node for u in x.users):
            return f"the result of {host.name} is used elsewhere"
        if node.output.type != x.type:
            return f"its result is larger than that of {host.name}, or of another type"
        extras = [v for v in node.inputs if v is not None and v is not x and scalar_of(v) is None]
        if any(not is_epilogue_operand(v, x) for v in extras):
            return "an operand is neither a number, nor a vector over the channels, nor of the output's shape"
        if len(dict.fromkeys(extras)) + max(len(host.inputs) - 3, 0) > self.max_extras:
            return f"{host.name} would have more than {self.max_extras} operands"
        return None


def is_fusable(node: Node) -> bool:
    """Whether the node is elementwise in float32 throughout."""
    return node.op.elementwise and all(v is None or v.dtype is FUSED_TYPE for v in (*node.inputs, *node.outputs))


def is_epilogue_operand(value: Value, output: Value) -> bool:
    """Whether kernels with an epilogue take the value: output's shape, or one for each last-dimension channel."""
    shape = (1,) * (output.type.rank - value.type.rank) + value.shape
    if shape == output.shape:
        return True
    return len(shape) == output.type.rank and all(d == 1 for d in shape[:-1]) and shape[-1] in (1, output.shape[-1])


def append_node(expression: Expression, node: Node, x: Value) -> tuple[Expression, list[Value]]:
    """An expression followed by an elementwise node that reads its result as `x`.

    Numbers become literals; other operands become new operands of the expression.

    Returns:
        The longer expression and the new operands.
    """
    inner = node.op.expression if isinstance(node.op, FusedElementwise) else _alone(node)
    extras = list(dict.fromkeys(v for v in node.inputs if v is not None and v is not x and scalar_of(v) is None))
    count = len(extras)
    old, new = expression.n_inputs, expression.n_inputs + count

    def moved(i: int | None) -> int | None:
        return None if i is None else i if i < old else i + count

    steps = [(op, tuple(moved(i) for i in args)) for op, args in expression.steps]
    last = new + len(steps) - 1 if steps else 0
    # Where each operand of the appended node is found.
    where: list[int | None] = []
    for value in node.inputs:
        number = None if value is x else scalar_of(value)
        if value is None:
            where.append(None)
        elif value is x:
            where.append(last)
        elif number is not None:
            steps.append((Literal(number), ()))
            where.append(new + len(steps) - 1)
        else:
            where.append(old + extras.index(value))
    shift = new + len(steps) - inner.n_inputs
    for op, args in inner.steps:
        steps.append((op, tuple(None if i is None else where[i] if i < inner.n_inputs else i + shift for i in args)))
    return Expression(new, tuple(steps)), extras


def _alone(node: Node) -> Expression:
    """The expression of a single elementwise node."""
    operands: list[int | None] = []
    for i, value in enumerate(node.inputs):
        operands.append(None if value is None else i)
    return Expression(len(node.inputs), ((node.op, tuple(operands)),))
