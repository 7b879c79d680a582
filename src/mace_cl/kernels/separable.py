"""Blocks of [1x1 expansion], depthwise convolution and 1x1 projection as one kernel, for devices with caches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import prod

from mace_cl.graph.core import Graph, Node
from mace_cl.graph.ops.base import Cost
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
    interior,
)
from mace_cl.kernels.depthwise import bias_vector, depthwise_weights, depthwise_window, row_tile, tap_macros
from mace_cl.kernels.epilogue import Epilogue, epilogue_of
from mace_cl.kernels.geometry import Window, node_cost
from mace_cl.kernels.pointwise import Product, product_of
from mace_cl.kernels.tiles import SHAPES, STREAM_BYTES_PER_CYCLE, fits, grid_of, parts_of, tile_cycles
from mace_cl.kernels.timing import cycles_us, depthwise_tile_cycles, with_traffic
from mace_cl.kernels.vectors import ceil_div, pack_columns, pack_vector, vector_macros, width_for
from mace_cl.targets.facts import DeviceFacts


@dataclass(frozen=True, eq=False)
class Block:
    """The parts of a match.

    Attributes:
        nodes: Expansion (if any), depthwise, projection.
        expand, project: The products of the 1x1 convolutions; no expansion is None.
        window: The depthwise convolution.
    """

    nodes: tuple[Node, ...]
    expand: Product | None
    window: Window
    project: Product


def block_of(graph: Graph, node: Node, with_expansion: bool) -> Block | Refusal:
    """The block that starts at a node, or why there is none."""
    expand: Product | None = None
    nodes = [node]
    if with_expansion:
        found = _dense_product(node)
        if isinstance(found, Refusal):
            return found
        following = _only_user(graph, node)
        if following is None:
            return Refusal("its result does not go to one convolution alone")
        expand, node = found, following
        nodes.append(node)
    window = depthwise_window(node)
    if isinstance(window, Refusal):
        return Refusal(f"depthwise part: {window.reason}")
    if window.co != window.ci:
        return Refusal("several output channels for each depthwise channel")
    last = _only_user(graph, node)
    if last is None:
        return Refusal("the depthwise result does not go to one convolution alone")
    project = _dense_product(last)
    if isinstance(project, Refusal):
        return Refusal(f"projection: {project.reason}")
    return Block((*nodes, last), expand, window, project)


def _only_user(graph: Graph, node: Node) -> Node | None:
    """The convolution that alone reads the node's result, as its data."""
    if len(node.outputs) != 1 or not interior(graph, node.output):
        return None
    (user,) = node.output.users
    return user if isinstance(user.op, Conv) and user.inputs[0] is node.output else None


def _dense_product(node: Node) -> Product | Refusal:
    product = product_of(node)
    if isinstance(product, Product) and product.steps:
        return Refusal("a 1x1 convolution with strides")
    return product


