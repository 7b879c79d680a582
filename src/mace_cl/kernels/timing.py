"""Estimates of time that several families share."""

from __future__ import annotations

from mace_cl.graph.ops.base import Cost
from mace_cl.kernels.base import Config
from mace_cl.kernels.geometry import Window
from mace_cl.kernels.tiles import STREAM_BYTES_PER_CYCLE, tile_cycles
from mace_cl.kernels.vectors import ceil_div
from mace_cl.targets.facts import DeviceFacts


def cycles_us(cycles: float, width: int, facts: DeviceFacts) -> float:
    """Time of cycles of which each does two multiply-adds of vectors of the device's width.

    Narrower vectors do less in a cycle.
    """
    flop_per_cycle = 4 * min(facts.vector_floats, 8)
    return cycles * flop_per_cycle / (facts.gflops_per_unit * 1e3) * max(width / 8, 1)


def with_traffic(busy_us: float, nbytes: int, facts: DeviceFacts, seen: float = 0.1) -> float:
    """Time of work that reads and writes so many bytes beside it.

    Half of the bytes hit a cache; the part `seen` of the rest's time does not hide behind the work.
    """
    memory_us = nbytes / (facts.gbytes_per_s * 1e3)
    return max(busy_us, memory_us / 2) + memory_us * seen


def product_us(m: int, vectors: int, k: int, config: Config, cost: Cost, facts: DeviceFacts) -> float:
    """Time of m rows by `vectors` vectors of columns over k steps, in the tiles and parts of a configuration."""
    mr, nb = config["mr"], config["nb"]
    blocks = ceil_div(vectors, nb)
    tiles = ceil_div(ceil_div(m, config["row_parts"]), mr) * ceil_div(blocks, config["block_parts"])
    parts = config["row_parts"] * config["block_parts"]
    rounds = ceil_div(parts, facts.compute_units)
    cycles = tiles * (k + 8) * tile_cycles(mr, nb)
    weight_bytes = 4 * k * ceil_div(blocks, config["block_parts"]) * nb * config["v"]
    if weight_bytes > facts.l2_bytes // 2:
        cycles = max(cycles, weight_bytes / STREAM_BYTES_PER_CYCLE)
    busy = cycles_us(rounds * cycles, config["v"], facts)
    return with_traffic(busy, cost.bytes, facts) + facts.launch_us


def depthwise_tile_cycles(s: Window, xt: int) -> float:
    """Cycles of a depthwise tile of xt pixels: two loads or two multiply-adds a cycle, not both, and time to wait."""
    span = (xt - 1) * s.sw + (s.kw - 1) * s.dw + 1
    return 1.15 * (s.kh * (span + s.kw + xt * s.kw) / 2 + xt + 4)


def depthwise_us(s: Window, config: Config, cost: Cost, facts: DeviceFacts) -> float:
    """Time of a depthwise convolution without its launch."""
    rows, vectors = s.n * s.out_h, ceil_div(s.co, config["v"])
    parts = config["row_parts"] * config["vector_parts"]
    each = ceil_div(rows, config["row_parts"]) * ceil_div(vectors, config["vector_parts"])
    tiles = ceil_div(parts, facts.compute_units) * each * ceil_div(s.out_w, config["xt"])
    return with_traffic(
        cycles_us(tiles * depthwise_tile_cycles(s, config["xt"]), config["v"], facts), cost.bytes, facts
    )
