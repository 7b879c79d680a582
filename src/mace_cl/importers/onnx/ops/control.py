"""Branches whose condition is known."""

from __future__ import annotations

from collections.abc import Sequence

from mace_cl.errors import ImportModelError
from mace_cl.graph import Value
from mace_cl.importers.onnx.context import Context
from mace_cl.importers.onnx.registry import handles


@handles("If")
def if_(ctx: Context) -> Sequence[Value]:
    """The branch that is taken, in the node's place."""
    condition = ctx.array(0, "cond")
    if condition.size != 1:
        raise ImportModelError(f"the condition has {condition.size} elements instead of 1")
    return ctx.subgraph(ctx.attr_graph("then_branch" if condition.reshape(-1)[0] else "else_branch"))
