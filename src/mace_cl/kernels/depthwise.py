"""Depthwise convolution: each output channel reads one input channel."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from mace_cl.graph.core import Graph, Node
from mace_cl.graph.ops.conv import Conv
from mace_cl.kernels.base import (
    CallArg,
    Config,
    Family,
    KernelCall,
    KernelSpec,
    Match,
    Read,
    Refusal,
    Scalar,
    Weights,
    Write,
    single,
)
from mace_cl.kernels.epilogue import Epilogue, epilogue_of
from mace_cl.kernels.geometry import Window, constant_bias, node_cost, window_of
from mace_cl.kernels.tiles import grid_of, parts_of
from mace_cl.kernels.timing import depthwise_us
from mace_cl.kernels.vectors import ceil_div, vector_macros, width_for
from mace_cl.targets.facts import DeviceFacts

MOST_TAPS = 128
"""Kernels with more taps are left to the direct family, whose code does not grow with them."""


class Depthwise(Family):
    """Depthwise convolution of channels-last data."""

    name = "depthwise"
    operators = ("Conv",)

    def match(self, graph: Graph, node: Node, facts: DeviceFacts) -> Match | Refusal:
        """A convolution with one input channel for each group, and constant weights."""
        s = depthwise_window(node)
        if isinstance(s, Refusal):
            return s
        epilogue = _epilogue(node)
        return epilogue if isinstance(epilogue, Refusal) else single(node)

    def space(self, match: Match, facts: DeviceFacts) -> Iterable[Config]:
        """Vectors of each width by tiles of each length, with the best split."""
        default = self.default(match, facts)
        yield default
        s = _window(match)
        for width in sorted({width_for(s.co, facts, w) for w in (4, 8, 16)}):
            for xt in (1, 2, 4, 6, 8):
                if xt <= s.out_w:
                    config = _split(s, width, xt, facts)
                    if config != default:
                        yield config

    def default(self, match: Match, facts: DeviceFacts) -> Config:
        """A tile whose inputs stay in registers and that divides the row well."""
        s = _window(match)
        return _split(s, width_for(s.co, facts), row_tile(s, facts), facts)

    def cost(self, match: Match, config: Config, facts: DeviceFacts) -> float:
        """Loads and multiply-adds of the busiest unit, or the time to read everything, and a launch."""
        return depthwise_us(_window(match), config, node_cost(match.node), facts) + facts.launch_us

    def emit(self, match: Match, config: Config, facts: DeviceFacts) -> Sequence[KernelCall]:
        """One launch."""
        node, s = match.node, _window(match)
        epilogue = _epilogue(node)
        assert isinstance(epilogue, Epilogue)
        rows, vectors = s.n * s.out_h, ceil_div(s.co, config["v"])
        rows_per, vectors_per = ceil_div(rows, config["row_parts"]), ceil_div(vectors, config["vector_parts"])
        grid = grid_of(facts, ceil_div(vectors, vectors_per), ceil_div(rows, rows_per))
        macros = {
            **vector_macros(config["v"]), **epilogue.macros, **tap_macros(s), "XT": config["xt"], "GROUP": grid.group,
        }  # fmt: skip
        numbers = (rows, rows_per, vectors_per, s.h, s.w, s.ci, s.out_h, s.out_w, s.co, s.top, s.left)
        args: tuple[CallArg, ...] = (
            Read(node.input(0)),
            Weights(depthwise_weights(node)),
            Weights(bias_vector(node, s.co), "bias"),
            Write(node.output),
            *epilogue.args,
            *(Scalar("int", i) for i in numbers),
        )
        spec = KernelSpec.of(self.name, macros)
        return [KernelCall(spec, args, grid.global_size, grid.local_size, node_cost(node))]


def depthwise_window(node: Node) -> Window | Refusal:
    """The window of a depthwise convolution with constant weights and bias, or why the node is none."""
    s = window_of(node)
    if isinstance(s, Refusal):
        return s
    if not s.is_depthwise:
        return Refusal("not one input channel for each group")
    if node.input(1).data is None:
        return Refusal("weights are not constant")
    if s.kh * s.kw > MOST_TAPS:
        return Refusal(f"more than {MOST_TAPS} taps")
    bias = constant_bias(node, s.co)
    return bias if isinstance(bias, Refusal) else s


def tap_macros(s: Window) -> dict[str, object]:
    """The macros that decide the inner loop of a depthwise convolution."""
    return {"KH": s.kh, "KW": s.kw, "SH": s.sh, "SW": s.sw, "DH": s.dh, "DW": s.dw, "MULT": s.co // s.ci}


def row_tile(s: Window, facts: DeviceFacts) -> int:
    """Output pixels of a tile: as many as registers hold, with little overlap at the row's end."""
    legal = [t for t in (8, 6, 4, 3, 2, 1) if t <= s.out_w and t * 2 + s.kw <= max(facts.registers, 8)] or [1]
    return min(legal, key=lambda t: (ceil_div(s.out_w, t) * (2 * ((t - 1) * s.sw + s.kw) + t * s.kw + s.kw), -t))


def depthwise_weights(node: Node) -> np.ndarray:
    """Weights as [kh * kw, channels]."""
    data = node.input(1).data
    assert data is not None
    return np.ascontiguousarray(data.reshape(data.shape[0], -1).T)


def bias_vector(node: Node, channels: int) -> np.ndarray:
    """The bias for each channel, zero where there is none."""
    bias = constant_bias(node, channels)
    assert not isinstance(bias, Refusal)
    full = np.zeros(channels, np.float32) if bias is None else np.broadcast_to(bias.reshape(-1), (channels,))
    return np.ascontiguousarray(full)


def _split(s: Window, width: int, xt: int, facts: DeviceFacts) -> Config:
    rows, vectors = s.n * s.out_h, ceil_div(s.co, width)
    if facts.kind != "cpu":
        return {"v": width, "xt": xt, "row_parts": rows, "vector_parts": vectors}
    row_parts, vector_parts = min(
        parts_of(facts.compute_units), key=lambda p: (ceil_div(rows, p[0]) * ceil_div(vectors, p[1]), p[1])
    )
    return {"v": width, "xt": xt, "row_parts": min(row_parts, rows), "vector_parts": min(vector_parts, vectors)}


def _window(match: Match) -> Window:
    window = depthwise_window(match.node)
    assert isinstance(window, Window)
    return window


def _epilogue(node: Node) -> Epilogue | Refusal:
    assert isinstance(node.op, Conv)
    return epilogue_of(node.op.epilogue, node.inputs[3:], node.output)


FAMILY = Depthwise()
