"""Joining, cutting and padding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mace_cl.errors import ImportModelError
from mace_cl.graph import ops
from mace_cl.graph.core import Value
from mace_cl.importers.tensorflow.registry import NodeView, handles
from mace_cl.importers.tensorflow.shapes import reshaped


def _concat(view: NodeView, parts: Sequence[Value], axis_input: int) -> Value:
    if not parts:
        raise ImportModelError("joins nothing", where=view.where)
    axis = view.known_axis(axis_input, len(parts[0].shape))
    return parts[0] if len(parts) == 1 else view.add(ops.Concat(axis), *parts)


@handles("ConcatV2")
def concat_v2(view: NodeView) -> Value:
    """The values, then the axis."""
    return _concat(view, view.inputs[:-1], -1)


@handles("Concat")
def concat(view: NodeView) -> Value:
    """The axis, then the values."""
    return _concat(view, view.inputs[1:], 0)


@handles("Split")
def split(view: NodeView) -> Sequence[Value]:
    """axis, x; into num_split equal pieces."""
    x, count = view.input(1), view.attr_int("num_split")
    axis = view.known_axis(0, len(x.shape))
    if count < 1 or x.shape[axis] % count:
        raise ImportModelError(f"{x.shape[axis]} cannot be cut into {count} equal pieces", where=view.where)
    return view.add_all(ops.Split(axis, (x.shape[axis] // count,) * count), [x])


@handles("SplitV")
def split_v(view: NodeView) -> Sequence[Value]:
    """x, sizes (one may be -1), axis."""
    x, sizes = view.input(0), view.known_ints(1, "the sizes")
    axis = view.known_axis(2, len(x.shape))
    if sizes.count(-1) == 1:
        sizes[sizes.index(-1)] = x.shape[axis] - sum(sizes) - 1
    return view.add_all(ops.Split(axis, tuple(sizes)), [x])


@handles("Slice")
def slice_(view: NodeView) -> Value:
    """x, begin, size; a size of -1 goes to the end."""
    x, begin, size = view.input(0), view.known_ints(1, "the begin"), view.known_ints(2, "the size")
    if not len(begin) == len(size) == len(x.shape):
        raise ImportModelError(f"begin {begin} and size {size} do not fit {list(x.shape)}", where=view.where)
    sizes = tuple(d - b if s == -1 else s for d, b, s in zip(x.shape, begin, size, strict=True))
    return view.add(ops.Slice(tuple(begin), sizes, (1,) * len(begin)), x)


@dataclass(frozen=True)
class _Step:
    """What a strided slice does at one place of its specification; dim is None for a new dimension."""

    dim: int | None
    index: int | None
    """Place in the lists begin, end and strides; None where an ellipsis keeps a dimension whole."""


def _steps(view: NodeView, count: int, rank: int) -> Iterator[_Step]:
    """The specification with its ellipsis written out (at the end where there is none)."""
    ellipsis, new = view.attr_int("ellipsis_mask", 0), view.attr_int("new_axis_mask", 0)
    used = sum(1 for i in range(count) if not ((ellipsis | new) >> i) & 1)
    if used > rank or (ellipsis & ((1 << count) - 1)).bit_count() > 1:
        raise ImportModelError(f"slices {used} of {rank} dimensions", where=view.where)
    dim = 0
    for i in range(count):
        if (ellipsis >> i) & 1:
            for _ in range(rank - used):
                yield _Step(dim, None)
                dim += 1
        elif (new >> i) & 1:
            yield _Step(None, i)
        else:
            yield _Step(dim, i)
            dim += 1
    for rest in range(dim, rank):
        yield _Step(rest, None)


def _extent(view: NodeView, dim: int, index: int, spec: Sequence[Sequence[int]]) -> tuple[int, int, int]:
    """Start, size and step along a dimension of size `dim`."""
    begin, end, stride = (part[index] for part in spec)
    if stride == 0:
        raise ImportModelError("a stride is 0", where=view.where)
    if (view.attr_int("shrink_axis_mask", 0) >> index) & 1:
        return view.axis(begin, dim), 1, 1
    first = None if (view.attr_int("begin_mask", 0) >> index) & 1 else begin
    last = None if (view.attr_int("end_mask", 0) >> index) & 1 else end
    places = range(*slice(first, last, stride).indices(dim))
    return (places.start, len(places), stride) if len(places) else (0, 0, 1)


@handles("StridedSlice")
def strided_slice(view: NodeView) -> Value:
    """x, begin, end, strides; with masks that open ends, add, drop and skip dimensions."""
    x = view.input(0)
    spec = [view.known_ints(i, name) for i, name in enumerate(("the begin", "the end", "the strides"), 1)]
    if len({len(s) for s in spec}) != 1:
        raise ImportModelError("begin, end and strides are of different lengths", where=view.where)
    parts, shape = [], []
    for step in _steps(view, len(spec[0]), len(x.shape)):
        if step.dim is None:
            shape.append(1)
            continue
        dim = x.shape[step.dim]
        parts.append((0, dim, 1) if step.index is None else _extent(view, dim, step.index, spec))
        if step.index is None or not (view.attr_int("shrink_axis_mask", 0) >> step.index) & 1:
            shape.append(parts[-1][1])
    starts, sizes, strides = (tuple(p[i] for p in parts) for i in range(3))
    whole = sizes == x.shape and all(s == 1 for s in strides)
    cut = x if whole else view.add(ops.Slice(starts, sizes, strides), x)
    return reshaped(view, cut, tuple(shape))


def pairs(view: NodeView, index: int, what: str) -> tuple[tuple[int, int], ...]:
    """Input `index`, [n, 2], as pairs."""
    values = view.known_ints(index, what)
    return tuple(zip(values[::2], values[1::2], strict=True))


@handles("Pad", "PadV2")
def pad(view: NodeView) -> Value:
    """x, [(before, after)], the constant (PadV2)."""
    value = view.known(2, "the constant").reshape(-1)[0].item() if view.node.op == "PadV2" else 0.0
    return view.add(ops.Pad(pairs(view, 1, "the padding"), "constant", value), view.input(0))


@handles("MirrorPad")
def mirror_pad(view: NodeView) -> Value:
    """x, [(before, after)]."""
    return view.add(ops.Pad(pairs(view, 1, "the padding"), view.attr_text("mode").lower()), view.input(0))


@handles("ReverseV2", "Reverse")
def reverse(view: NodeView) -> Value:
    """x, axes (of Reverse: a bool for each dimension)."""
    x = view.input(0)
    listed = view.known_ints(1, "the axes")
    axes = {i for i, v in enumerate(listed) if v} if view.node.op == "Reverse" else {*listed}
    turned = {view.axis(a, len(x.shape)) for a in axes}
    starts = tuple(max(d - 1, 0) if i in turned else 0 for i, d in enumerate(x.shape))
    steps = tuple(-1 if i in turned else 1 for i in range(len(x.shape)))
    return view.add(ops.Slice(starts, x.shape, steps), x)


@handles("ReverseSequence")
def reverse_sequence(view: NodeView) -> Value:
    """x, lengths."""
    x = view.input(0)
    batch = view.axis(view.attr_int("batch_dim", 0), len(x.shape))
    time = view.axis(view.attr_int("seq_dim"), len(x.shape))
    return view.add(ops.ReverseSequence(batch, time), x, view.input(1))
