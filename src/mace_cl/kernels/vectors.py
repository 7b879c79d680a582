"""Vectors of channels: their macros, their tails, and weights packed for them.

Tails need no masks: the last vector of a row starts at `channels - width`, so that it overlaps the one before it and
computes a few channels twice. A kernel therefore never reads or writes outside a tensor, as long as a vector is not
wider than the channels. `channel_of` says where a vector starts; packed weights follow the same rule.
"""

from __future__ import annotations

import numpy as np

from mace_cl.targets.facts import DeviceFacts


def width_for(channels: int, facts: DeviceFacts, widest: int = 8) -> int:
    """The widest vector that pays on the device and is not wider than the channels: 1, 2, 4, 8 or 16."""
    limit = min(facts.vector_floats, widest, channels)
    return max(w for w in (1, 2, 4, 8, 16) if w <= max(limit, 1))


def vector_macros(width: int) -> dict[str, str]:
    """V, VEC, VLOAD(p) and VSTORE(v, p) for a width."""
    if width == 1:
        return {"V": "1", "VEC": "float", "VLOAD(p)": "(*(p))", "VSTORE(v, p)": "(*(p) = (v))"}
    return {
        "V": str(width),
        "VEC": f"float{width}",
        "VLOAD(p)": f"vload{width}(0, p)",
        "VSTORE(v, p)": f"vstore{width}(v, 0, p)",
    }


def ceil_div(a: int, b: int) -> int:
    """a / b, rounded up."""
    return -(-a // b)


def packed_channels(channels: int, width: int, block: int) -> np.ndarray:
    """The channel of each lane when channels are cut into blocks of `block` vectors; the last ones overlap.

    Returns:
        Channel numbers [blocks, block * width].
    """
    blocks = ceil_div(channels, width * block)
    starts = np.minimum(np.arange(blocks * block) * width, channels - width)
    return (starts[:, None] + np.arange(width)).reshape(blocks, block * width)


def pack_columns(matrix: np.ndarray, width: int, block: int) -> np.ndarray:
    """Columns of a matrix [K, N] in blocks: [blocks, K, block * width]."""
    columns = packed_channels(matrix.shape[1], width, block)
    return np.ascontiguousarray(matrix[:, columns].transpose(1, 0, 2), dtype=np.float32)


def pack_vector(vector: np.ndarray | None, channels: int, width: int, block: int) -> np.ndarray:
    """A bias [N] (zero where absent) in the order of `pack_columns`: [blocks * block * width]."""
    full = np.zeros(channels, np.float32) if vector is None else np.broadcast_to(vector.reshape(-1), (channels,))
    return np.ascontiguousarray(full[packed_channels(channels, width, block)].reshape(-1), dtype=np.float32)
