"""Nodes whose inputs are all constants become constants.

Does not fire on results larger than `MAX_FOLDED_BYTES`, which would only make the file big.
"""

from __future__ import annotations

from dataclasses import dataclass

from mace_cl.graph import Graph
from mace_cl.graph.fold import MAX_FOLDED_BYTES, evaluate
from mace_cl.passes.base import Pass, Report


@dataclass(frozen=True)
class FoldConstants(Pass):
    """Compute what is known.

    Attributes:
        max_bytes: Largest result.
    """

    name = "fold-constants"
    max_bytes: int = MAX_FOLDED_BYTES

    def run(self, graph: Graph, report: Report) -> None:
        """One walk in topological order folds chains as well."""
        for node in list(graph.nodes):
            if not node.inputs or not all(v is None or v.is_constant for v in node.inputs):
                continue
            size = sum(v.type.nbytes for v in node.outputs)
            if size > self.max_bytes:
                report.refused(node, f"its result has {size} bytes, more than {self.max_bytes}")
                continue
            arrays = evaluate(node.op, [None if v is None else v.data for v in node.inputs])
            for value, array in zip(node.outputs, arrays, strict=True):
                graph.replace(
                    value, graph.constant(array.astype(value.dtype.numpy, copy=False), f"{value.name}.folded")
                )
            graph.remove(node)
            report.changed(f"{node.name} folded")
