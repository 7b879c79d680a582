"""Products of matrices of which neither needs to be constant, batched, broadcast and transposed in any way."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mace_cl.graph.core import Graph, Node, Value
from mace_cl.graph.ops.matmul import MatMul
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
from mace_cl.kernels.geometry import node_cost, not_float32
from mace_cl.kernels.tiles import best_tiling, grid_of, tilings
from mace_cl.kernels.timing import product_us
from mace_cl.kernels.vectors import ceil_div, vector_macros, width_for
from mace_cl.targets.facts import DeviceFacts


@dataclass(frozen=True)
class Batch:
    """A batch of products [m, k] * [k, n].

    Attributes:
        m, n, k: Sizes of each product.
        starts: Where each product's left matrix and bias start, in elements, and the number of its right matrix.
        matrices: Number of right matrices.
        bias_rows, bias_columns: Whether the bias differs by row and by column.
    """

    m: int
    n: int
    k: int
    starts: tuple[tuple[int, int, int], ...]
    matrices: int
    bias_rows: bool
    bias_columns: bool


def batch_of(node: Node) -> Batch:
    """The batch that a MatMul is."""
    op = node.op
    assert isinstance(op, MatMul)
    a, b, y = node.input(0).shape, node.input(1).shape, node.output.shape
    bias = _bias(node)
    k = a[-2] if op.transpose_a else a[-1]
    m, n = y[-2:]
    bias_shape = (1,) * (len(y) - len(bias.shape)) + bias.shape if bias is not None else (1,) * len(y)
    if not op.transpose_a and all(d == 1 for d in (*b[:-2], *bias_shape[:-1])):
        rows = int(np.prod(y[:-1]))
        return Batch(rows, n, k, ((0, 0, 0),), 1, False, bias_shape[-1] > 1)
    lead = y[:-2]
    left, right, third = (_numbers(s[:-2], lead) for s in (a, b, bias_shape))
    bias_size = bias_shape[-2] * bias_shape[-1]
    starts = tuple((int(i) * m * k, int(j) * bias_size, int(r)) for i, j, r in zip(left, third, right, strict=True))
    return Batch(m, n, k, starts, int(np.prod(b[:-2])), bias_shape[-2] > 1, bias_shape[-1] > 1)


def _numbers(shape: Sequence[int], wanted: Sequence[int]) -> np.ndarray:
    """For each matrix of the broadcast batch, the number of the matrix that stands there."""
    own = np.arange(int(np.prod(shape))).reshape(shape)
    return np.broadcast_to(own, wanted).reshape(-1)


class GeneralMatMul(Family):
    """Any product of float32 matrices."""

    name = "matmul"
    operators = ("MatMul",)

    def match(self, graph: Graph, node: Node, facts: DeviceFacts) -> Match | Refusal:
        """Any product of float32 matrices."""
        if reason := not_float32(*node.inputs, node.output):
            return reason
        epilogue = _epilogue(node)
        return epilogue if isinstance(epilogue, Refusal) else single(node)

    def space(self, match: Match, facts: DeviceFacts) -> Iterable[Config]:
        """Every tile, each with its best split."""
        default = self.default(match, facts)
        yield default
        batch = batch_of(match.node)
        for width in sorted({width_for(batch.n, facts, w) for w in (4, 8, 16)}):
            for t in tilings(batch.m, ceil_div(batch.n, width), _each(batch, facts)):
                config = {"v": width, "mr": t.rows, "nb": t.block, "row_parts": t.row_parts,
                          "block_parts": t.block_parts}  # fmt: skip
                if config != default:
                    yield config

    def default(self, match: Match, facts: DeviceFacts) -> Config:
        """The tile with the fewest estimated cycles."""
        batch = batch_of(match.node)
        width = width_for(batch.n, facts)
        t = best_tiling(batch.m, ceil_div(batch.n, width), _each(batch, facts))
        return {"v": width, "mr": t.rows, "nb": t.block, "row_parts": t.row_parts, "block_parts": t.block_parts}

    def cost(self, match: Match, config: Config, facts: DeviceFacts) -> float:
        """Cycles of the busiest unit, with a quarter more than for packed constants, and the launches."""
        batch = batch_of(match.node)
        rounds = ceil_div(len(batch.starts) * config["row_parts"] * config["block_parts"], facts.compute_units)
        each = {**config, "row_parts": 1, "block_parts": 1}
        m, vectors = ceil_div(batch.m, config["row_parts"]), ceil_div(ceil_div(batch.n, config["v"]),
                                                                     config["block_parts"])  # fmt: skip
        one = product_us(m, vectors, batch.k, each, node_cost(match.node), facts) - facts.launch_us
        return one * rounds * 1.25 + facts.launch_us * (2 if _transposes(match.node) else 1)

    def emit(self, match: Match, config: Config, facts: DeviceFacts) -> Sequence[KernelCall]:
        """One launch, after one that packs the right matrix where it is transposed."""
        node, batch = match.node, batch_of(match.node)
        op = node.op
        assert isinstance(op, MatMul)
        epilogue = _epilogue(node)
        assert isinstance(epilogue, Epilogue)
        v, mr, nb = config["v"], config["mr"], config["nb"]
        blocks = ceil_div(batch.n, v * nb)
        rows_per, blocks_per = ceil_div(batch.m, config["row_parts"]), ceil_div(blocks, config["block_parts"])
        grid = grid_of(facts, ceil_div(blocks, blocks_per), ceil_div(batch.m, rows_per), len(batch.starts))
        macros = {**vector_macros(v), **epilogue.macros, "MR": mr, "NB": nb, "GROUP": grid.group, **_bias_macro(batch)}
        calls: list[KernelCall] = []
        right: CallArg = Read(node.input(1))
        size = batch.n * batch.k
        if op.transpose_a:
            macros["TRANSPOSED"] = ""
        if op.transpose_b:
            macros["PACKED"] = ""
            size = blocks * v * nb * batch.k
            right = Scratch(4 * batch.matrices * size, "packed")
            calls.append(_pack_call(node.input(1), right, batch, v, nb, facts))
        offsets = np.array([(a, b * size, c) for a, c, b in batch.starts], np.int32)
        chunk = max(facts.l2_bytes // 4 // (4 * batch.k) // mr, 1) * mr
        numbers = (len(batch.starts), batch.m, batch.n, batch.k, rows_per, min(chunk, rows_per), blocks_per,
                   batch.n if batch.bias_columns else 1)  # fmt: skip
        args: tuple[CallArg, ...] = (
            Read(node.input(0)), right, _bias_argument(node), Weights(offsets, "offsets"), Write(node.output),
            *epilogue.args, *(Scalar("int", i) for i in numbers),
        )  # fmt: skip
        spec = KernelSpec.of(self.name, macros)
        return [*calls, KernelCall(spec, args, grid.global_size, grid.local_size, node_cost(node))]


def _each(batch: Batch, facts: DeviceFacts) -> DeviceFacts:
    """The device as one product of the batch sees it: one unit where the batch itself gives each unit its share."""
    many = len(batch.starts) % facts.compute_units == 0 or len(batch.starts) >= 4 * facts.compute_units
    return replace(facts, compute_units=1) if many and facts.kind == "cpu" else facts


def _bias_macro(batch: Batch) -> dict[str, str]:
    place = "(row) * row_step" if batch.bias_rows else "0"
    if batch.bias_columns:
        return {"BIAS(p, row, column)": f"VLOAD((p) + {place} + (column))"}
    return {"BIAS(p, row, column)": f"(VEC)((p)[{place}])"}


def _bias_argument(node: Node) -> CallArg:
    bias = _bias(node)
    return Weights(np.zeros(1, np.float32), "zero") if bias is None else Read(bias)


def _pack_call(value: Value, scratch: Scratch, batch: Batch, v: int, nb: int, facts: DeviceFacts) -> KernelCall:
    blocks = ceil_div(batch.n, v * nb)
    grid = grid_of(facts, blocks, batch.matrices)
    spec = KernelSpec.of("matmul", {"PACK": "", "V": v, "NB": nb, "GROUP": grid.group})
    numbers = (batch.n, batch.k, blocks, batch.matrices)
    args: tuple[CallArg, ...] = (Read(value), scratch, *(Scalar("int", i) for i in numbers))
    return KernelCall(spec, args, grid.global_size, grid.local_size)


def _transposes(node: Node) -> bool:
    return isinstance(node.op, MatMul) and node.op.transpose_b


def _bias(node: Node) -> Value | None:
    return node.inputs[2] if len(node.inputs) > 2 else None


def _epilogue(node: Node) -> Epilogue | Refusal:
    assert isinstance(node.op, MatMul)
    return epilogue_of(node.op.epilogue, node.inputs[3:], node.output)


FAMILY = GeneralMatMul()
