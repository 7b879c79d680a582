"""What an operator is: typed attributes, inference, reference, cost.

An operator is a frozen dataclass whose fields are its attributes. Names and meaning follow ONNX's newest
operator sets, with three differences:

* Shapes are static. What ONNX passes as a tensor that decides a shape (Reshape's shape, Slice's starts, Pad's
  pads, Resize's sizes, Tile's repeats, axes ...) is an attribute here; importers fold it while they read.
* Attributes are explicit and normalised: no `auto_pad`, no negative axis, no "empty means default".
* Spatial operators carry `channels_last`: data is [N, *spatial, C] instead of [N, C, *spatial]. Weights keep
  ONNX's layout either way.

The NumPy reference computes in the type of its inputs, so float64 inputs give the oracle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import ClassVar

import numpy as np

from mace_cl.errors import ShapeError
from mace_cl.types import TensorType

Types = Sequence[TensorType | None]
Arrays = Sequence[np.ndarray | None]


@dataclass(frozen=True, slots=True)
class Cost:
    """Arithmetic and memory traffic of one operator or launch.

    Attributes:
        flop: Floating-point operations; a multiply-add counts two.
        bytes: Bytes read and written, each tensor once.
    """

    flop: int
    bytes: int

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.flop + other.flop, self.bytes + other.bytes)


@dataclass(frozen=True)
class Operator:
    """Base of every operator. An absent optional input is None."""

    n_inputs: ClassVar[tuple[int, int | None]] = (1, 1)
    """Least and greatest number of inputs; None means no limit."""
    n_outputs: ClassVar[tuple[int, int | None]] = (1, 1)
    elementwise: ClassVar[bool] = False
    """Whether each output element depends on the broadcast input elements at its place alone."""

    @property
    def name(self) -> str:
        """The operator's name, as in ONNX."""
        return type(self).__name__

    def infer(self, inputs: Types) -> tuple[TensorType, ...]:
        """Output types for input types.

        Raises:
            ShapeError: The inputs do not fit the operator; says which and why.
        """
        raise NotImplementedError(f"{self.name} has no inference")

    def reference(self, inputs: Arrays) -> tuple[np.ndarray, ...]:
        """The operator's meaning, in NumPy, computed in the inputs' own type."""
        raise NotImplementedError(f"{self.name} has no reference")

    def cost(self, inputs: Types, outputs: Types) -> Cost:
        """FLOP and bytes; by default one operation for each output element."""
        out = sum(t.elements for t in outputs if t is not None)
        moved = sum(t.nbytes for t in (*inputs, *outputs) if t is not None)
        return Cost(out if self.elementwise else 0, moved)

    def describe(self) -> str:
        """The operator with the attributes that differ from their defaults, as one line."""
        parts = [f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if getattr(self, f.name) != f.default]
        return f"{self.name}({', '.join(parts)})"


def need(inputs: Types, index: int, op: Operator) -> TensorType:
    """Input `index`, which must be there.

    Raises:
        ShapeError: It is absent.
    """
    if index >= len(inputs) or (found := inputs[index]) is None:
        raise ShapeError(f"input {index} is missing", where=op.name)
    return found


def need_array(inputs: Arrays, index: int, op: Operator) -> np.ndarray:
    """Input array `index`, which must be there.

    Raises:
        ShapeError: It is absent.
    """
    if index >= len(inputs) or (found := inputs[index]) is None:
        raise ShapeError(f"input {index} is missing", where=op.name)
    return found


def optional(inputs: Types, index: int) -> TensorType | None:
    """Input `index`, or None where it is absent."""
    return inputs[index] if index < len(inputs) else None
