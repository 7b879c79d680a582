"""Direct convolution: any kernel, strides, dilations, padding and groups, weights constant or not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from mace_cl.graph.core import Graph, Node, Value
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
    Scratch,
    Weights,
    Write,
    single,
)
from mace_cl.kernels.epilogue import Epilogue, epilogue_of
from mace_cl.kernels.geometry import Window, node_cost, not_float32, window_of
from mace_cl.kernels.tiles import best_tiling, grid_of, tilings
from mace_cl.kernels.timing import product_us
from mace_cl.kernels.vectors import ceil_div, pack_columns, pack_vector, vector_macros, width_for
from mace_cl.targets.facts import DeviceFacts

FOLD_CHANNELS = 16
"""With at most so many input channels a row of taps is one inner loop where it lies inside the image."""


class DirectConv(Family):
    """Direct convolution of channels-last data."""

    name = "conv"
    operators = ("Conv",)

    def match(self, graph: Graph, node: Node, facts: DeviceFacts) -> Match | Refusal:
        """Any convolution with one to three spatial dimensions."""
        s = window_of(node, most_dimensions=3)
        if isinstance(s, Refusal):
            return s
        bias = _bias(node)
        if reason := not_float32(bias):
            return reason
        if bias is not None and bias.type.elements not in (1, s.co):
            return Refusal(f"bias has the shape {list(bias.shape)}, not one value for each channel")
        epilogue = _epilogue(node)
        return epilogue if isinstance(epilogue, Refusal) else single(node)

    def space(self, match: Match, facts: DeviceFacts) -> Iterable[Config]:
        """Every tile, each with its best split."""
        default = self.default(match, facts)
        yield default
        s = _window(match)
        for width in sorted({width_for(s.co // s.groups, facts, w) for w in (4, 8, 16)}):
            vectors = ceil_div(s.co // s.groups, width)
            for t in tilings(s.pixels, vectors, facts, s.taps * s.ci // s.groups, width):
                config = {"v": width, "mr": t.rows, "nb": t.block, "row_parts": t.row_parts,
                          "block_parts": t.block_parts}  # fmt: skip
                if config != default:
                    yield config

    def default(self, match: Match, facts: DeviceFacts) -> Config:
        """The tile with the fewest estimated cycles."""
        s = _window(match)
        width = width_for(s.co // s.groups, facts)
        vectors, k = ceil_div(s.co // s.groups, width), s.taps * s.ci // s.groups
        t = best_tiling(s.pixels, vectors, facts, k, width)
        return {"v": width, "mr": t.rows, "nb": t.block, "row_parts": t.row_parts, "block_parts": t.block_parts}

    def cost(self, match: Match, config: Config, facts: DeviceFacts) -> float:
        """Cycles of the busiest unit, or the time to read everything, and a launch."""
        s = _window(match)
        k = s.taps * (s.ci // s.groups + 1) + 4
        vectors = ceil_div(s.co // s.groups, config["v"])
        general = 1.02  # a family made for the case is as quick at least
        return general * product_us(s.pixels, vectors * s.groups, k, config, node_cost(match.node), facts)

    def emit(self, match: Match, config: Config, facts: DeviceFacts) -> Sequence[KernelCall]:
        """One launch, after one or two that pack what is not constant."""
        node, s = match.node, _window(match)
        v, mr, nb = config["v"], config["mr"], config["nb"]
        ci, group_co = s.ci // s.groups, s.co // s.groups
        per_group = ceil_div(group_co, v * nb)
        blocks = per_group * s.groups
        pixels_per, blocks_per = ceil_div(s.pixels, config["row_parts"]), ceil_div(blocks, config["block_parts"])
        chunk = max(facts.l2_bytes // 4 // (4 * s.ci * s.sh * s.sw) // mr, 1) * mr
        grid = grid_of(facts, ceil_div(blocks, blocks_per), ceil_div(s.pixels, pixels_per))
        epilogue = _epilogue(node)
        assert isinstance(epilogue, Epilogue)
        macros = {**vector_macros(v), **epilogue.macros, "MR": mr, "NB": nb, "GROUP": grid.group}
        fold = ci <= FOLD_CHANNELS and s.groups == 1 and s.dw == 1 and s.kw > 1
        if fold:
            macros["FOLD"] = ""
        if s.d > 1 or s.kd > 1:
            macros["DEPTH"] = ""
        packs, weights, bias = _packed(node, s, v, nb, facts)
        zeros = np.zeros(ci * (s.kw if fold else 1), np.float32)
        numbers = (
            s.pixels, pixels_per, min(chunk, pixels_per), blocks, blocks_per, per_group, group_co, s.h, s.w, s.ci,
            s.out_h, s.out_w, s.co, ci, s.kh, s.kw, s.sh, s.sw, s.dh, s.dw, s.top, s.left,
            *((s.d, s.out_d, s.kd, s.sd, s.dd, s.front) if "DEPTH" in macros else ()),
        )  # fmt: skip
        args: tuple[CallArg, ...] = (
            Read(node.input(0)), weights, bias, Weights(zeros, "zeros"), Write(node.output), *epilogue.args,
            *(Scalar("int", i) for i in numbers),
        )  # fmt: skip
        spec = KernelSpec.of(self.name, macros)
        return [*packs, KernelCall(spec, args, grid.global_size, grid.local_size, node_cost(node))]


def pack_taps(weights: np.ndarray, groups: int, width: int, block: int) -> np.ndarray:
    """Weights [O, I, kh, kw] in blocks of output channels of a group: [blocks, kh * kw * I, block * width]."""
    o, i, *kernel = weights.shape
    taps = int(np.prod(kernel))
    rows = weights.reshape(groups, o // groups, i, taps).transpose(0, 3, 2, 1).reshape(groups, taps * i, o // groups)
    return np.concatenate([pack_columns(g, width, block) for g in rows])


def pack_group_bias(bias: np.ndarray | None, channels: int, groups: int, width: int, block: int) -> np.ndarray:
    """A bias in the order of `pack_taps`."""
    full = np.zeros(channels, np.float32) if bias is None else np.broadcast_to(bias.reshape(-1), (channels,))
    return np.concatenate([pack_vector(g, channels // groups, width, block) for g in full.reshape(groups, -1)])


def _packed(node: Node, s: Window, v: int, nb: int, facts: DeviceFacts) -> tuple[list[KernelCall], CallArg, CallArg]:
    """Launches that pack what is not constant, then weights and bias."""
    calls: list[KernelCall] = []
    weights, bias = node.input(1), _bias(node)
    if weights.data is not None:
        packed: CallArg = Weights(pack_taps(weights.data, s.groups, v, nb))
    else:
        calls.append(_pack_call(weights, s, s.taps, s.ci // s.groups, v, nb, facts))
        packed = _scratch_of(calls[-1])
    if bias is None or bias.data is not None:
        data = None if bias is None else bias.data
        return calls, packed, Weights(pack_group_bias(data, s.co, s.groups, v, nb), "bias")
    calls.append(_pack_call(bias, s, 1, 1, v, nb, facts))
    return calls, packed, _scratch_of(calls[-1])


def _scratch_of(call: KernelCall) -> Scratch:
    scratch = call.args[1]
    assert isinstance(scratch, Scratch)
    return scratch


def _pack_call(value: Value, s: Window, taps: int, ci: int, v: int, nb: int, facts: DeviceFacts) -> KernelCall:
    group_co = s.co // s.groups
    per_group = ceil_div(group_co, v * nb)
    blocks = per_group * s.groups
    scratch = Scratch(4 * blocks * nb * v * taps * ci, "packed")
    grid = grid_of(facts, nb * v, blocks)
    spec = KernelSpec.of("conv", {"PACK": "", "V": v, "NB": nb, "GROUP": grid.group})
    numbers = (blocks, taps, ci, group_co, per_group, int(value.type.elements == 1))
    args: tuple[CallArg, ...] = (Read(value), scratch, *(Scalar("int", i) for i in numbers))
    return KernelCall(spec, args, grid.global_size, grid.local_size)


def _bias(node: Node) -> Value | None:
    return node.inputs[2] if len(node.inputs) > 2 else None


def _window(match: Match) -> Window:
    window = window_of(match.node, most_dimensions=3)
    assert isinstance(window, Window)
    return window


def _epilogue(node: Node) -> Epilogue | Refusal:
    assert isinstance(node.op, Conv)
    return epilogue_of(node.op.epilogue, node.inputs[3:], node.output)


FAMILY = DirectConv()
