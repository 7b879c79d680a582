"""Blocks of elements that are moved from one tensor to another: dimensions with a stride on each side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mace_cl.types import DataType, Shape

ELEMENTS = {1: "uchar", 2: "ushort", 4: "uint", 8: "ulong"}
"""The OpenCL type that moves elements of a size."""


def element_type(dtype: DataType) -> str:
    """The OpenCL type that moves elements of a data type, whatever they mean."""
    return ELEMENTS[dtype.itemsize]


def dense_strides(shape: Shape) -> tuple[int, ...]:
    """Element strides of a dense tensor."""
    strides, step = [0] * len(shape), 1
    for d in range(len(shape) - 1, -1, -1):
        strides[d] = step
        step *= shape[d]
    return tuple(strides)


@dataclass(frozen=True)
class Block:
    """A block with its strides, in elements.

    Attributes:
        dims: Sizes.
        x_strides, y_strides: Distance of neighbours in the source and in the target; 0 repeats the source.
        x_start, y_start: Where the block's first element lies.
    """

    dims: tuple[int, ...]
    x_strides: tuple[int, ...]
    y_strides: tuple[int, ...]
    x_start: int = 0
    y_start: int = 0

    @property
    def elements(self) -> int:
        """Number of elements that are moved."""
        total = 1
        for d in self.dims:
            total *= d
        return total

    @property
    def inner(self) -> int:
        """Length of the last dimension."""
        return self.dims[-1]

    @property
    def rows(self) -> int:
        """Product of the others."""
        return self.elements // max(self.inner, 1)

    @property
    def is_dense(self) -> bool:
        """Whether the last dimension is contiguous on both sides."""
        return self.x_strides[-1] == 1 and self.y_strides[-1] == 1


def collapse(block: Block) -> Block:
    """The same block in as few dimensions as possible, the longest strided one innermost where none is contiguous."""
    dims: list[list[int]] = []
    for d, xs, ys in zip(block.dims, block.x_strides, block.y_strides, strict=True):
        if d == 1:
            continue
        if dims and dims[-1][1] == xs * d and dims[-1][2] == ys * d:
            dims[-1] = [dims[-1][0] * d, xs, ys]
        else:
            dims.append([d, xs, ys])
    if not dims:
        dims = [[1, 1, 1]]
    if dims[-1][1] != 1 or dims[-1][2] != 1 or dims[-1][0] < 4:
        # Rows of a few elements cost more for their place than for their content.
        longest = max(range(len(dims)), key=lambda i: dims[i][0])
        if dims[longest][0] >= 4 * dims[-1][0]:
            dims.append(dims.pop(longest))
    sizes, x_strides, y_strides = (tuple(d[k] for d in dims) for k in range(3))
    return replace(block, dims=sizes, x_strides=x_strides, y_strides=y_strides)


def transpose_block(shape: Shape, perm: Sequence[int]) -> Block:
    """The block that writes transpose(x, perm)."""
    strides = dense_strides(shape)
    out = tuple(shape[p] for p in perm)
    return Block(out, tuple(strides[p] for p in perm), dense_strides(out))
