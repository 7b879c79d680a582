"""3x3 convolution with stride 1 in Winograd's form: a quarter of the multiplications, more weights."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod

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
    Scratch,
    Weights,
    Write,
    single,
)
from mace_cl.kernels.epilogue import Epilogue, epilogue_of
from mace_cl.kernels.geometry import Window, constant_bias, node_cost, window_of
from mace_cl.kernels.tiles import SHAPES, STREAM_BYTES_PER_CYCLE, fits, grid_of, parts_of, tile_cycles
from mace_cl.kernels.timing import cycles_us, with_traffic
from mace_cl.kernels.vectors import ceil_div, pack_columns, pack_vector, vector_macros, width_for
from mace_cl.targets.facts import DeviceFacts

POINTS = 36

WEIGHTS_TRANSFORM = np.array(
    [[1 / 4, 0, 0], [-1 / 6, -1 / 6, -1 / 6], [-1 / 6, 1 / 6, -1 / 6],
     [1 / 24, 1 / 12, 1 / 6], [1 / 24, -1 / 12, 1 / 6], [0, 0, 1]]
)  # fmt: skip
"""G of F(4, 3) at the points 0, 1, -1, 2, -2 and infinity."""

FEWEST_CHANNELS = 8
"""With fewer channels the transforms cost more than the products save."""

MOST_WEIGHT_BYTES = 16 << 20
"""Transformed weights are four times as large: beyond this the file and the start lose more than a run gains."""

CHUNKS_OF_CACHE = (0.25, 0.5, 0.85)
"""Parts of the cache that a chunk's transformed tiles may take."""


class Winograd(Family):
    """F(4x4, 3x3) of channels-last data, for devices with caches."""

    name = "winograd"
    operators = ("Conv",)

    def match(self, graph: Graph, node: Node, facts: DeviceFacts) -> Match | Refusal:
        """A 3x3 convolution with stride 1, constant weights, without groups and dilation."""
        if facts.kind != "cpu":
            return Refusal("keeps transformed tiles in a cache, which pays on CPUs only")
        s = window_of(node)
        if isinstance(s, Refusal):
            return s
        if (s.kh, s.kw, s.sh, s.sw, s.dh, s.dw, s.groups) != (3, 3, 1, 1, 1, 1, 1):
            return Refusal("not a 3x3 convolution with stride 1, without dilation and groups")
        if min(s.ci, s.co) < FEWEST_CHANNELS:
            return Refusal(f"fewer than {FEWEST_CHANNELS} channels")
        if node.input(1).data is None:
            return Refusal("weights are not constant")
        if 4 * POINTS * s.ci * s.co > MOST_WEIGHT_BYTES:
            return Refusal(f"its weights would take more than {MOST_WEIGHT_BYTES >> 20} MiB")
        bias = constant_bias(node, s.co)
        if isinstance(bias, Refusal):
            return bias
        epilogue = _epilogue(node)
        return epilogue if isinstance(epilogue, Refusal) else single(node)

    def space(self, match: Match, facts: DeviceFacts) -> Iterable[Config]:
        """Tiles, splits and chunks."""
        default = self.default(match, facts)
        yield default
        yield from (c for c in _choices(_window(match), facts) if c != default)

    def default(self, match: Match, facts: DeviceFacts) -> Config:
        """The choice with the fewest estimated cycles."""
        s = _window(match)
        return min(_choices(s, facts), key=lambda c: _cycles(s, c, facts))

    def cost(self, match: Match, config: Config, facts: DeviceFacts) -> float:
        """Cycles of the busiest unit, or the time to read everything, and a launch."""
        busy = cycles_us(_cycles(_window(match), config, facts), config["v"], facts)
        return with_traffic(busy, node_cost(match.node).bytes, facts) + facts.launch_us

    def emit(self, match: Match, config: Config, facts: DeviceFacts) -> Sequence[KernelCall]:
        """One launch."""
        node, s = match.node, _window(match)
        v, mr, nb = config["v"], config["mr"], config["nb"]
        tiles, blocks = _tiles(s), ceil_div(s.co, v * nb)
        tiles_per, blocks_per = ceil_div(tiles, config["tile_parts"]), ceil_div(blocks, config["block_parts"])
        chunk = max(config["chunk"], mr)
        slice_ = POINTS * chunk * (s.ci + nb * v)
        grid = grid_of(facts, ceil_div(blocks, blocks_per), ceil_div(tiles, tiles_per))
        epilogue, bias = _epilogue(node), constant_bias(node, s.co)
        assert isinstance(epilogue, Epilogue)
        assert not isinstance(bias, Refusal)
        macros = {**vector_macros(v), **epilogue.macros, "MR": mr, "NB": nb, "GROUP": grid.group}
        numbers = (
            tiles, tiles_per, chunk, blocks_per, slice_, s.h, s.w, s.ci, s.out_h, s.out_w, s.co, s.top, s.left,
        )  # fmt: skip
        args: tuple[CallArg, ...] = (
            Read(node.input(0)),
            Weights(transformed_weights(node, v, nb)),
            Weights(pack_vector(bias, s.co, v, nb), "bias"),
            Scratch(4 * slice_ * prod(grid.global_size), "tiles"),
            Write(node.output),
            *epilogue.args,
            *(Scalar("int", i) for i in numbers),
        )
        spec = KernelSpec.of(self.name, macros)
        return [KernelCall(spec, args, grid.global_size, grid.local_size, node_cost(node))]


