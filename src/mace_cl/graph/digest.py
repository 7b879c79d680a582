"""A hash that tells networks apart: operators, wiring, constants, names of inputs and outputs; not names of values."""

from __future__ import annotations

import hashlib

import numpy as np

from mace_cl.graph.core import Graph, Value


def graph_sha256(graph: Graph) -> str:
    """SHA-256 of the network, hexadecimal; equal for equal networks, whatever file they came from."""
    digest = hashlib.sha256()
    numbers: dict[int, str] = {}

    def label(value: Value | None) -> str:
        if value is None:
            return "-"
        if id(value) not in numbers:
            assert value.data is not None, f"{value.name} is used before it is made"
            content = hashlib.sha256(np.ascontiguousarray(value.data).tobytes()).hexdigest()
            numbers[id(value)] = f"{value.type}:{content}"
        return numbers[id(value)]

    for name, value in graph.inputs.items():
        numbers[id(value)] = f"in:{name}"
        digest.update(f"input {name} {value.type}\n".encode())
    for i, node in enumerate(graph.nodes):
        operands = " ".join(label(v) for v in node.inputs)
        digest.update(f"{node.op!r} {operands}\n".encode())
        for k, value in enumerate(node.outputs):
            numbers[id(value)] = f"{i}.{k}"
    for name, value in graph.outputs.items():
        digest.update(f"output {name} {label(value)}\n".encode())
    return digest.hexdigest()