class _Separable(Family):
    """What both families share; they differ in where the match starts."""

    operators = ("Conv",)
    with_expansion: bool

    def match(self, graph: Graph, node: Node, facts: DeviceFacts) -> Match | Refusal:
        """Convolutions of which each alone reads the one before, with constant weights."""
        if facts.kind != "cpu":
            return Refusal("keeps rows in a cache, which pays on CPUs only")
        block = block_of(graph, node, self.with_expansion)
        if isinstance(block, Refusal):
            return block
        for epilogue in _epilogues(block.nodes):
            if isinstance(epilogue, Refusal):
                return epilogue
        outer = dict.fromkeys(v for n in block.nodes for v in n.inputs if v is not None and not v.is_constant)
        made = {n.output for n in block.nodes}
        return Match(block.nodes, tuple(v for v in outer if v not in made), (block.nodes[-1].output,))

    def space(self, match: Match, facts: DeviceFacts) -> Iterable[Config]:
        """Tiles of the projection, splits, chunks and pixel tiles around the default."""
        default = self.default(match, facts)
        yield default
        block = _block(match)
        rows = ceil_div(block.window.n * block.window.out_h, default["row_parts"])
        for key, values in (
            ("chunk", {1, 2, 4, rows}),
            ("xt", {1, 2, 4, 6, 8}),
            ("mr nb", {s for s in SHAPES if fits(*s, facts)}),
        ):
            for value in sorted(values):
                names = key.split()
                changed = {**default, **dict(zip(names, value if isinstance(value, tuple) else (value,), strict=True))}
                if changed != default and _is_legal(block, changed):
                    yield changed

    def default(self, match: Match, facts: DeviceFacts) -> Config:
        """The choice with the fewest estimated cycles."""
        block = _block(match)
        return min(_choices(block, facts), key=lambda c: _cycles(block, c, facts))

    def cost(self, match: Match, config: Config, facts: DeviceFacts) -> float:
        """Cycles of the busiest unit, or the time to read everything, and a launch."""
        outer = sum(v.type.nbytes for v in (*match.inputs, *match.outputs))
        busy = cycles_us(_cycles(_block(match), config, facts), config["v"], facts)
        return with_traffic(busy, outer, facts) + facts.launch_us

    def emit(self, match: Match, config: Config, facts: DeviceFacts) -> Sequence[KernelCall]:
        """One launch."""
        block, c = _block(match), config
        s, v = block.window, config["v"]
        rows, blocks = s.n * s.out_h, ceil_div(block.project.n, v * c["nb"])
        rows_per, blocks_per = ceil_div(rows, c["row_parts"]), ceil_div(blocks, c["block_parts"])
        grid = grid_of(facts, ceil_div(blocks, blocks_per), ceil_div(rows, rows_per))
        chunk = min(c["chunk"], rows_per)
        middle, ring_rows = chunk * s.out_w * s.ci, _ring_rows(s, chunk)
        slice_ = middle + (ring_rows * s.w * s.ci if block.expand else 0)
        epilogues = [e for e in _epilogues(block.nodes) if isinstance(e, Epilogue)]
        macros = {**vector_macros(v), **tap_macros(s), "XT": c["xt"], "MR": c["mr"], "NB": c["nb"], "GROUP": grid.group}
        macros.pop("MULT")
        packed: list[CallArg] = []
        if block.expand:
            macros |= {"EXPAND": "", "EMR": c["emr"], "ENB": c["enb"]}
            packed += _packed(block.expand, v, c["enb"], "expand")
        else:
            macros |= {"EX_EXTRA_PARAMS": "", "EX_EXTRAS": ""}
        depthwise = block.nodes[-2]
        packed += [Weights(depthwise_weights(depthwise)), Weights(bias_vector(depthwise, s.ci), "bias")]
        packed += _packed(block.project, v, c["nb"], "project")
        for epilogue in epilogues:
            macros |= epilogue.macros
        numbers = (
            rows, rows_per, chunk, blocks_per, ring_rows, slice_, s.h, s.w,
            block.expand.k if block.expand else s.ci, s.ci, s.out_h, s.out_w, block.project.n, s.top, s.left,
        )  # fmt: skip
        args: tuple[CallArg, ...] = (
            Read(match.node.input(0)), *packed, Scratch(4 * slice_ * prod(grid.global_size), "rows"),
            Write(match.outputs[0]), *(a for e in epilogues for a in e.args), *(Scalar("int", i) for i in numbers),
        )  # fmt: skip
        cost = sum((node_cost(n) for n in block.nodes), Cost(0, 0))
        moved = Cost(cost.flop, 4 * sum(v.type.elements for v in (*match.inputs, *match.outputs)))
        return [KernelCall(KernelSpec.of("separable", macros), args, grid.global_size, grid.local_size, moved)]


class DepthwisePointwise(_Separable):
    """Depthwise convolution and the 1x1 convolution behind it."""

    name = "depthwise_pointwise"
    with_expansion = False


class InvertedResidual(_Separable):
    """1x1 expansion, depthwise convolution and 1x1 projection."""

    name = "inverted_residual"
    with_expansion = True


def _packed(product: Product, v: int, nb: int, name: str) -> tuple[CallArg, CallArg]:
    weights = Weights(pack_columns(product.matrix, v, nb), name)
    return weights, Weights(pack_vector(product.bias, product.n, v, nb), f"{name}_bias")


def _block(match: Match) -> Block:
    expand = product_of(match.nodes[0]) if len(match.nodes) == 3 else None
    window, project = depthwise_window(match.nodes[-2]), product_of(match.nodes[-1])
    assert isinstance(window, Window)
    assert isinstance(project, Product)
    assert not isinstance(expand, Refusal)
    return Block(match.nodes, expand, window, project)


