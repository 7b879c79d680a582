"""Elementwise kernels against the references, on every runtime."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mace_cl.graph import ops
from mace_cl.graph.ops import Add, Cast, Clip, Div, Expression, FusedElementwise, Literal, Mul, Relu, Where
from mace_cl.kernels.elementwise import FAMILY
from mace_cl.types import DataType
from support.kernel_runner import check_family, one_node

FLOAT_OPS = [
    n for n in FAMILY.operators
    if n not in ("FusedElementwise", "Where", "Cast", "Not", "And", "Or", "Xor", "BitShift", "Mod")
    and not n.startswith(("Bitwise", "Is"))
]  # fmt: skip
SHAPES = [
    ((), ()), ((7,), ()), ((2, 3, 5), (5,)), ((4, 1, 6), (1, 3, 1)), ((1, 9, 7, 33), (33,)),
    ((2, 5, 6, 8), (2, 1, 1, 8)),
    ((2, 5, 6, 3), (2, 5, 6, 1)), ((3, 1, 2, 1, 4), (1, 5, 1, 3, 4)), ((1, 40, 40, 24), (1, 40, 40, 24)),
]  # fmt: skip


def floats(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Positive numbers, so that every function is defined, and not near 0."""
    return rng.uniform(0.1, 0.9, shape).astype(np.float32)


@pytest.mark.parametrize("name", FLOAT_OPS)
def test_every_operator(name: str) -> None:
    rng = np.random.default_rng(1)
    op = getattr(ops, name)()
    arrays = [floats(rng, (3, 17)) + (1.0 if name == "Acosh" else 0.0) for _ in range(op.n_inputs[0])]
    check_family(FAMILY, *one_node(op, [a.astype(np.float32) for a in arrays]), rtol=2e-6)


@pytest.mark.parametrize(("a", "b"), SHAPES)
def test_broadcasting(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    rng = np.random.default_rng(2)
    check_family(FAMILY, *one_node(Mul(), [floats(rng, a), floats(rng, b)], constants=[1]), rtol=1e-6)


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_random_broadcasts(data: st.DataObject) -> None:
    shape = tuple(data.draw(st.lists(st.integers(1, 6), max_size=6)))
    sides = [tuple(d if data.draw(st.booleans()) else 1 for d in shape) for _ in range(2)]
    rng = np.random.default_rng(3)
    check_family(FAMILY, *one_node(Add(), [floats(rng, s) for s in sides]), rtol=1e-6)


def test_fused_chain() -> None:
    rng = np.random.default_rng(4)
    steps = ((Literal(2.5), ()), (Mul(), (0, 3)), (Add(), (4, 1)), (Relu(), (5,)), (Div(), (6, 2)))
    op = FusedElementwise(Expression(3, steps))
    arrays = [floats(rng, (2, 7, 9)) - 0.5, floats(rng, (9,)), floats(rng, (2, 1, 1))]
    check_family(FAMILY, *one_node(op, arrays), rtol=2e-6)


@pytest.mark.parametrize("dtype", [t for t in DataType if t.is_integer])
@pytest.mark.parametrize(
    "op", [Add(), Mul(), Div(), ops.Max(), ops.FloorDiv(), ops.Mod(), ops.Greater(), ops.BitwiseXor()]
)
def test_integers(op: object, dtype: DataType) -> None:
    rng = np.random.default_rng(5)
    low = 0 if dtype.value.startswith("u") else -100
    arrays = [rng.integers(low, 100, (5, 6)).astype(dtype.numpy) for _ in range(2)]
    arrays[1][arrays[1] == 0] = 1
    check_family(FAMILY, *one_node(op, arrays))


@pytest.mark.parametrize("source", list(DataType))
@pytest.mark.parametrize("target", list(DataType))
def test_casts(source: DataType, target: DataType) -> None:
    rng = np.random.default_rng(6)
    array = rng.uniform(0, 100, (3, 5)).astype(source.numpy)
    check_family(FAMILY, *one_node(Cast(target), [array]), rtol=1e-3 if target is DataType.FLOAT16 else 1e-6,
                 facts_changes={"has_fp64": True})  # fmt: skip


def test_where_and_integer_clip() -> None:
    rng = np.random.default_rng(7)
    condition = rng.integers(0, 2, (4, 1)).astype(bool)
    check_family(FAMILY, *one_node(Where(), [condition, floats(rng, (4, 5)), floats(rng, (5,))]), rtol=1e-6)
    numbers = rng.integers(-(2**62), 2**62, (50,))
    check_family(FAMILY, *one_node(Clip(-1000.0, 2.0**61), [numbers]))
