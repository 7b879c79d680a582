"""A graph as text for people: one line an input, node and output.

    input  x: float32[1,3,8,8]
    conv = Conv(strides=(2, 2))(x, float32[4,3,3,3], float32[4])  -> float32[1,4,3,3]
    output y: conv

A value is named as in the graph. A constant of up to eight elements is written out, a larger one by its type. The text
is for reading and for tests; a graph is not read back from it.
"""

from __future__ import annotations

from mace_cl.graph.core import Graph, Node, Value

WRITTEN_OUT = 8


def to_text(graph: Graph) -> str:
    """The whole graph."""
    lines = [f"input  {name}: {value.type}" for name, value in graph.inputs.items()]
    lines += [node_text(node) for node in graph.nodes]
    lines += [f"output {name}: {_operand(value)}" for name, value in graph.outputs.items()]
    return "\n".join(lines)


def node_text(node: Node) -> str:
    """One node."""
    results = ", ".join(v.name for v in node.outputs)
    operands = ", ".join(_operand(v) for v in node.inputs)
    types = ", ".join(str(v.type) for v in node.outputs)
    return f"{results} = {node.op.describe()}({operands})  -> {types}"


def _operand(value: Value | None) -> str:
    if value is None:
        return "-"
    if value.data is None:
        return value.name
    if value.data.size > WRITTEN_OUT:
        return str(value.type)
    return f"{value.dtype.value}{value.data.tolist()}"
