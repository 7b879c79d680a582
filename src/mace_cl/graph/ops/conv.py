"""Convolution and its transpose, any number of spatial dimensions."""

from __future__ import annotations

from dataclasses import dataclass

from mace_cl.graph.ops.base import Operator
from mace_cl.graph.ops.expression import Expression


@dataclass(frozen=True)
class Conv(Operator):
    """Convolution. Inputs: x, weights [O, I/groups, *kernel], bias [O] or None, operands 1.. of the epilogue.

    x is [N, I, *S], or [N, *S, I] with channels_last; the output likewise with O. The kernel's size is that of
    the weights. The epilogue is applied to sum + bias as operand 0; its other operands broadcast to the output.

    Attributes:
        strides, dilations: One for each spatial dimension.
        pads: (begin, end) for each spatial dimension, at least 0.
        groups: Number of groups; depthwise where it equals I.
        channels_last: Layout of data.
        epilogue: Elementwise steps on the sum.
    """

    strides: tuple[int, ...] = (1, 1)
    pads: tuple[tuple[int, int], ...] = ((0, 0), (0, 0))
    dilations: tuple[int, ...] = (1, 1)
    groups: int = 1
    channels_last: bool = False
    epilogue: Expression = Expression()

    n_inputs = (2, None)


@dataclass(frozen=True)
class ConvTranspose(Operator):
    """Transposed convolution. Inputs: x, weights [I, O/groups, *kernel], bias [O] or None, epilogue's operands.

    Output size in each dimension: stride (in - 1) + output_padding + dilation (kernel - 1) + 1 - begin - end.

    Attributes:
        strides, pads, dilations, groups, channels_last, epilogue: As for Conv.
        output_padding: Added at the end of each spatial dimension.
    """

    strides: tuple[int, ...] = (1, 1)
    pads: tuple[tuple[int, int], ...] = ((0, 0), (0, 0))
    dilations: tuple[int, ...] = (1, 1)
    output_padding: tuple[int, ...] = (0, 0)
    groups: int = 1
    channels_last: bool = False
    epilogue: Expression = Expression()

    n_inputs = (2, None)
