"""Moving blocks of elements: Transpose, Concat, Split, Slice, Expand, Tile, DepthToSpace, SpaceToDepth."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mace_cl.graph.core import Graph, Node, Value
from mace_cl.graph.ops import Concat, DepthToSpace, Expand, Slice, SpaceToDepth, Split, Tile, Transpose
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
    Write,
    roofline_us,
    single,
)
from mace_cl.kernels.blocks import Block, collapse, dense_strides, element_type, transpose_block
from mace_cl.kernels.elementwise import MAX_INDEX, split
from mace_cl.kernels.tiles import grid_of
from mace_cl.kernels.vectors import ceil_div
from mace_cl.targets.facts import DeviceFacts

Move = tuple[Value, Value, Block]
"""Source, target, and the block of elements that goes from one to the other."""


class Copy(Family):
    """Operators whose output elements are input elements at places that strides can say."""

    name = "copy"
    operators = ("Transpose", "Concat", "Split", "Slice", "Expand", "Tile", "DepthToSpace", "SpaceToDepth")

    def match(self, graph: Graph, node: Node, facts: DeviceFacts) -> Match | Refusal:
        """The node alone."""
        if max(v.type.elements for v in (*node.inputs, *node.outputs) if v is not None) > MAX_INDEX:
            return Refusal("more elements than a 32-bit index holds")
        return single(node)

    def cost(self, match: Match, config: Config, facts: DeviceFacts) -> float:
        """Memory traffic; strided elements cost several times as much."""
        total = 0.0
        for _, target, block in moves_of(match.node):
            moved = 2 * block.elements * target.dtype.itemsize
            dense = collapse(block).is_dense
            total += roofline_us(Cost(0, moved if dense else 4 * moved), facts, 1.0)
        return total

    def emit(self, match: Match, config: Config, facts: DeviceFacts) -> Sequence[KernelCall]:
        """One launch for each block."""
        return [move_call(m, facts) for m in moves_of(match.node) if m[2].elements]


def move_call(move: Move, facts: DeviceFacts) -> KernelCall:
    """The launch that moves a block."""
    source, target, whole = move
    block = collapse(whole)
    row_parts, inner_parts = split(block.rows, block.inner, facts)
    rows_per = ceil_div(block.rows, row_parts)
    inner_per = ceil_div(ceil_div(block.inner, inner_parts), 8) * 8
    grid = grid_of(facts, ceil_div(block.inner, inner_per), ceil_div(block.rows, rows_per))
    outer = len(block.dims) - 1
    macros = {"E": element_type(target.dtype), "GROUP": grid.group, **_offset_macros(outer, block.is_dense)}
    numbers = [block.x_start, block.y_start, block.rows, block.inner, rows_per, inner_per]
    if not block.is_dense:
        numbers += [block.x_strides[-1], block.y_strides[-1]]
    numbers += [*block.dims[1:outer], *block.x_strides[:outer], *block.y_strides[:outer]]
    args: list[CallArg] = [Read(source), Write(target), *(Scalar("int", n) for n in numbers)]
    moved = 2 * block.elements * target.dtype.itemsize
    spec = KernelSpec.of("copy", macros)
    return KernelCall(spec, tuple(args), grid.global_size, grid.local_size, Cost(0, moved))


def _offset_macros(outer: int, dense: bool) -> dict[str, str]:
    """INNER_PARAMS, DIM_PARAMS and OFFSETS for a number of outer dimensions."""
    names = [f"d{d}" for d in range(1, outer)]
    names += [f"{side}s{d}" for side in "xy" for d in range(outer)]
    text = []
    if outer:
        text.append("int rest_ = (row);")
        text += [f"const int i{d}_ = rest_ % d{d}; rest_ /= d{d};" for d in range(outer - 1, 0, -1)]
        text.append("const int i0_ = rest_;")
    for side in "xy":
        terms = [f"i{d}_ * {side}s{d}" for d in range(outer)]
        text.append(f"const int {side}o_ = {' + '.join(terms) or '0'};")
    macros = {
        "INNER_PARAMS": "" if dense else ", int x_step, int y_step",
        "DIM_PARAMS": "".join(f", int {n}" for n in names),
        "OFFSETS(row)": " ".join(text),
    }
    return {**macros, "DENSE": "1"} if dense else macros


# -- operators to blocks ----------------------------------------------------------------------------------------


def moves_of(node: Node) -> list[Move]:
    """The blocks that compute a node."""
    return _MOVES[type(node.op)](node)


def _transpose(node: Node) -> list[Move]:
    assert isinstance(node.op, Transpose)
    x = node.input(0)
    return [(x, node.output, transpose_block(x.shape, node.op.perm))]


def _concat(node: Node) -> list[Move]:
    assert isinstance(node.op, Concat)
    out = node.output
    axis = node.op.axis % out.type.rank
    strides = dense_strides(out.shape)
    made, at = [], 0
    for value in node.inputs:
        assert value is not None
        made.append((value, out, Block(value.shape, dense_strides(value.shape), strides, 0, at * strides[axis])))
        at += value.shape[axis]
    return made


def _split(node: Node) -> list[Move]:
    assert isinstance(node.op, Split)
    x = node.input(0)
    axis = node.op.axis % x.type.rank
    strides = dense_strides(x.shape)
    made, at = [], 0
    for value in node.outputs:
        made.append((x, value, Block(value.shape, strides, dense_strides(value.shape), at * strides[axis])))
        at += value.shape[axis]
    return made


def _slice(node: Node) -> list[Move]:
    assert isinstance(node.op, Slice)
    x, out = node.input(0), node.output
    strides = dense_strides(x.shape)
    start = sum(a * b for a, b in zip(node.op.starts, strides, strict=True))
    steps = tuple(a * b for a, b in zip(node.op.steps, strides, strict=True))
    return [(x, out, Block(out.shape, steps, dense_strides(out.shape), start))]


def _expand(node: Node) -> list[Move]:
    x, out = node.input(0), node.output
    shape = (1,) * (out.type.rank - x.type.rank) + x.shape
    strides = tuple(0 if d == 1 else s for d, s in zip(shape, dense_strides(shape), strict=True))
    return [(x, out, Block(out.shape, strides, dense_strides(out.shape)))]


def _tile(node: Node) -> list[Move]:
    assert isinstance(node.op, Tile)
    x, out = node.input(0), node.output
    dims: list[int] = []
    xs: list[int] = []
    ys: list[int] = []
    for d, repeats, a, b in zip(
        x.shape, node.op.repeats, dense_strides(x.shape), dense_strides(out.shape), strict=True
    ):
        dims += [repeats, d]
        xs += [0, a]
        ys += [d * b, b]
    return [(x, out, Block(tuple(dims), tuple(xs), tuple(ys)))]


def _space(node: Node) -> list[Move]:
    """Both directions as a transpose of the split dimensions, channels last or first."""
    op = node.op
    assert isinstance(op, DepthToSpace | SpaceToDepth)
    x, b = node.input(0), op.block
    last = op.channels_last
    if isinstance(op, SpaceToDepth):
        n, h, w, c = _nhwc(x.shape, last)
        if last:
            return [(x, node.output, transpose_block((n, h // b, b, w // b, b, c), (0, 1, 3, 2, 4, 5)))]
        return [(x, node.output, transpose_block((n, c, h // b, b, w // b, b), (0, 3, 5, 1, 2, 4)))]
    n, h, w, c = _nhwc(x.shape, last)
    depth = c // (b * b)
    if op.mode == "DCR":
        shape, perm = (
            ((n, h, w, b, b, depth), (0, 1, 3, 2, 4, 5)) if last else ((n, b, b, depth, h, w), (0, 3, 4, 1, 5, 2))
        )
    else:
        shape, perm = (
            ((n, h, w, depth, b, b), (0, 1, 4, 2, 5, 3)) if last else ((n, depth, b, b, h, w), (0, 1, 4, 2, 5, 3))
        )
    return [(x, node.output, transpose_block(shape, perm))]


def _nhwc(shape: tuple[int, ...], channels_last: bool) -> tuple[int, int, int, int]:
    a, b, c, d = shape
    return (a, b, c, d) if channels_last else (a, c, d, b)


_MOVES: dict[type, Callable[[Node], list[Move]]] = {
    Transpose: _transpose,
    Concat: _concat,
    Split: _split,
    Slice: _slice,
    Expand: _expand,
    Tile: _tile,
    DepthToSpace: _space,
    SpaceToDepth: _space,
}

FAMILY = Copy()
