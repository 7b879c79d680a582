"""Chains of elementwise operators as one value.

Convolutions apply one to their sums; an elementwise kernel computes one in a single pass.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mace_cl.graph.ops.base import Arrays, Operator, Types, need, need_array
from mace_cl.types import DataType, TensorType


@dataclass(frozen=True)
class Expression:
    """Elementwise steps in order, on operands numbered 0 .. n_inputs-1; step k's result is operand n_inputs+k.

    The last step's result is the result. Without steps it is the identity of operand 0. An operand of a step may
    be None where the operator's input is optional.

    Attributes:
        n_inputs: Number of operands that come from outside.
        steps: (operator, operand numbers); the operator is elementwise.
    """

    n_inputs: int = 1
    steps: tuple[tuple[Operator, tuple[int | None, ...]], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.steps)

    def infer(self, inputs: Types) -> TensorType:
        """Type of the result, by the steps' own inference (broadcasting included)."""
        known = [need(inputs, i, _OPERAND) for i in range(self.n_inputs)]
        for op, operands in self.steps:
            known += op.infer([None if i is None else known[i] for i in operands])
        return known[-1] if self.steps else known[0]

    def reference(self, inputs: Arrays) -> np.ndarray:
        """The result in NumPy."""
        known = [need_array(inputs, i, _OPERAND) for i in range(self.n_inputs)]
        for op, operands in self.steps:
            known += op.reference([None if i is None else known[i] for i in operands])
        return known[-1] if self.steps else known[0]

    def then(self, op: Operator, operands: tuple[int | None, ...], n_extra: int) -> Expression:
        """Append a step; -1 in `operands` is the present result, 0 .. n_extra-1 are new outside operands.

        The new outside operands get the numbers n_inputs .. n_inputs+n_extra-1.
        """
        old, new = self.n_inputs, self.n_inputs + n_extra

        def moved(i: int | None) -> int | None:
            return None if i is None else i if i < old else i + n_extra

        last = new + len(self.steps) - 1 if self.steps else 0
        steps = tuple((o, tuple(moved(i) for i in args)) for o, args in self.steps)
        added = tuple(None if i is None else last if i == -1 else old + i for i in operands)
        return Expression(new, (*steps, (op, added)))

    def describe(self) -> str:
        """The names of the steps, joined by +."""
        return "+".join(op.name for op, _ in self.steps)


@dataclass(frozen=True)
class FusedElementwise(Operator):
    """Several elementwise operators computed in one pass; inputs are the expression's operands, broadcast."""

    expression: Expression = Expression()

    n_inputs = (1, None)
    elementwise = True

    def infer(self, inputs: Types) -> tuple[TensorType, ...]:
        """Type of the expression's result."""
        return (self.expression.infer(inputs),)

    def reference(self, inputs: Arrays) -> tuple[np.ndarray, ...]:
        """The expression's steps, one by one."""
        return (self.expression.reference(inputs),)


_OPERAND = FusedElementwise()


@dataclass(frozen=True)
class Literal(Operator):
    """A number inside an expression; it stands in expressions only, never in a graph."""

    value: float = 0.0
    dtype: DataType = DataType.FLOAT32

    n_inputs = (0, 0)
    elementwise = True

    def infer(self, inputs: Types) -> tuple[TensorType, ...]:
        """A scalar of the literal's type."""
        return (TensorType(self.dtype, ()),)

    def reference(self, inputs: Arrays) -> tuple[np.ndarray, ...]:
        """The number as an array without dimensions."""
        return (np.asarray(self.value, self.dtype.numpy),)
