"""1x1 convolution and matrix times constant matrix: one product of rows by packed columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from mace_cl.graph.core import Graph, Node
from mace_cl.graph.ops.conv import Conv
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
    Weights,
    Write,
    single,
)
from mace_cl.kernels.epilogue import Epilogue, epilogue_of
from mace_cl.kernels.geometry import constant_bias, node_cost, not_float32, window_of
from mace_cl.kernels.tiles import best_tiling, grid_of, tilings
from mace_cl.kernels.timing import product_us
from mace_cl.kernels.vectors import ceil_div, pack_columns, pack_vector, vector_macros, width_for
from mace_cl.targets.facts import DeviceFacts


@dataclass(frozen=True, eq=False)
class Product:
    """y[m, n] = x[m, k] * matrix + bias, with the rows of x `steps` apart where they are not dense.

    Attributes:
        m, n, k: Sizes.
        matrix: Constants [k, n].
        bias: Constants [n], or None.
        steps: out_h, out_w, image step, row step, pixel step of a strided convolution, or empty.
    """

    m: int
    n: int
    k: int
    matrix: np.ndarray
    bias: np.ndarray | None
    steps: tuple[int, ...] = ()


def product_of(node: Node) -> Product | Refusal:
    """The product that a node is, or why it is none."""
    return _convolution(node) if isinstance(node.op, Conv) else _matmul(node)


def _convolution(node: Node) -> Product | Refusal:
    assert isinstance(node.op, Conv)
    s = window_of(node)
    if isinstance(s, Refusal):
        return s
    weights = node.input(1).data
    if weights is None:
        return Refusal("weights are not constant")
    if (s.kh, s.kw, s.groups) != (1, 1, 1) or not s.inside():
        return Refusal("not a 1x1 convolution without padding and groups")
    bias = constant_bias(node, s.co)
    if isinstance(bias, Refusal):
        return bias
    dense = (s.out_h, s.out_w) == (s.h, s.w)
    steps = () if dense else (s.out_h, s.out_w, s.h * s.w * s.ci, s.sh * s.w * s.ci, s.sw * s.ci)
    return Product(s.pixels, s.co, s.ci, weights.reshape(s.co, s.ci).T, bias, steps)


def _matmul(node: Node) -> Product | Refusal:
    op = node.op
    assert isinstance(op, MatMul)
    a, b = node.input(0), node.input(1)
    if reason := not_float32(a, b, node.output):
        return reason
    if b.data is None or any(d != 1 for d in b.shape[:-2]) or b.type.rank > a.type.rank:
        return Refusal("the right matrix is not one constant matrix")
    if op.transpose_a:
        return Refusal("the left matrix is transposed")
    matrix = b.data.reshape(b.shape[-2:])
    matrix = matrix.T if op.transpose_b else matrix
    k, n = matrix.shape
    bias = constant_bias(node, n)
    if isinstance(bias, Refusal):
        return bias
    return Product(a.type.elements // k, n, k, matrix, bias)


class Pointwise(Family):
    """Rows times packed constant columns."""

    name = "pointwise"
    operators = ("Conv", "MatMul")

    def match(self, graph: Graph, node: Node, facts: DeviceFacts) -> Match | Refusal:
        """A 1x1 convolution without padding and groups, or a product with one constant matrix on the right."""
        product = product_of(node)
        if isinstance(product, Refusal):
            return product
        epilogue = _epilogue(node)
        return epilogue if isinstance(epilogue, Refusal) else single(node)

    def space(self, match: Match, facts: DeviceFacts) -> Iterable[Config]:
        """Every tile, each with its best split."""
        default = self.default(match, facts)
        yield default
        product = _product(match)
        for width in sorted({width_for(product.n, facts, w) for w in (4, 8, 16)}):
            for t in tilings(product.m, ceil_div(product.n, width), facts, product.k, width):
                config = {"v": width, "mr": t.rows, "nb": t.block, "row_parts": t.row_parts,
                          "block_parts": t.block_parts}  # fmt: skip
                if config != default:
                    yield config

    def default(self, match: Match, facts: DeviceFacts) -> Config:
        """The tile with the fewest estimated cycles."""
        product = _product(match)
        width = width_for(product.n, facts)
        t = best_tiling(product.m, ceil_div(product.n, width), facts, product.k, width)
        return {"v": width, "mr": t.rows, "nb": t.block, "row_parts": t.row_parts, "block_parts": t.block_parts}

    def cost(self, match: Match, config: Config, facts: DeviceFacts) -> float:
        """Cycles of the busiest unit, or the time to read everything, and a launch."""
        p = _product(match)
        return product_us(p.m, ceil_div(p.n, config["v"]), p.k, config, node_cost(match.node), facts)

    def emit(self, match: Match, config: Config, facts: DeviceFacts) -> Sequence[KernelCall]:
        """One launch."""
        node, p = match.node, _product(match)
        epilogue = _epilogue(node)
        assert isinstance(epilogue, Epilogue)
        v, mr, nb = config["v"], config["mr"], config["nb"]
        blocks = ceil_div(p.n, v * nb)
        rows_per = ceil_div(p.m, config["row_parts"])
        blocks_per = ceil_div(blocks, config["block_parts"])
        chunk = max(facts.l2_bytes // 4 // (4 * p.k) // mr, 1) * mr
        grid = grid_of(facts, ceil_div(blocks, blocks_per), ceil_div(p.m, rows_per))
        macros = {**vector_macros(v), **epilogue.macros, "MR": mr, "NB": nb, "GROUP": grid.group}
        if p.steps:
            macros["STRIDED"] = ""
        numbers = (p.m, p.n, p.k, rows_per, min(chunk, rows_per), blocks_per, *p.steps)
        args: tuple[CallArg, ...] = (
            Read(node.input(0)),
            Weights(pack_columns(p.matrix, v, nb)),
            Weights(pack_vector(p.bias, p.n, v, nb), "bias"),
            Write(node.output),
            *epilogue.args,
            *(Scalar("int", i) for i in numbers),
        )
        spec = KernelSpec.of(self.name, macros)
        return [KernelCall(spec, args, grid.global_size, grid.local_size, node_cost(node))]


def _product(match: Match) -> Product:
    product = product_of(match.node)
    assert isinstance(product, Product)
    return product


def _epilogue(node: Node) -> Epilogue | Refusal:
    assert isinstance(node.op, Conv | MatMul)
    return epilogue_of(node.op.epilogue, node.inputs[3:], node.output)


FAMILY = Pointwise()
