"""Constants of every element type, dense and sparse, inside and behind the flatbuffer."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mace_cl.errors import ImportModelError, UnsupportedError
from mace_cl.graph.evaluate import evaluate_graph
from mace_cl.importers.tflite.records import Dimension, Sparsity
from mace_cl.importers.tflite.sparsity import densify
from support.tflite_builder import TYPES, Level, ModelBuilder, Sparse
from support.tflite_run import import_bytes


def constant_model(array: np.ndarray, type_: str, data: bytes, **more: object) -> bytes:
    """A model whose output is the constant, by way of a concatenation with an input."""
    m = ModelBuilder()
    x = m.tensor("x", array.shape, type_)
    c = m.tensor("c", array.shape, type_, data=data, **more)
    y = m.tensor("y", (2 * array.shape[0], *array.shape[1:]), type_)
    m.operator("CONCATENATION", [c, x], [y], "ConcatenationOptions", Axis=0)
    return m.build([x], [y])


@pytest.mark.parametrize("dtype", TYPES)
def test_every_element_type(dtype: str) -> None:
    values = np.asarray([0, 1, 5, 100]).astype(dtype)
    graph = import_bytes(constant_model(values, TYPES[dtype], values.tobytes()))
    out = evaluate_graph(graph, {"x": values}, dtype=None)["y"]
    assert out.dtype == values.dtype
    np.testing.assert_array_equal(out, np.concatenate([values, values]))


def widened_constant(type_: str, shape: tuple[int, ...], data: bytes) -> np.ndarray:
    m = ModelBuilder()
    c = m.tensor("c", shape, type_, data=data)
    y = m.tensor("y", shape, "FLOAT32")
    m.operator("CAST", [c], [y], "CastOptions")
    graph = import_bytes(m.build([], [y]))
    found = graph.outputs["y"].data
    assert found is not None
    return found


def test_bfloat16_is_widened_exactly() -> None:
    values = np.asarray([1.0, -2.5, 3.140625, 1e30, -0.0], np.float32)
    kept = (values.view(np.uint32) >> 16).astype(np.uint16)
    expected = (kept.astype(np.uint32) << 16).view(np.float32)
    np.testing.assert_array_equal(widened_constant("BFLOAT16", (5,), kept.tobytes()), expected)


@pytest.mark.parametrize(("type_", "first"), [("INT4", [-8, 7, -1, 3, 5]), ("UINT4", [0, 15, 8, 7, 1])])
def test_packed_integers_lie_low_bits_first(type_: str, first: list[int]) -> None:
    nibbles = [v & 15 for v in first] + [0]
    data = bytes(a | b << 4 for a, b in zip(nibbles[::2], nibbles[1::2], strict=True))
    np.testing.assert_array_equal(widened_constant(type_, (5,), data), first)


def test_two_bit_integers() -> None:
    np.testing.assert_array_equal(widened_constant("INT2", (4,), bytes([0b10_11_01_00])), [0, 1, -1, -2])


@pytest.mark.parametrize("type_", ["STRING", "COMPLEX64", "RESOURCE", "VARIANT"])
def test_types_without_a_counterpart_are_refused(type_: str) -> None:
    m = ModelBuilder()
    c = m.tensor("c", (1,), type_, data=bytes(8))
    y = m.tensor("y", (1,), "FLOAT32")
    m.operator("CAST", [c], [y], "CastOptions")
    with pytest.raises(UnsupportedError, match=type_):
        import_bytes(m.build([], [y]))


@pytest.mark.parametrize("size", [0, 11, 13, 16])
def test_data_of_the_wrong_size_is_refused(size: int) -> None:
    values = np.zeros(3, np.float32)
    with pytest.raises(ImportModelError):
        import_bytes(constant_model(values, "FLOAT32", bytes(size)))


def test_data_behind_the_flatbuffer() -> None:
    m = ModelBuilder(external_buffers=True)
    weights = np.arange(12, dtype=np.float32).reshape(3, 4)
    x, y = m.tensor("x", (2, 4)), m.tensor("y", (2, 3))
    w = m.constant("w", weights)
    m.operator("FULLY_CONNECTED", [x, w, -1], [y], "FullyConnectedOptions")
    data = m.build([x], [y])
    x_ = np.ones((2, 4), np.float32)
    np.testing.assert_allclose(evaluate_graph(import_bytes(data), {"x": x_})["y"], x_ @ weights.T)
    with pytest.raises(ImportModelError, match="behind the file"):
        import_bytes(data[:-8])


# -- sparse tensors -------------------------------------------------------------------------------------------


def sparsify(
    dense: np.ndarray, order: list[int], compressed: list[bool], blocks: dict[int, int]
) -> tuple[np.ndarray, list[Level], list[int]]:
    """The dense tensor's levels and values: the inverse of what is tested, written by recursion over levels.

    Args:
        dense: The tensor.
        order: Levels' dimensions; those from the rank on are blocks'.
        compressed: For each level whether it lists its indices; the others are dense.
        blocks: Dimension to the size of its blocks, in order of the block map.
    """
    rank = dense.ndim
    block_dims = list(blocks)
    sizes = [n // blocks.get(d, 1) for d, n in enumerate(dense.shape)] + [blocks[d] for d in block_dims]
    levels: list[tuple[list[int], list[int]]] = [([0], []) for _ in order]
    values: list[float] = []

    def element(index: dict[int, int]) -> tuple[int, ...]:
        full = []
        for d in range(rank):
            at = index[d]
            if d in blocks:
                at = at * blocks[d] + index[rank + block_dims.index(d)]
            full.append(at)
        return tuple(full)

    def is_zero(index: dict[int, int], level: int) -> bool:
        rest = [range(sizes[d]) for d in order[level:]]
        return all(
            dense[element({**index, **dict(zip(order[level:], tail, strict=True))})] == 0
            for tail in itertools.product(*rest)
        )

    def visit(index: dict[int, int], level: int) -> None:
        if level == len(order):
            values.append(dense[element(index)])
            return
        segments, indices = levels[level]
        for i in range(sizes[order[level]]):
            below = {**index, order[level]: i}
            if not compressed[level] or not is_zero(below, level + 1):
                indices.append(i)
                visit(below, level + 1)
        segments.append(len(indices))

    visit({}, 0)
    made = [
        Level(0, np.asarray(s, np.int32), np.asarray(i, np.int32)) if c else Level(sizes[d])
        for d, c, (s, i) in zip(order, compressed, levels, strict=True)
    ]
    return np.asarray(values, dense.dtype), made, block_dims


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_densify_undoes_sparsify(data: st.DataObject) -> None:
    rank = data.draw(st.integers(1, 3))
    blocks = {d: data.draw(st.sampled_from([2, 3])) for d in range(rank) if data.draw(st.booleans())}
    shape = tuple(data.draw(st.integers(1, 3)) * blocks.get(d, 1) for d in range(rank))
    seed = data.draw(st.integers(0, 2**16))
    rng = np.random.default_rng(seed)
    dense = (rng.normal(size=shape) * (rng.uniform(size=shape) < 0.3)).astype(np.float32)
    order = [*data.draw(st.permutations(range(rank))), *range(rank, rank + len(blocks))]
    compressed = [data.draw(st.booleans()) for _ in range(rank)] + [False] * len(blocks)
    values, levels, block_map = sparsify(dense, order, compressed, blocks)
    sparsity = Sparsity(
        tuple(order),
        tuple(block_map),
        tuple(
            Dimension(lv.dense_size) if lv.segments is None else Dimension(None, lv.segments, lv.indices)
            for lv in levels
        ),
    )
    np.testing.assert_array_equal(densify(values, sparsity, shape), dense)


@pytest.mark.parametrize("kind", ["int32", "uint16", "uint8"])
@pytest.mark.parametrize("through_densify", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float16", "int8"])
def test_sparse_weights(kind: str, through_densify: bool, dtype: str) -> None:
    rng = np.random.default_rng(0)
    dense = (rng.integers(-9, 9, (4, 6)) * (rng.uniform(size=(4, 6)) < 0.4)).astype(dtype)
    values, levels, block_map = sparsify(dense, [0, 1], [False, True], {})
    for level in levels:
        if level.segments is not None and level.indices is not None:
            level.segments, level.indices = level.segments.astype(kind), level.indices.astype(kind)
    m = ModelBuilder()
    x, y = m.tensor("x", (2, 6)), m.tensor("y", (2, 4))
    w = m.tensor("w", (4, 6), TYPES[dtype], data=values.tobytes(), sparse=Sparse([0, 1], levels, block_map))
    if through_densify:
        plain = m.tensor("plain", (4, 6), TYPES[dtype])
        m.operator("DENSIFY", [w], [plain], "DensifyOptions")
        w = plain
    if dtype != "float32":
        wide = m.tensor("wide", (4, 6))
        m.operator("DEQUANTIZE" if dtype == "float16" else "CAST", [w], [wide])
        w = wide
    m.operator("FULLY_CONNECTED", [x, w, -1], [y], "FullyConnectedOptions")
    graph = import_bytes(m.build([x], [y]))
    assert [n.op.name for n in graph.nodes] == ["MatMul"]
    x_ = rng.normal(size=(2, 6)).astype(np.float32)
    out = evaluate_graph(graph, {"x": x_})["y"]
    np.testing.assert_allclose(out, x_ @ dense.T.astype(np.float64), rtol=1e-6, atol=1e-6)


BROKEN = {
    "order": Sparsity((0, 0), (), (Dimension(2), Dimension(3))),
    "levels": Sparsity((0, 1), (), (Dimension(2),)),
    "dense size": Sparsity((0, 1), (), (Dimension(3), Dimension(3))),
    "values": Sparsity((0, 1), (), (Dimension(2), Dimension(3))),
    "block map": Sparsity((0, 1, 2), (5,), (Dimension(2), Dimension(3), Dimension(1))),
    "block size": Sparsity((0, 1, 2), (1,), (Dimension(2), Dimension(1), Dimension(2))),
    "index": Sparsity((0, 1), (), (Dimension(2), Dimension(None, np.asarray([0, 2, 4]), np.asarray([0, 1, 2, 3])))),
    "negative index": Sparsity(
        (0, 1), (), (Dimension(2), Dimension(None, np.asarray([0, 2, 4]), np.asarray([0, 1, -2, 2])))
    ),
    "segments": Sparsity((0, 1), (), (Dimension(2), Dimension(None, np.asarray([0, 5, 4]), np.asarray([0, 1, 0, 1])))),
    "too few segments": Sparsity((0, 1), (), (Dimension(2), Dimension(None, np.asarray([0, 4]), np.arange(4) % 3))),
    "no segments": Sparsity((0, 1), (), (Dimension(2), Dimension(None, np.zeros(0, int), np.arange(4) % 3))),
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
def test_levels_that_do_not_fit_are_refused(broken: Sparsity) -> None:
    with pytest.raises(ImportModelError):
        densify(np.ones(4, np.float32), broken, (2, 3))
