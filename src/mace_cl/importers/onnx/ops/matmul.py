"""Matrix products."""

from __future__ import annotations

from mace_cl.errors import ShapeError
from mace_cl.graph import Value, ops
from mace_cl.importers.onnx.context import Context
from mace_cl.importers.onnx.registry import handles


@handles("MatMul")
def matmul(ctx: Context) -> Value:
    """As NumPy's: a vector is a row on the left and a column on the right."""
    a, b = ctx.value(0), ctx.value(1)
    left, right = a.type.rank == 1, b.type.rank == 1
    if left:
        a = ctx.emit(ops.Reshape((1, *a.shape)), a)
    if right:
        b = ctx.emit(ops.Reshape((*b.shape, 1)), b)
    y = ctx.emit(ops.MatMul(), a, b)
    if left or right:
        rest, (m, n) = y.shape[:-2], y.shape[-2:]
        y = ctx.emit(ops.Reshape((*rest, *(() if left else (m,)), *(() if right else (n,)))), y)
    return y


@handles("Gemm")
def gemm(ctx: Context) -> Value:
    """alpha a b + beta c, each matrix transposed where asked for."""
    a, b, c = ctx.value(0), ctx.value(1), ctx.optional(2)
    if a.type.rank != 2 or b.type.rank != 2:
        raise ShapeError(f"a {a.type} and b {b.type} must be matrices")
    alpha, beta = ctx.attr_float("alpha", 1.0), ctx.attr_float("beta", 1.0)
    op = ops.MatMul(ctx.attr_bool("transA"), ctx.attr_bool("transB"))
    if c is not None and beta != 1.0:
        c = ctx.emit(ops.Mul(), c, ctx.scalar(beta, c))
    if alpha != 1.0 and b.data is not None:
        # Known weights take the factor at no cost.
        b, alpha = ctx.emit(ops.Mul(), b, ctx.scalar(alpha, b)), 1.0
    if alpha == 1.0:
        return ctx.emit(op, a, b, c)
    y = ctx.emit(op, a, b)
    y = ctx.emit(ops.Mul(), y, ctx.scalar(alpha, y))
    return y if c is None else ctx.emit(ops.Add(), y, c)
