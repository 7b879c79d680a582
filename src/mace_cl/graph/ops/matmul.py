"""Matrix multiplication."""

from __future__ import annotations

from dataclasses import dataclass

from mace_cl.graph.ops.base import Operator
from mace_cl.graph.ops.expression import Expression


@dataclass(frozen=True)
class MatMul(Operator):
    """a @ b over the last two dimensions, the others broadcast. Inputs: a, b, bias or None, epilogue's operands.

    a is [..., M, K] ([..., K, M] with transpose_a), b is [..., K, N] ([..., N, K] with transpose_b); both have
    rank 2 at least. bias broadcasts to the output. Gemm, FullyConnected and Linear are this operator.
    """

    transpose_a: bool = False
    transpose_b: bool = False
    epilogue: Expression = Expression()

    n_inputs = (2, None)
