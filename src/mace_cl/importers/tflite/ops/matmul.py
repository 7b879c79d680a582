"""Matrix multiplications."""

from __future__ import annotations

import tflite

from mace_cl.errors import ShapeError, UnsupportedError
from mace_cl.graph import Value
from mace_cl.graph.ops import MatMul, Reshape
from mace_cl.importers.tflite.context import Context, fill_shape
from mace_cl.importers.tflite.padding import activate
from mace_cl.importers.tflite.registry import handles


@handles("FULLY_CONNECTED")
def fully_connected(ctx: Context) -> Value:
    """Operands: x [..., K], weights [N, K], bias [N]. x becomes [-1, K] unless its dimensions are kept."""
    o = ctx.options("FullyConnectedOptions")
    if o.integer("WeightsFormat") != tflite.FullyConnectedOptionsWeightsFormat.DEFAULT:
        raise UnsupportedError("shuffled weights (SHUFFLED4x16INT8) are not supported")
    x, weights = ctx.value(0), ctx.spatial(1, 2)
    k = weights.shape[1]
    if o.flag("KeepNumDims"):
        result = (*x.shape[:-1], weights.shape[0])
        if x.type.rank < 1 or x.shape[-1] != k:
            raise ShapeError(f"weights for {k} features do not fit an input of {list(x.shape)}")
    else:
        rows = fill_shape((-1, k), x.type.elements, "rows of features")[0]
        result = (rows, weights.shape[0])
    if x.type.rank < 2 or len(result) != x.type.rank or x.shape[-1] != k:
        x = _reshape(ctx, x, fill_shape((-1, k), x.type.elements))
    value = ctx.emit(MatMul(transpose_b=True), x, weights, ctx.optional(2))
    return activate(ctx, _reshape(ctx, value, result), o)


@handles("BATCH_MATMUL")
def batch_matmul(ctx: Context) -> Value:
    """Operands: a [..., M, K], b [..., K, N], or their transposes."""
    o = ctx.options("BatchMatMulOptions")
    a, b = ctx.value(0), ctx.value(1)
    if min(a.type.rank, b.type.rank) < 2:
        raise ShapeError(f"needs two matrices, not {list(a.shape)} and {list(b.shape)}")
    return ctx.emit(MatMul(o.flag("AdjX"), o.flag("AdjY")), a, b)


def _reshape(ctx: Context, value: Value, shape: tuple[int, ...]) -> Value:
    return value if value.shape == shape else ctx.emit(Reshape(shape), value)