def _epilogues(nodes: Sequence[Node]) -> list[Epilogue | Refusal]:
    """The epilogue of each node, in the order of the nodes."""
    found = []
    for node, tag in zip(nodes, ("EX_", "DW_", "")[3 - len(nodes) :], strict=True):
        assert isinstance(node.op, Conv)
        found.append(epilogue_of(node.op.epilogue, node.inputs[3:], node.output, tag))
    return found


def _ring_rows(s: Window, chunk: int) -> int:
    return min((chunk - 1) * s.sh + (s.kh - 1) * s.dh + 1, s.h)


def _is_legal(block: Block, c: Config) -> bool:
    s = block.window
    vectors = ceil_div(block.project.n, c["v"])
    return c["mr"] <= s.out_w and c["nb"] <= vectors and c["xt"] <= s.out_w


def _choices(block: Block, facts: DeviceFacts) -> Iterator[Config]:
    """For every split of the work, the best tiles and a chunk that stays in the cache."""
    s = block.window
    width = width_for(min(s.ci, block.project.n), facts)
    rows, vectors, wide = s.n * s.out_h, ceil_div(block.project.n, width), ceil_div(s.ci, width)
    for row_parts, block_parts in parts_of(facts.compute_units):
        row_parts, block_parts = min(row_parts, rows), min(block_parts, vectors)
        rows_per = ceil_div(rows, row_parts)
        row_bytes = 4 * s.ci * (s.out_w + (s.w * s.sh if block.expand else 0))
        chunk = min(max(facts.l2_bytes // 6 // row_bytes, 1), rows_per)
        chunk = ceil_div(rows_per, ceil_div(rows_per, chunk))
        mr, nb = _best_tile(s.out_w * chunk, s.out_w, ceil_div(vectors, block_parts), facts)
        config = {"v": width, "xt": row_tile(s, facts), "mr": mr, "nb": nb, "chunk": chunk,
                  "row_parts": row_parts, "block_parts": min(block_parts, ceil_div(vectors, nb))}  # fmt: skip
        if block.expand:
            config["emr"], config["enb"] = _best_tile(s.w, s.w, wide, facts)
        yield config


def _best_tile(m: int, longest: int, vectors: int, facts: DeviceFacts) -> tuple[int, int]:
    """The tile with the fewest cycles for m rows, of at most `longest` rows."""
    legal = [(r, b) for r, b in SHAPES if r <= longest and b <= vectors and fits(r, b, facts)] or [(1, 1)]
    return min(legal, key=lambda t: (ceil_div(m, t[0]) * ceil_div(vectors, t[1]) * tile_cycles(*t), -t[0] * t[1]))


def _expanded_rows(s: Window, rows: int) -> int:
    """Rows that the busiest part expands, of parts of `rows` output rows each."""
    if s.n > 1:
        return min((rows - 1) * s.sh + (s.kh - 1) * s.dh + 1, s.h * s.n)
    return max(
        min((min(first + rows, s.out_h) - 1) * s.sh - s.top + (s.kh - 1) * s.dh + 1, s.h) - max(first * s.sh - s.top, 0)
        for first in range(0, s.out_h, rows)
    )


def _cycles(block: Block, c: Config, facts: DeviceFacts) -> float:
    """Estimated cycles of the busiest unit."""
    s, v = block.window, c["v"]
    rows = ceil_div(s.n * s.out_h, c["row_parts"])
    chunks = ceil_div(rows, c["chunk"])
    wide, blocks = ceil_div(s.ci, v), ceil_div(ceil_div(block.project.n, v * c["nb"]), c["block_parts"])
    total = float(rows * ceil_div(s.out_w, c["xt"]) * wide) * depthwise_tile_cycles(s, c["xt"])
    tiles = ceil_div(min(c["chunk"], rows) * s.out_w, c["mr"]) * chunks
    total += tiles * blocks * (s.ci + 8) * tile_cycles(c["mr"], c["nb"])
    weight_bytes = 4 * s.ci * block.project.n // c["block_parts"]
    if block.expand:
        tiles = _expanded_rows(s, rows) * ceil_div(s.w, c["emr"]) * ceil_div(wide, c["enb"])
        total += tiles * (block.expand.k + 8) * tile_cycles(c["emr"], c["enb"])
        weight_bytes += 4 * s.ci * block.expand.k
    if weight_bytes > facts.l2_bytes // 2:
        total = max(total, chunks * weight_bytes / STREAM_BYTES_PER_CYCLE)
    return total


FAMILIES = (DepthwisePointwise(), InvertedResidual())
