"""Matrix multiplication."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mace_cl.errors import ShapeError
from mace_cl.graph.ops.base import Arrays, Cost, Operator, Types, need, need_array, optional
from mace_cl.graph.ops.broadcast import broadcast_shapes
from mace_cl.graph.ops.expression import Expression
from mace_cl.types import TensorType


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

    def infer(self, inputs: Types) -> tuple[TensorType, ...]:
        """[..., M, N], the leading dimensions broadcast."""
        a, b = need(inputs, 0, self), need(inputs, 1, self)
        if a.rank < 2 or b.rank < 2:
            raise ShapeError(f"a {a} and b {b} must have rank 2 at least", where=self.name)
        if a.dtype is not b.dtype:
            raise ShapeError(f"a is {a.dtype.value}, b is {b.dtype.value}", where=self.name)
        m, k = a.shape[-2:][::-1] if self.transpose_a else a.shape[-2:]
        k2, n = b.shape[-2:][::-1] if self.transpose_b else b.shape[-2:]
        if k != k2:
            raise ShapeError(f"the inner dimensions {k} and {k2} of {a.shape} and {b.shape} differ", where=self.name)
        shape = (*broadcast_shapes(a.shape[:-2], b.shape[:-2]), m, n)
        bias = optional(inputs, 2)
        if bias is not None and broadcast_shapes(shape, bias.shape) != shape:
            raise ShapeError(f"bias {bias} does not broadcast to {shape}", where=self.name)
        result = TensorType(a.dtype, shape)
        if not self.epilogue:
            return (result,)
        final = self.epilogue.infer([result, *inputs[3:]])
        if final.shape != shape:
            raise ShapeError(f"the epilogue turns {shape} into {final.shape}", where=self.name)
        return (final,)

    def reference(self, inputs: Arrays) -> tuple[np.ndarray, ...]:
        """NumPy's product, then bias and epilogue."""
        a, b = need_array(inputs, 0, self), need_array(inputs, 1, self)
        wide = np.promote_types(a.dtype, np.float32) if a.dtype.kind == "f" else a.dtype
        left = (a.swapaxes(-1, -2) if self.transpose_a else a).astype(wide, copy=False)
        right = (b.swapaxes(-1, -2) if self.transpose_b else b).astype(wide, copy=False)
        total = left @ right
        if len(inputs) > 2 and inputs[2] is not None:
            total = total + inputs[2]
        result = total.astype(a.dtype, copy=False)
        return (self.epilogue.reference([result, *inputs[3:]]) if self.epilogue else result,)

    def cost(self, inputs: Types, outputs: Types) -> Cost:
        """Two operations for each output element and inner index."""
        a, y = need(inputs, 0, self), need(outputs, 0, self)
        moved = sum(t.nbytes for t in (*inputs, *outputs) if t is not None)
        return Cost(2 * y.elements * a.shape[-2 if self.transpose_a else -1], moved)
