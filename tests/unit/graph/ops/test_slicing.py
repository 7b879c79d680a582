"""Joining, cutting and padding, against NumPy and element by element."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mace_cl import errors
from mace_cl.graph import ops
from mace_cl.types import type_of
from support.onnx_reference import run_onnx


def apply_all(op: ops.Operator, *arrays: np.ndarray) -> list[np.ndarray]:
    """The operator's results, which must have the inferred types."""
    results = op.reference(arrays)
    assert [type_of(r) for r in results] == list(op.infer([type_of(a) for a in arrays]))
    return list(results)


def apply(op: ops.Operator, *arrays: np.ndarray) -> np.ndarray:
    """The operator's only result."""
    (result,) = apply_all(op, *arrays)
    return result


def counted(*shape: int) -> np.ndarray:
    """1, 2, 3 ... in the shape."""
    return np.arange(1, int(np.prod(shape)) + 1, dtype=np.float32).reshape(shape)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_concat_and_split_are_inverse(axis: int) -> None:
    x = counted(4, 5, 6)
    sizes = (1, 0, x.shape[axis] - 1)
    pieces = apply_all(ops.Split(axis, sizes), x)
    assert [p.shape[axis] for p in pieces] == list(sizes)
    np.testing.assert_array_equal(apply(ops.Concat(axis), *pieces), x)


def test_concat_refuses_what_does_not_fit() -> None:
    a = type_of(counted(2, 3))
    for other, why in [
        (counted(3, 3, 1), "differs from input 0"),
        (counted(2, 4), "differs"),
        (np.ones((2, 3)), "type"),
    ]:
        with pytest.raises(errors.ShapeError, match=why):
            ops.Concat(0).infer([a, type_of(other)])
    with pytest.raises(errors.ShapeError, match=r"axis 2 is outside of \[0, 2\)"):
        ops.Concat(2).infer([a, a])


@pytest.mark.parametrize("sizes", [(), (1, 1), (-1, 4), (4,)])
def test_split_refuses_other_sums(sizes: tuple[int, ...]) -> None:
    with pytest.raises(errors.ShapeError, match="do not add up to 3"):
        ops.Split(1, sizes).infer([type_of(counted(2, 3))])


@settings(max_examples=50)
@given(st.data())
def test_slice_takes_the_elements_it_names(data: st.DataObject) -> None:
    dim = data.draw(st.integers(1, 6))
    start = data.draw(st.integers(0, dim - 1))
    step = data.draw(st.sampled_from([-3, -2, -1, 1, 2, 3]))
    most = (dim - 1 - start) // step + 1 if step > 0 else start // -step + 1
    size = data.draw(st.integers(0, most))
    x = counted(2, dim)
    y = apply(ops.Slice((0, start), (2, size), (1, step)), x)
    assert y.tolist() == [[x[r, start + i * step] for i in range(size)] for r in range(2)]


def test_slice_of_an_empty_dimension() -> None:
    assert apply(ops.Slice((0, 0), (0, 2), (1, 1)), counted(0, 2)).shape == (0, 2)


@pytest.mark.parametrize(
    ("start", "size", "step"), [(3, 1, 1), (0, 4, 1), (1, 3, -1), (0, 1, 0), (-1, 1, 1), (0, -1, 1)]
)
def test_slice_outside_is_refused(start: int, size: int, step: int) -> None:
    with pytest.raises(errors.ShapeError, match="dimension 0 of 3 has no"):
        ops.Slice((start,), (size,), (step,)).infer([type_of(counted(3))])


@pytest.mark.parametrize("mode", ["reflect", "symmetric", "edge", "wrap"])
@settings(max_examples=40)
@given(dim=st.integers(1, 5), before=st.integers(0, 12), after=st.integers(0, 12))
def test_pad_is_numpys(mode: str, dim: int, before: int, after: int) -> None:
    x = counted(2, dim)
    pads = ((0, 0), (before, after))
    np.testing.assert_array_equal(apply(ops.Pad(pads, mode), x), np.pad(x, pads, mode))  # type: ignore[call-overload]


@settings(max_examples=50)
@given(dim=st.integers(0, 5), before=st.integers(-8, 8), after=st.integers(-8, 8))
def test_constant_pad_shifts_each_element(dim: int, before: int, after: int) -> None:
    x, op = counted(dim), ops.Pad(((before, after),), value=-1)
    size = dim + before + after
    if size < 0:
        with pytest.raises(errors.ShapeError, match="cut more than dimension 0"):
            op.infer([type_of(x)])
        return
    expected = [x[i - before] if 0 <= i - before < dim else -1 for i in range(size)]
    assert apply(op, x).tolist() == expected


