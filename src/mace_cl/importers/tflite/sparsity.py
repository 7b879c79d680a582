"""Sparse tensors to dense ones.

Source: TensorFlow Lite schema, SparsityParameters. Dimensions are visited in `traversal_order`: first the tensor's
own (outer) ones, then those of the blocks that `block_map` cuts some of them into. Each level is dense, or lists
for each node of the level above which indices it has.
"""

from __future__ import annotations

import math

import numpy as np

from mace_cl.errors import ImportModelError
from mace_cl.importers.tflite.records import Dimension, Sparsity
from mace_cl.types import Shape


def densify(values: np.ndarray, sparsity: Sparsity, shape: Shape) -> np.ndarray:
    """Spread `values` over a tensor of zeros.

    Args:
        values: [n] the elements that are stored, in order of traversal.
        sparsity: Where they belong.
        shape: The dense shape.

    Raises:
        ImportModelError: Levels, sizes and number of values do not fit together.
    """
    sizes = _level_sizes(sparsity, shape)
    coordinates = _walk(sparsity, sizes, values.size, math.prod(shape))
    flat = np.zeros(coordinates[0].size if coordinates else 1, np.int64)
    rank = len(shape)
    blocks = {d: rank + i for i, d in enumerate(sparsity.block_map)}
    place = {dim: level for level, dim in enumerate(sparsity.traversal_order)}
    for d, size in enumerate(shape):
        index = coordinates[place[d]]
        if d in blocks:
            index = index * sizes[place[blocks[d]]] + coordinates[place[blocks[d]]]
        flat = flat * size + index
    dense = np.zeros(math.prod(shape), values.dtype)
    dense[flat] = values
    return dense.reshape(shape)


def _level_sizes(sparsity: Sparsity, shape: Shape) -> list[int]:
    """The size of each level's dimension, in order of traversal."""
    rank, n_blocks = len(shape), len(sparsity.block_map)
    order, dims = sparsity.traversal_order, sparsity.dimensions
    if sorted(order) != list(range(rank + n_blocks)) or len(dims) != len(order):
        raise ImportModelError(f"sparse traversal order {order} does not fit {rank} dimensions and {n_blocks} blocks")
    if len(set(sparsity.block_map)) != n_blocks or not all(0 <= d < rank for d in sparsity.block_map):
        raise ImportModelError(f"sparse block map {sparsity.block_map} does not fit {rank} dimensions")
    full = dict(enumerate(shape))
    for i, d in enumerate(sparsity.block_map):
        block = dims[order.index(rank + i)].dense_size
        if block is None or block < 1 or shape[d] % block:
            raise ImportModelError(f"dimension {d} of {shape[d]} is not cut into whole blocks")
        full[d], full[rank + i] = shape[d] // block, block
    sizes = [full[d] for d in order]
    for level, (dim, size) in enumerate(zip(dims, sizes, strict=True)):
        if dim.dense_size is not None and dim.dense_size != size:
            raise ImportModelError(f"dense level {level} has size {dim.dense_size} instead of {size}")
    return sizes


def _walk(sparsity: Sparsity, sizes: list[int], n_values: int, elements: int) -> list[np.ndarray]:
    """For each level, the coordinate of every stored value."""
    coordinates: list[np.ndarray] = []
    nodes = 1
    for dim, size in zip(sparsity.dimensions, sizes, strict=True):
        parent, index = _expand(dim, size, nodes, elements)
        coordinates = [c[parent] for c in coordinates]
        coordinates.append(index)
        nodes = index.size
    if nodes != n_values:
        raise ImportModelError(f"a sparse tensor describes {nodes} values but holds {n_values}")
    return coordinates


def _expand(dim: Dimension, size: int, nodes: int, elements: int) -> tuple[np.ndarray, np.ndarray]:
    """Parent node and coordinate of each node of the next level."""
    if dim.dense_size is not None:
        if nodes * size > elements:
            raise ImportModelError("a sparse tensor describes more places than its shape has")
        return np.repeat(np.arange(nodes), size), np.tile(np.arange(size), nodes)
    segments, indices = dim.segments, dim.indices
    assert segments is not None
    assert indices is not None
    counts = np.diff(segments)
    if segments.size != nodes + 1 or segments[0] != 0 or segments[-1] != indices.size or (counts < 0).any():
        raise ImportModelError("the segments of a sparse tensor do not fit its indices")
    if indices.size and not (indices.min() >= 0 and indices.max() < size):
        raise ImportModelError(f"an index of a sparse tensor lies outside its dimension of {size}")
    return np.repeat(np.arange(nodes), counts), indices
