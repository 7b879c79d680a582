"""Small graphs of convolutions for the tests of kernels, and what float32 sums may err by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from mace_cl.graph import Graph, Node, Value
from mace_cl.graph.ops import Add, Clip, Conv, ConvTranspose, HardSwish, Mul, Relu
from mace_cl.graph.ops.expression import Expression
from mace_cl.types import type_of

RELU = Expression(1, ((Relu(), (0,)),))
RELU6 = Expression(1, ((Clip(0.0, 6.0), (0,)),))
HARD_SWISH = Expression(1, ((HardSwish(), (0,)),))
ADD_RELU = Expression(2, ((Add(), (0, 1)), (Relu(), (2,))))
SCALE_SHIFT = Expression(3, ((Mul(), (0, 1)), (Add(), (3, 2))))

EPILOGUES = {
    "none": (Expression(), ()),
    "relu": (RELU, ()),
    "relu6": (RELU6, ()),
    "hard_swish": (HARD_SWISH, ()),
    "residual": (ADD_RELU, ("full",)),
    "channel_scale": (SCALE_SHIFT, ("channel", "scalar")),
}
"""Name to an expression and the kinds of its extra operands."""


def tolerance(terms: int) -> float:
    """Error relative to the largest result: float32 sums of random terms err by some sqrt(terms) units of 2^-23, and
    the steps behind them by a few."""
    return 2.0**-23 * (4 + 2 * terms**0.5)


@dataclass
class Case:
    """A graph under construction with its random data."""

    seed: int = 0
    graph: Graph = field(default_factory=lambda: Graph("case"))
    feeds: dict[str, np.ndarray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.seed)

    def array(self, *shape: int) -> np.ndarray:
        return self.rng.standard_normal(shape).astype(np.float32)

    def input(self, *shape: int) -> Value:
        array, name = self.array(*shape), f"x{len(self.feeds)}"
        self.feeds[name] = array
        return self.graph.add_input(name, type_of(array))

    def value(self, shape: tuple[int, ...], constant: bool) -> Value:
        return self.graph.constant(self.array(*shape)) if constant else self.input(*shape)

    def extras(self, epilogue: str, shape: tuple[int, ...]) -> list[Value]:
        kinds = {"full": (shape, False), "channel": (shape[-1:], True), "scalar": ((), True)}
        return [self.value(*kinds[kind]) for kind in EPILOGUES[epilogue][1]]

    def conv(
        self,
        x: Value,
        channels: int,
        kernel: tuple[int, ...],
        *,
        strides: tuple[int, ...] | None = None,
        dilations: tuple[int, ...] | None = None,
        pads: tuple[tuple[int, int], ...] | None = None,
        groups: int = 1,
        epilogue: str = "none",
        bias: bool = True,
        constant: bool = True,
        residual: Value | None = None,
    ) -> Value:
        """Add a channels-last convolution; its padding keeps the size by default."""
        rank = len(kernel)
        strides, dilations = strides or (1,) * rank, dilations or (1,) * rank
        if pads is None:
            pads = tuple(
                ((k - 1) * d // 2, (k - 1) * d - (k - 1) * d // 2) for k, d in zip(kernel, dilations, strict=True)
            )
        op = Conv(strides, pads, dilations, groups, True, EPILOGUES[epilogue][0])
        inputs: list[Value | None] = [x, self.value((channels, x.shape[-1] // groups, *kernel), constant)]
        inputs.append(self.value((channels,), constant) if bias else None)
        (type_,) = Conv(strides, pads, dilations, groups, True).infer([v and v.type for v in inputs])
        extras = [residual] if residual is not None else self.extras(epilogue, type_.shape)
        return self.graph.add1(op, [*inputs, *extras])

    def conv_transpose(
        self, x: Value, channels: int, op: ConvTranspose, kernel: tuple[int, ...], constant: bool = True
    ) -> Value:
        """Add a transposed convolution; `op` says all but the kernel's size."""
        weights = self.value((x.shape[-1], channels // op.groups, *kernel), constant)
        return self.graph.add1(op, [x, weights, self.value((channels,), constant)])

    def finish(self, value: Value) -> tuple[Graph, Node, Mapping[str, np.ndarray]]:
        """The graph, its first node and the feeds."""
        self.graph.add_output("y", value)
        return self.graph, self.graph.nodes[0], self.feeds
