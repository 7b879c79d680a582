"""Register tiles and how work is cut into parts: the arithmetic behind the families' defaults."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from mace_cl.kernels.vectors import ceil_div
from mace_cl.targets.facts import DeviceFacts

SHAPES = (
    (6, 4), (5, 4), (4, 4), (3, 4), (2, 4), (1, 4),
    (8, 3), (7, 3), (5, 3), (4, 3), (2, 3), (1, 3),
    (12, 2), (8, 2), (7, 2), (6, 2), (5, 2), (4, 2), (2, 2), (1, 2),
    (14, 1), (8, 1), (7, 1), (4, 1), (2, 1), (1, 1),
    (4, 5), (1, 8),
)  # fmt: skip
"""Tiles (rows, vectors) to choose from: few, so that a network has few distinct kernels."""

STREAM_BYTES_PER_CYCLE = 8
"""What a unit reads beyond its own cache, roughly."""

ITEMS_OF_UNIT = 64
"""Work-items that a unit of a GPU runs at a time, at least."""


@dataclass(frozen=True)
class Tiling:
    """How a product of `rows` by `vectors` of columns is computed.

    Attributes:
        rows, block: The tile: rows by vectors.
        row_parts, block_parts: Work-items along each dimension.
        cycles: Estimated cycles of the busiest unit, for each step of the inner dimension.
    """

    rows: int
    block: int
    row_parts: int
    block_parts: int
    cycles: float


def fits(rows: int, block: int, facts: DeviceFacts) -> bool:
    """Whether the tile's sums, a row of weights and a broadcast stay in registers."""
    return rows * block + block + 1 <= max(facts.registers, 4)


def tile_cycles(rows: int, block: int) -> float:
    """Cycles that one step of the inner dimension takes for a tile: two multiply-adds a cycle, a latency of four."""
    return max(rows * block / 2, 4.0 if rows * block < 8 else 0.0, block if rows == 1 else 0.0) + 0.1 * (rows + block)


def parts_of(total: int) -> Iterator[tuple[int, int]]:
    """Every way to write a number as a product of two."""
    for a in range(1, total + 1):
        if total % a == 0:
            yield a, total // a


@lru_cache(maxsize=4096)
def best_tiling(m: int, vectors: int, facts: DeviceFacts, k: int = 0, width: int = 8) -> Tiling:
    """The quickest tiling of `m` rows by `vectors` vectors of columns on a device.

    Args:
        m: Rows.
        vectors: Vectors of columns.
        facts: The device.
        k: Steps of the inner dimension; 0 where columns come from anywhere.
        width: Floats of a vector.
    """
    return min(tilings(m, vectors, facts, k, width), key=lambda t: (t.cycles, -t.rows * t.block))


def tilings(m: int, vectors: int, facts: DeviceFacts, k: int = 0, width: int = 8) -> Iterable[Tiling]:
    """Every legal tiling with the best split of each tile."""
    shapes = [(r, b) for r, b in SHAPES if r <= m and b <= vectors and fits(r, b, facts)] or [(1, 1)]
    for rows, block in shapes:
        if facts.kind != "cpu":
            yield _tile_each(m, vectors, rows, block, facts)
            continue
        splits = parts_of(facts.compute_units)
        found = [_split(m, vectors, rows, block, a, b, 4 * k * width, facts.l2_bytes) for a, b in splits]
        yield min(found, key=lambda t: t.cycles)


def _tile_each(m: int, vectors: int, rows: int, block: int, facts: DeviceFacts) -> Tiling:
    """One tile for each work-item, of which a unit runs many at a time."""
    row_parts, block_parts = ceil_div(m, rows), ceil_div(vectors, block)
    rounds = ceil_div(row_parts * block_parts, facts.compute_units * ITEMS_OF_UNIT)
    return Tiling(rows, block, row_parts, block_parts, rounds * tile_cycles(rows, block))


def _split(
    m: int, vectors: int, rows: int, block: int, row_parts: int, block_parts: int, vector_bytes: int, l2_bytes: int
) -> Tiling:
    per_row, per_block = ceil_div(m, row_parts), ceil_div(ceil_div(vectors, block), block_parts)
    cycles = ceil_div(per_row, rows) * per_block * tile_cycles(rows, block)
    blocks = ceil_div(ceil_div(vectors, block), per_block)
    if per_block * block * vector_bytes > l2_bytes // 2:
        cycles = max(cycles, per_block * block * 4 * 8 / STREAM_BYTES_PER_CYCLE)
    # What a unit reads at each step, hidden for the most part behind its work: many rows are rather cut than columns.
    cycles += 0.05 * (per_row + per_block * block * 8)
    return Tiling(rows, block, ceil_div(m, per_row), blocks, cycles)


@dataclass(frozen=True)
class Grid:
    """Global and local sizes, and the attribute that tells the compiler the local one."""

    global_size: tuple[int, ...]
    local_size: tuple[int, ...]
    group: str


def grid_of(facts: DeviceFacts, *sizes: int) -> Grid:
    """Work sizes for so many work-items in each dimension.

    A group is one work-item on CPUs. Elsewhere it is up to 64, and the global size is rounded up to whole groups: a
    kernel must do nothing for the work-items beyond.
    """
    local = [1] * len(sizes)
    if facts.kind != "cpu":
        room = min(64, facts.max_work_group_size)
        for i, size in enumerate(sizes):
            while local[i] * 2 <= room and local[i] < size:
                local[i] *= 2
            room //= local[i]
    whole = tuple(ceil_div(s, n) * n for s, n in zip(sizes, local, strict=True))
    x, y, z = (*local, 1, 1, 1)[:3]
    return Grid(whole, tuple(local), f"__attribute__((reqd_work_group_size({x}, {y}, {z})))")
