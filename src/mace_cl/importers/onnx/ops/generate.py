"""Constants, and what is known once shapes are."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from mace_cl.errors import ImportModelError, ShapeError, UnsupportedError
from mace_cl.graph import Value, ops
from mace_cl.importers.onnx.context import Context, axis_of
from mace_cl.importers.onnx.registry import handles
from mace_cl.importers.onnx.tensors import MAX_ELEMENTS
from mace_cl.types import DataType

MAX_MADE = 2**27
"""Elements of a tensor that is made here, and kept."""

_FORMS: dict[str, Callable[[Context], np.ndarray]] = {
    "value": lambda ctx: ctx.attr_tensor("value"),
    "sparse_value": lambda ctx: ctx.attr_sparse("sparse_value"),
    "value_float": lambda ctx: np.array(ctx.attr_float("value_float"), np.float32),
    "value_floats": lambda ctx: np.array(ctx.attr_floats("value_floats"), np.float32),
    "value_int": lambda ctx: np.array(ctx.attr_int("value_int"), np.int64),
    "value_ints": lambda ctx: np.array(ctx.attr_ints("value_ints"), np.int64),
}


@handles("Constant")
def constant(ctx: Context) -> Value:
    """One of several forms."""
    if ctx.has("value_string") or ctx.has("value_strings"):
        raise UnsupportedError("tensors of string are not supported")
    given = [form for form in _FORMS if ctx.has(form)]
    if len(given) != 1:
        raise ImportModelError(f"has {len(given)} values instead of one")
    return ctx.constant(_FORMS[given[0]](ctx))


@handles("ConstantOfShape")
def constant_of_shape(ctx: Context) -> Value:
    """One value everywhere, float 0 by default."""
    shape = ctx.ints(0, "input")
    if any(d < 0 for d in shape) or math.prod(shape) > MAX_ELEMENTS:
        raise ShapeError(f"shape {list(shape)} is negative or too large")
    value = ctx.attr_tensor("value") if ctx.has("value") else np.zeros(1, np.float32)
    if value.size != 1:
        raise ImportModelError(f"value has {value.size} elements instead of 1")
    return ctx.emit(ops.Expand(shape), ctx.constant(value.reshape(())))


@handles("Range")
def arange(ctx: Context) -> Value:
    """start, start + delta ... before limit."""
    start, limit, delta = (ctx.number(i, name) for i, name in enumerate(("start", "limit", "delta")))
    if delta == 0:
        raise ShapeError("delta is 0")
    count = max(math.ceil((limit - start) / delta), 0)
    if count > MAX_MADE:
        raise ShapeError(f"{count} elements are too many")
    kind = ctx.value(0).dtype.numpy
    if kind.kind in "iu":
        return ctx.constant((np.arange(count, dtype=np.int64) * int(delta) + int(start)).astype(kind))
    return ctx.constant((np.arange(count, dtype=np.float64) * float(delta) + float(start)).astype(kind))


@handles("EyeLike")
def eye_like(ctx: Context) -> Value:
    """Ones on a diagonal."""
    x = ctx.value(0)
    if x.type.rank != 2:
        raise ShapeError(f"{x.type} is no matrix")
    kind = ctx.attr_type("dtype", x.dtype)
    rows, columns = x.shape
    if rows * columns > MAX_MADE:
        raise ShapeError(f"{rows * columns} elements are too many")
    return ctx.constant(np.eye(rows, columns, ctx.attr_int("k", 0)).astype(kind.numpy))


@handles("NonZero")
def non_zero(ctx: Context) -> Value:
    """Where a known tensor is not zero: the result's shape depends on its data."""
    found = np.nonzero(np.atleast_1d(ctx.array(0, "X")))
    return ctx.constant(np.array(found, np.int64).reshape(len(found), -1))


@handles("Compress")
def compress(ctx: Context) -> Value:
    """Slices that a known condition keeps."""
    x = ctx.value(0)
    kept = np.flatnonzero(ctx.array(1, "condition"))
    if not ctx.has("axis"):
        x = ctx.emit(ops.Reshape((x.type.elements,)), x)
    axis = axis_of(ctx.attr_int("axis", 0), x.type.rank)
    return ctx.emit(ops.Gather(axis), x, ctx.constant(kept.astype(DataType.INT64.numpy)))
