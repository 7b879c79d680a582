"""Computing what is known at compile time, with the operators' references."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mace_cl.graph.core import Graph, Value
from mace_cl.graph.ops.base import Operator

MAX_FOLDED_BYTES = 256 * 1024 * 1024
"""A folded result larger than this is left to the device: it would only make the file big."""


def add_folded(
    graph: Graph,
    op: Operator,
    inputs: Sequence[Value | None],
    *,
    name: str | None = None,
    outputs: Sequence[str] = (),
) -> tuple[Value, ...]:
    """Like `Graph.add`, but where every input is a constant the results are constants and no node is made.

    Importers add every node through this, so that arithmetic on shapes is known by the time that a Reshape needs it.
    """
    if inputs and all(v is None or v.is_constant for v in inputs):
        types = op.infer([None if v is None else v.type for v in inputs])
        if sum(t.nbytes for t in types) <= MAX_FOLDED_BYTES:
            arrays = evaluate(op, [None if v is None else v.data for v in inputs])
            wanted = [*outputs, *(f"{name or op.name}.{i}" for i in range(len(outputs), len(arrays)))]
            return tuple(graph.constant(a, n) for a, n in zip(arrays, wanted, strict=False))
    return graph.add(op, inputs, name=name, outputs=outputs)


def evaluate(op: Operator, inputs: Sequence[np.ndarray | None]) -> tuple[np.ndarray, ...]:
    """The operator's reference on arrays, without NumPy's floating-point warnings."""
    with np.errstate(all="ignore"):
        return tuple(np.asarray(a) for a in op.reference(inputs))
