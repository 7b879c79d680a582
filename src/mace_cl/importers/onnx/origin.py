"""Which of a graph's inputs a value depends on."""

from __future__ import annotations

from mace_cl.graph import Graph, Value


def graph_inputs_of(graph: Graph, value: Value) -> list[str]:
    """Names of the inputs that the value is computed from, in the graph's order."""
    seen = {id(value)}
    stack = [value]
    while stack:
        producer = stack.pop().producer
        for operand in producer.inputs if producer is not None else ():
            if operand is not None and id(operand) not in seen:
                seen.add(id(operand))
                stack.append(operand)
    return [name for name, v in graph.inputs.items() if id(v) in seen]
