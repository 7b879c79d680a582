"""Padding, nearest-neighbour scaling and gathering at constant indices: each dimension is read through a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mace_cl.graph.core import Graph, Node
from mace_cl.graph.ops import Gather, Pad, Resize
from mace_cl.graph.ops.base import Cost
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
    roofline_us,
    single,
)
from mace_cl.kernels.blocks import dense_strides, element_type
from mace_cl.kernels.elementwise import MAX_INDEX, split
from mace_cl.kernels.tiles import grid_of
from mace_cl.kernels.vectors import ceil_div
from mace_cl.targets.facts import DeviceFacts
from mace_cl.types import Shape

OUTSIDE = -1


@dataclass(frozen=True, eq=False)
class Remap:
    """Where each output element comes from.

    Attributes:
        source: Shape of x.
        tables: For each dimension of the output the index in x's dimension, or OUTSIDE.
        fill: The element for OUTSIDE, in x's type.
    """

    source: Shape
    tables: tuple[np.ndarray, ...]
    fill: np.ndarray


class RemapFamily(Family):
    """Operators whose output dimension d depends on the input's dimension d alone."""

    name = "remap"
    operators = ("Pad", "Resize", "Gather")

    def match(self, graph: Graph, node: Node, facts: DeviceFacts) -> Match | Refusal:
        """The node alone."""
        if max(node.input(0).type.elements, node.output.type.elements) > MAX_INDEX:
            return Refusal("more elements than a 32-bit index holds")
        found = remap_of(node)
        return found if isinstance(found, Refusal) else single(node)

    def cost(self, match: Match, config: Config, facts: DeviceFacts) -> float:
        """Memory traffic; short rows cost more."""
        return roofline_us(Cost(0, 3 * match.node.output.type.nbytes), facts, 1.0)

    def emit(self, match: Match, config: Config, facts: DeviceFacts) -> Sequence[KernelCall]:
        """One launch."""
        node = match.node
        found = remap_of(node)
        assert isinstance(found, Remap)
        x, y = node.input(0), node.output
        outer, inner, tail = _joined(found)
        rows = y.type.elements // max(len(inner) * tail, 1)
        length = len(inner) * tail
        parts, _ = split(rows, max(length, 1), facts) if rows > 1 else (1, 1)
        rows_per = ceil_div(rows, parts)
        grid = grid_of(facts, ceil_div(rows, rows_per))
        macros, tables = _dimension_macros(outer)
        lead, run, start = _segment(inner, tail)
        if lead < 0:
            macros["INNER_TABLE"] = str(sum(len(t) for t in tables))
            tables.append(_spread(inner, tail))
            lead, run, start = 0, 0, 0
        macros |= {"E": element_type(x.dtype), "GROUP": grid.group, "FILL": _fill_text(found.fill)}
        joined = np.concatenate([*tables, np.zeros(1, np.int64)]).astype(np.int32)
        numbers = [rows, length, rows_per, lead, run, start, *(len(t) for t in outer[1:])]
        args: list[CallArg] = [Read(x), Write(y), Weights(joined, "tables"), *(Scalar("int", n) for n in numbers)]
        cost = Cost(0, min(x.type.nbytes, y.type.nbytes) + y.type.nbytes)
        return [KernelCall(KernelSpec.of(self.name, macros), tuple(args), grid.global_size, grid.local_size, cost)]


def remap_of(node: Node) -> Remap | Refusal:
    """The tables of a node, or why it has none."""
    op = node.op
    x = node.input(0)
    zero = np.zeros((), x.dtype.numpy)
    if isinstance(op, Pad):
        tables = tuple(_padded(n, p, op.mode) for n, p in zip(x.shape, op.pads, strict=True))
        return Remap(x.shape, tables, np.asarray(op.value).astype(x.dtype.numpy))
    if isinstance(op, Resize):
        if op.mode != "nearest":
            return Refusal("not nearest")
        if op.coordinate_mode == "tf_crop_and_resize":
            return Refusal("it extrapolates")
        scaled = op.scaled_axes(x.type)
        tables = tuple(
            op.table(d, n)[0][:, 0] if d in scaled else np.arange(n, dtype=np.int64) for d, n in enumerate(x.shape)
        )
        return Remap(x.shape, tables, zero)
    assert isinstance(op, Gather)
    indices = node.input(1).data
    if indices is None:
        return Refusal("indices are not constant")
    if indices.ndim > 1 or op.batch_dims:
        return Refusal("indices have more than one dimension")
    axis = op.axis % x.type.rank
    size = x.shape[axis]
    wanted = indices.reshape(-1).astype(np.int64)
    if wanted.size and (wanted.min() < -size or wanted.max() >= size):
        return Refusal(f"an index is outside the {size} elements of axis {axis}")
    tables = tuple(
        np.where(wanted < 0, wanted + size, wanted) if d == axis else np.arange(n) for d, n in enumerate(x.shape)
    )
    return Remap(x.shape, tables, zero)