def transformed_weights(node: Node, v: int, nb: int) -> np.ndarray:
    """G g G^T of each 3x3 kernel, computed in float64, as [blocks, 36, I, nb * v]."""
    data = node.input(1).data
    assert data is not None
    o, i = data.shape[:2]
    both = np.kron(WEIGHTS_TRANSFORM, WEIGHTS_TRANSFORM)
    wide = both @ data.transpose(2, 3, 1, 0).reshape(9, i * o).astype(np.float64)
    return pack_columns(wide.reshape(POINTS * i, o), v, nb)


def _choices(s: Window, facts: DeviceFacts) -> list[Config]:
    """Every tile and split, with chunks whose transformed tiles take various parts of the cache."""
    seen: list[Config] = []
    width = width_for(min(s.ci, s.co), facts)
    tiles, vectors = _tiles(s), ceil_div(s.co, width)
    legal = [(r, b) for r, b in SHAPES if r <= tiles and b <= vectors and fits(r, b, facts)] or [(1, 1)]
    for mr, nb in legal:
        for tile_parts, block_parts in parts_of(facts.compute_units):
            blocks = ceil_div(vectors, nb)
            tile_parts, block_parts = min(tile_parts, tiles), min(block_parts, blocks)
            tiles_per = ceil_div(tiles, tile_parts)
            for parts in CHUNKS_OF_CACHE:
                chunk = int(facts.l2_bytes * parts) // (4 * POINTS * (s.ci + nb * width))
                chunk = ceil_div(tiles_per, ceil_div(tiles_per, min(max(chunk, mr), tiles_per)))
                choice = {"v": width, "mr": mr, "nb": nb, "tile_parts": tile_parts, "block_parts": block_parts,
                          "chunk": max(ceil_div(chunk, mr) * mr, mr)}  # fmt: skip
                if choice not in seen:
                    seen.append(choice)
    return seen


def _tiles(s: Window) -> int:
    return s.n * ceil_div(s.out_h, 4) * ceil_div(s.out_w, 4)


def _cycles(s: Window, c: Config, facts: DeviceFacts) -> float:
    """Estimated cycles of the busiest unit: transforms, products, and weights that the cache does not hold."""
    tiles = ceil_div(_tiles(s), c["tile_parts"])
    chunks = ceil_div(tiles, c["chunk"])
    blocks = ceil_div(ceil_div(s.co, c["v"] * c["nb"]), c["block_parts"])
    rows = chunks * ceil_div(min(c["chunk"], tiles), c["mr"])
    products = POINTS * blocks * rows * (s.ci + 8) * tile_cycles(c["mr"], c["nb"])
    transforms = tiles * (ceil_div(s.ci, c["v"]) * 150 + blocks * c["nb"] * 150)
    weight_bytes = 4 * POINTS * s.ci * blocks * c["nb"] * c["v"]
    streamed = chunks * weight_bytes / STREAM_BYTES_PER_CYCLE if weight_bytes > facts.l2_bytes // 2 else 0
    wide_bytes = 4 * POINTS * min(c["chunk"], tiles) * s.ci
    if wide_bytes > facts.l2_bytes:  # a single chunk of tiles may be too much for the cache
        streamed += chunks * blocks * wide_bytes / STREAM_BYTES_PER_CYCLE
    return max(products, streamed) + transforms


def _window(match: Match) -> Window:
    window = window_of(match.node)
    assert isinstance(window, Window)
    return window


def _epilogue(node: Node) -> Epilogue | Refusal:
    assert isinstance(node.op, Conv)
    return epilogue_of(node.op.epilogue, node.inputs[3:], node.output)


FAMILY = Winograd()
