"""Transposed convolution: any kernel, strides, dilations, padding and groups, weights constant or not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from mace_cl.graph.core import Graph, Node, Value
from mace_cl.graph.ops.conv import ConvTranspose
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
from mace_cl.kernels.conv import pack_group_bias, pack_taps
from mace_cl.kernels.epilogue import Epilogue, epilogue_of
from mace_cl.kernels.geometry import Window, node_cost, not_float32, window_of
from mace_cl.kernels.tiles import SHAPES, fits, grid_of, parts_of, tile_cycles
from mace_cl.kernels.timing import cycles_us, with_traffic
from mace_cl.kernels.vectors import ceil_div, vector_macros, width_for
from mace_cl.targets.facts import DeviceFacts


class TransposedConv(Family):
    """Transposed convolution of channels-last data."""

    name = "conv_transpose"
    operators = ("ConvTranspose",)

    def match(self, graph: Graph, node: Node, facts: DeviceFacts) -> Match | Refusal:
        """Any transposed convolution with one or two spatial dimensions."""
        s = window_of(node)
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
            yield from (c for c in _tilings(s, width, facts) if c != default)

    def default(self, match: Match, facts: DeviceFacts) -> Config:
        """The tile with the fewest estimated cycles."""
        s = _window(match)
        width = width_for(s.co // s.groups, facts)
        return min(_tilings(s, width, facts), key=lambda c: (_cycles(s, c, facts), -c["mr"] * c["nb"]))

    def cost(self, match: Match, config: Config, facts: DeviceFacts) -> float:
        """Cycles of the busiest unit, or the time to read everything, and a launch."""
        busy = cycles_us(_cycles(_window(match), config, facts), config["v"], facts)
        return with_traffic(busy, node_cost(match.node).bytes, facts) + facts.launch_us

    def emit(self, match: Match, config: Config, facts: DeviceFacts) -> Sequence[KernelCall]:
        """One launch, after one or two that pack what is not constant."""
        node, s = match.node, _window(match)
        v, mr, nb = config["v"], config["mr"], config["nb"]
        ci, group_co, rows = s.ci // s.groups, s.co // s.groups, s.n * s.out_h
        per_group = ceil_div(group_co, v * nb)
        blocks = per_group * s.groups
        rows_per, blocks_per = ceil_div(rows, config["row_parts"]), ceil_div(blocks, config["block_parts"])
        grid = grid_of(facts, ceil_div(blocks, blocks_per), ceil_div(rows, rows_per))
        epilogue = _epilogue(node)
        assert isinstance(epilogue, Epilogue)
        macros = {**vector_macros(v), **epilogue.macros, "MR": mr, "NB": nb, "GROUP": grid.group}
        packs, weights, bias = _packed(node, s, v, nb, facts)
        numbers = (
            rows, rows_per, blocks, blocks_per, per_group, group_co, s.h, s.w, s.ci,
            s.out_h, s.out_w, s.co, ci, s.kh, s.kw, s.sh, s.sw, s.dh, s.dw, s.top, s.left,
        )  # fmt: skip
        args: tuple[CallArg, ...] = (
            Read(node.input(0)), weights, bias, Weights(np.zeros(ci, np.float32), "zeros"), Write(node.output),
            *epilogue.args, *(Scalar("int", i) for i in numbers),
        )  # fmt: skip
        spec = KernelSpec.of(self.name, macros)
        return [*packs, KernelCall(spec, args, grid.global_size, grid.local_size, node_cost(node))]


def _tilings(s: Window, width: int, facts: DeviceFacts) -> Iterator[Config]:
    """Every legal tile with its best split."""
    longest, vectors, rows = max(s.out_w // s.sw, 1), ceil_div(s.co // s.groups, width), s.n * s.out_h
    legal = [(r, b) for r, b in SHAPES if r <= longest and b <= vectors and fits(r, b, facts)] or [(1, 1)]
    for mr, nb in legal:
        blocks = ceil_div(vectors, nb) * s.groups
        splits = parts_of(facts.compute_units) if facts.kind == "cpu" else [(rows, blocks)]
        found = [
            {"v": width, "mr": mr, "nb": nb, "row_parts": min(a, rows), "block_parts": min(b, blocks)}
            for a, b in splits
        ]
        yield min(found, key=lambda c: (_cycles(s, c, facts), c["block_parts"]))


def _cycles(s: Window, config: Config, facts: DeviceFacts) -> float:
    """Estimated cycles of the busiest unit."""
    mr, nb = config["mr"], config["nb"]
    blocks = ceil_div(ceil_div(s.co // s.groups, config["v"]), nb) * s.groups
    rows, taps = s.n * s.out_h, s.kh / min(s.sh, s.kh) * s.kw / min(s.sw, s.kw)
    each = ceil_div(rows, config["row_parts"]) * ceil_div(blocks, config["block_parts"])
    rounds = ceil_div(config["row_parts"] * config["block_parts"], facts.compute_units)
    tiles = min(s.sw, s.out_w) * ceil_div(max(s.out_w // s.sw, 1), mr)
    return rounds * each * tiles * (taps * (s.ci // s.groups + 1) + 8) * tile_cycles(mr, nb)


def _packed(node: Node, s: Window, v: int, nb: int, facts: DeviceFacts) -> tuple[list[KernelCall], CallArg, CallArg]:
    """Launches that pack what is not constant, then weights and bias."""
    calls: list[KernelCall] = []
    weights, bias = node.input(1), _bias(node)
    if weights.data is not None:
        packed: CallArg = Weights(pack_taps(_as_outputs_first(weights.data, s.groups), s.groups, v, nb))
    else:
        packed = Scratch(_packed_bytes(s, s.kh * s.kw * s.ci // s.groups, v, nb), "packed")
        calls.append(_pack_call(weights, packed, s, s.kh * s.kw, s.ci // s.groups, v, nb, facts))
    if bias is None or bias.data is not None:
        data = None if bias is None else bias.data
        return calls, packed, Weights(pack_group_bias(data, s.co, s.groups, v, nb), "bias")
    scratch = Scratch(_packed_bytes(s, 1, v, nb), "packed_bias")
    calls.append(_pack_call(bias, scratch, s, 1, 1, v, nb, facts))
    return calls, packed, scratch


def _as_outputs_first(weights: np.ndarray, groups: int) -> np.ndarray:
    """Weights [I, O/groups, kh, kw] as [O, I/groups, kh, kw]."""
    i, o, *kernel = weights.shape
    return weights.reshape(groups, i // groups, o, *kernel).swapaxes(1, 2).reshape(groups * o, i // groups, *kernel)


def _packed_bytes(s: Window, k: int, v: int, nb: int) -> int:
    return 4 * s.groups * ceil_div(s.co // s.groups, v * nb) * nb * v * k


def _pack_call(
    value: Value, scratch: Scratch, s: Window, taps: int, ci: int, v: int, nb: int, facts: DeviceFacts
) -> KernelCall:
    group_co = s.co // s.groups
    per_group = ceil_div(group_co, v * nb)
    grid = grid_of(facts, nb * v, per_group * s.groups)
    spec = KernelSpec.of("conv_transpose", {"PACK": "", "V": v, "NB": nb, "GROUP": grid.group})
    numbers = (per_group * s.groups, taps, ci, group_co, per_group, int(value.type.elements == 1))
    args: tuple[CallArg, ...] = (Read(value), scratch, *(Scalar("int", i) for i in numbers))
    return KernelCall(spec, args, grid.global_size, grid.local_size)


def _bias(node: Node) -> Value | None:
    return node.inputs[2] if len(node.inputs) > 2 else None


def _window(match: Match) -> Window:
    window = window_of(match.node)
    assert isinstance(window, Window)
    return window


def _epilogue(node: Node) -> Epilogue | Refusal:
    assert isinstance(node.op, ConvTranspose)
    return epilogue_of(node.op.epilogue, node.inputs[3:], node.output)


FAMILY = TransposedConv()
