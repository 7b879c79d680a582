"""Operators that move nothing or rearrange whole tensors."""

from __future__ import annotations

from dataclasses import dataclass

from mace_cl.graph.ops.base import Operator


@dataclass(frozen=True)
class Identity(Operator):
    """x."""


@dataclass(frozen=True)
class Reshape(Operator):
    """The same elements in another shape (all dimensions given). Flatten, Squeeze and Unsqueeze are this."""

    shape: tuple[int, ...] = ()


@dataclass(frozen=True)
class Transpose(Operator):
    """Dimension i of the output is dimension perm[i] of x."""

    perm: tuple[int, ...] = ()


@dataclass(frozen=True)
class Expand(Operator):
    """x broadcast to shape (the final output shape)."""

    shape: tuple[int, ...] = ()


@dataclass(frozen=True)
class Tile(Operator):
    """x repeated repeats[i] times along dimension i."""

    repeats: tuple[int, ...] = ()