@pytest.mark.parametrize("mode", ["reflect", "symmetric", "edge", "wrap"])
@pytest.mark.parametrize("pads", [(-2, 3), (3, -2), (-1, -1), (-5, 0)])
def test_negative_pads_cut_first(mode: str, pads: tuple[int, int]) -> None:
    x = counted(6)
    kept = x[max(-pads[0], 0) : 6 - max(-pads[1], 0)]
    expected = np.pad(kept, (max(pads[0], 0), max(pads[1], 0)), mode)  # type: ignore[call-overload]
    np.testing.assert_array_equal(apply(ops.Pad((pads,), mode), x), expected)


def test_pad_keeps_integers_and_bools() -> None:
    assert apply(ops.Pad(((1, 0),), value=2**62), np.array([3], np.int64)).tolist() == [2**62, 3]
    assert apply(ops.Pad(((1, 0),), value=1.0), np.array([False])).tolist() == [True, False]


def test_pad_refuses_what_has_no_meaning() -> None:
    with pytest.raises(errors.ShapeError, match="mode is 'mirror', not one of constant, reflect"):
        ops.Pad(((0, 0),), "mirror").infer([type_of(counted(2))])
    with pytest.raises(errors.ShapeError, match="no element to pad with"):
        ops.Pad(((1, 0),), "edge").infer([type_of(counted(0))])
    with pytest.raises(errors.ShapeError, match="cut more"):
        ops.Pad(((-3, 4),), "wrap").infer([type_of(counted(2))])
    with pytest.raises(errors.ShapeError, match="pads has 1 entries for 2 dimensions"):
        ops.Pad(((0, 0),)).infer([type_of(counted(2, 2))])


@pytest.mark.parametrize("k", [-5, -1, 0, 1, 5])
@pytest.mark.parametrize("upper", [True, False])
@pytest.mark.parametrize("shape", [(3, 4), (2, 4, 3), (0, 3), (2, 0, 3)])
def test_trilu(upper: bool, k: int, shape: tuple[int, ...]) -> None:
    x = counted(*shape)
    y = apply(ops.Trilu(upper, k), x)
    for place in np.ndindex(x.shape):
        kept = place[-1] - place[-2] >= k if upper else place[-1] - place[-2] <= k
        assert y[place] == (x[place] if kept else 0)


def test_trilu_needs_a_matrix() -> None:
    with pytest.raises(errors.ShapeError, match="two dimensions at least"):
        ops.Trilu().infer([type_of(counted(3))])


@pytest.mark.parametrize(("batch_axis", "time_axis"), [(1, 0), (0, 1)])
def test_reverse_sequence(batch_axis: int, time_axis: int) -> None:
    x = counted(4, 4, 2)
    lengths = np.array([1, 2, 3, 4], np.int64)
    (expected,) = run_onnx("ReverseSequence", [x, lengths], batch_axis=batch_axis, time_axis=time_axis)
    np.testing.assert_array_equal(apply(ops.ReverseSequence(batch_axis, time_axis), x, lengths), expected)


def test_reverse_sequence_over_other_axes() -> None:
    x = counted(2, 3, 4)
    y = apply(ops.ReverseSequence(batch_axis=2, time_axis=1), x, np.array([0, 1, 2, 3], np.int32))
    for i, b in np.ndindex(2, 4):
        assert y[i, :, b].tolist() == [*x[i, :b, b][::-1], *x[i, b:, b]]


def test_reverse_sequence_refuses_bad_lengths() -> None:
    x = counted(2, 3)
    op = ops.ReverseSequence(0, 1)
    with pytest.raises(errors.ShapeError, match=r"length 4 is outside of \[0, 3\]"):
        op.reference([x, np.array([4, 0])])
    with pytest.raises(errors.ShapeError, match=r"lengths is \[3\], not \[2\]"):
        op.infer([type_of(x), type_of(np.array([1, 1, 1]))])
    with pytest.raises(errors.ShapeError, match="are both 1"):
        ops.ReverseSequence(1, 1).infer([type_of(x), type_of(np.array([1, 1]))])