def _padded(size: int, pad: tuple[int, int], mode: str) -> np.ndarray:
    """Table of one padded dimension, by NumPy's own padding of its indices; negative amounts cut first."""
    before, after = pad
    kept = np.arange(size, dtype=np.int64)[max(-before, 0) : size - max(-after, 0)]
    width = (max(before, 0), max(after, 0))
    if width == (0, 0):
        return kept
    if mode == "constant":
        return np.pad(kept, width, constant_values=OUTSIDE)
    return np.pad(kept, width, mode=mode)  # type: ignore[call-overload, no-any-return]


def _joined(remap: Remap) -> tuple[list[np.ndarray], np.ndarray, int]:
    """Tables of the outer dimensions with offsets in elements, the inner one, and the run behind it.

    Dimensions at the end that are copied whole are joined into `tail` contiguous elements.
    """
    strides = dense_strides(remap.source)
    tables = list(remap.tables)
    tail = 1
    while (
        tables
        and len(tables[-1]) == remap.source[len(tables) - 1]
        and np.array_equal(tables[-1], np.arange(len(tables[-1])))
    ):
        tail *= len(tables.pop())
    offsets = [np.where(t < 0, OUTSIDE, t * strides[d]) for d, t in enumerate(tables)]
    if not offsets:
        return [], np.zeros(1, np.int64), tail
    inner = offsets.pop()
    # A long run needs no table behind it; short ones are spread out in the inner table.
    if tail >= 8 and not _is_segment(inner, tail):
        return [*offsets, inner], np.zeros(1, np.int64), tail
    return offsets, inner, tail


def _is_segment(inner: np.ndarray, tail: int) -> bool:
    inside = np.flatnonzero(inner >= 0)
    if not len(inside):
        return True
    whole = inside[-1] - inside[0] + 1 == len(inside)
    return bool(whole and np.all(np.diff(inner[inside]) == tail))


def _segment(inner: np.ndarray, tail: int) -> tuple[int, int, int]:
    """(lead, run, start) where the inner dimension is one run of x between fillings, else (-1, 0, 0)."""
    if not _is_segment(inner, tail):
        return -1, 0, 0
    inside = np.flatnonzero(inner >= 0)
    if not len(inside):
        return len(inner) * tail, 0, 0
    return int(inside[0]) * tail, len(inside) * tail, int(inner[inside[0]])


def _spread(inner: np.ndarray, tail: int) -> np.ndarray:
    """Offset of each element of inner x tail."""
    full = np.where(inner[:, None] < 0, OUTSIDE, inner[:, None] + np.arange(tail))
    return np.asarray(full.reshape(-1))


def _dimension_macros(outer: list[np.ndarray]) -> tuple[dict[str, str], list[np.ndarray]]:
    """DIM_PARAMS and OFFSETS(row), which declares `from` and `outside`; and the tables in order."""
    text = ["int rest_ = (row); int from = 0; int outside = 0;"]
    at = [0]
    for table in outer:
        at.append(at[-1] + len(table))
    for d in range(len(outer) - 1, -1, -1):
        index = f"rest_ % d{d}" if d else "rest_"
        text.append(f"{{ const int t_ = tables[{at[d]} + {index}]; outside |= t_ < 0; from += t_; }}")
        if d:
            text.append(f"rest_ /= d{d};")
    names = "".join(f", int d{d}" for d in range(1, len(outer)))
    return {"DIM_PARAMS": names, "OFFSETS(row)": " ".join(text)}, list(outer)


def _fill_text(fill: np.ndarray) -> str:
    """The filling element as the unsigned integer with its bits."""
    bits = int.from_bytes(fill.tobytes(), "little")
    return f"{bits}UL"


FAMILY = RemapFamily()
