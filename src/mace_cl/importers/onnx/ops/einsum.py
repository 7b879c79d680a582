"""Einsum as transposes, reshapes, sums and matrix products."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from mace_cl.errors import ImportModelError, ShapeError
from mace_cl.graph import Value, ops
from mace_cl.importers.onnx.context import Context
from mace_cl.importers.onnx.registry import handles

_TERM = re.compile(r"([A-Za-z]*)(\.\.\.)?([A-Za-z]*)")


@dataclass(frozen=True)
class Term:
    """A tensor and the label of each of its dimensions; those of an ellipsis are digits, counted from the end."""

    value: Value
    labels: tuple[str, ...]

    def size(self, label: str) -> int:
        """Size along a label; 1 where the tensor does not have it."""
        return self.value.shape[self.labels.index(label)] if label in self.labels else 1


@handles("Einsum")
def einsum(ctx: Context) -> Value:
    """Two operands at a time, from the left."""
    values = ctx.values()
    inputs, output = _parsed(ctx.attr_text("equation"), [v.type.rank for v in values])
    terms = [_without_repeats(ctx, Term(v, labels)) for v, labels in zip(values, inputs, strict=True)]
    _check_sizes(terms)
    total = terms[0]
    for i, term in enumerate(terms[1:], 2):
        kept = set(output).union(*(t.labels for t in terms[i:]))
        total = _product(ctx, total, term, kept)
    return _arranged(ctx, _summed(ctx, total, set(output)), output).value


def _parsed(equation: str, ranks: Sequence[int]) -> tuple[list[tuple[str, ...]], tuple[str, ...]]:
    """The labels of each operand, and of the output."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    texts = left.split(",")
    if len(texts) != len(ranks):
        raise ImportModelError(f"equation {equation!r} has {len(texts)} operands, the node {len(ranks)}")
    inputs = [_labels(text, rank) for text, rank in zip(texts, ranks, strict=True)]
    depth = max((sum(label.isdigit() for label in labels) for labels in inputs), default=0)
    if arrow:
        spread = depth if "..." in right else 0
        return inputs, _labels(right, len(right.replace("...", "")) + spread)
    counts = Counter(label for labels in inputs for label in labels)
    free = sorted(label for label, count in counts.items() if count == 1 and not label.isdigit())
    return inputs, (*_digits(depth), *free)


def _labels(text: str, rank: int) -> tuple[str, ...]:
    match = _TERM.fullmatch(text)
    if match is None:
        raise ImportModelError(f"{text!r} is no list of labels")
    before, dots, after = match.groups()
    rest = rank - len(before) - len(after)
    if rest < 0 or (rest > 0 and not dots):
        raise ShapeError(f"labels {text!r} do not fit {rank} dimensions")
    return (*before, *_digits(rest), *after)


def _digits(count: int) -> tuple[str, ...]:
    return tuple(str(i) for i in reversed(range(count)))


def _check_sizes(terms: Sequence[Term]) -> None:
    for label in {label for t in terms for label in t.labels}:
        sizes = {t.size(label) for t in terms} - {1}
        if len(sizes) > 1:
            raise ShapeError(f"label {label!r} stands for sizes {sorted(sizes)}")


def _without_repeats(ctx: Context, term: Term) -> Term:
    """A label that stands twice takes the diagonal."""
    for label in dict.fromkeys(term.labels):
        while term.labels.count(label) > 1:
            first = term.labels.index(label)
            second = term.labels.index(label, first + 1)
            term = _diagonal(ctx, term, first, second)
    return term


def _diagonal(ctx: Context, term: Term, first: int, second: int) -> Term:
    rest = [i for i in range(len(term.labels)) if i not in (first, second)]
    shape = term.value.shape
    n = shape[first]
    if shape[second] != n:
        raise ShapeError(f"label {term.labels[first]!r} stands for sizes {n} and {shape[second]}")
    outer = tuple(shape[i] for i in rest)
    value = ctx.emit(ops.Transpose((*rest, first, second)), term.value)
    value = ctx.emit(ops.Reshape((*outer, n * n)), value)
    zeros, ones = (0,) * len(outer), (1,) * len(outer)
    # In the flattened square, the diagonal is every (n + 1)th element.
    value = ctx.emit(ops.Slice((*zeros, 0), (*outer, n), (*ones, n + 1)), value)
    return Term(value, (*(term.labels[i] for i in rest), term.labels[first]))


def _summed(ctx: Context, term: Term, kept: set[str]) -> Term:
    """Summed over every label that is not kept."""
    axes = tuple(i for i, label in enumerate(term.labels) if label not in kept)
    if not axes:
        return term
    labels = tuple(label for label in term.labels if label in kept)
    return Term(ctx.emit(ops.ReduceSum(axes, False), term.value), labels)


def _arranged(ctx: Context, term: Term, labels: Sequence[str]) -> Term:
    """The dimensions in the order of `labels`; those that the tensor lacks have size 1."""
    order = tuple(term.labels.index(label) for label in labels if label in term.labels)
    if len(order) != len(term.labels):
        raise ImportModelError(f"the output repeats a label, or misses one ({''.join(labels)})")
    value = term.value
    if order != tuple(range(len(order))):
        value = ctx.emit(ops.Transpose(order), value)
    if len(order) != len(labels):
        if any(not label.isdigit() for label in labels if label not in term.labels):
            raise ImportModelError(f"the output has a label that no operand has ({''.join(labels)})")
        value = ctx.emit(ops.Reshape(tuple(term.size(label) for label in labels)), value)
    return Term(value, tuple(labels))


def _product(ctx: Context, a: Term, b: Term, kept: set[str]) -> Term:
    """The product of two tensors, summed over what nobody needs any more."""
    a = _summed(ctx, a, kept | set(b.labels))
    b = _summed(ctx, b, kept | set(a.labels))
    shared = [label for label in a.labels if label in b.labels]
    batch = [label for label in shared if label in kept]
    inner = [label for label in shared if label not in kept]
    rows = [label for label in a.labels if label not in shared]
    columns = [label for label in b.labels if label not in shared]
    left = _arranged(ctx, a, [*batch, *rows, *inner])
    right = _arranged(ctx, b, [*batch, *inner, *columns])
    for label in inner:
        size = max(a.size(label), b.size(label))
        left, right = (_expanded(ctx, t, label, size) for t in (left, right))
    k, m, n = (math.prod(t.size(x) for x in labels) for t, labels in ((left, inner), (left, rows), (right, columns)))
    sizes = [max(left.size(x), right.size(x)) if left.size(x) and right.size(x) else 0 for x in batch]
    value = ctx.emit(
        ops.MatMul() if inner else ops.Mul(),
        ctx.emit(ops.Reshape((*(left.size(x) for x in batch), m, k)), left.value),
        ctx.emit(ops.Reshape((*(right.size(x) for x in batch), k, n)), right.value),
    )
    shape = (*sizes, *(left.size(x) for x in rows), *(right.size(x) for x in columns))
    return Term(ctx.emit(ops.Reshape(shape), value), (*batch, *rows, *columns))


def _expanded(ctx: Context, term: Term, label: str, size: int) -> Term:
    """A dimension of 1 repeated to the other operand's size."""
    if term.size(label) == size:
        return term
    shape = tuple(size if x == label else d for x, d in zip(term.labels, term.value.shape, strict=True))
    return Term(ctx.emit(ops.Expand(shape), term.value), term.labels)
