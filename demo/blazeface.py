"""From the face detector's outputs to boxes: anchors, decoding, non-maximum suppression.

Source: the network's published description (BlazeFace, arXiv:1907.05047) and the options of its graph: anchors at the
centres of a 16x16 grid (two each) and an 8x8 grid (six each), of size 1; offsets in pixels of the 128x128 input.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

INPUT_SIZE = 128
GRIDS = ((16, 2), (8, 6))
MIN_SCORE = 0.5
MAX_OVERLAP = 0.3


@dataclass(frozen=True)
class Face:
    """A face: its box as fractions of the square input (left, top, right, bottom), and its score."""

    box: tuple[float, float, float, float]
    score: float


def anchors() -> np.ndarray:
    """Centres [896, 2] as (x, y) fractions."""
    rows = []
    for size, each in GRIDS:
        y, x = np.mgrid[:size, :size]
        centres = np.stack([(x + 0.5) / size, (y + 0.5) / size], -1).reshape(-1, 2)
        rows.append(np.repeat(centres, each, axis=0))
    return np.concatenate(rows)


def prepare(picture: np.ndarray) -> np.ndarray:
    """A square picture [128, 128, 3] of bytes as the network's input [1, 128, 128, 3], -1 to 1."""
    return (picture.astype(np.float32) / 127.5 - 1.0)[None]


def decode(regressors: np.ndarray, logits: np.ndarray) -> list[Face]:
    """Faces, best first.

    Args:
        regressors: [1, 896, 16]; the first four are centre x, y, width, height in pixels.
        logits: [1, 896, 1].
    """
    raw = regressors[0].astype(np.float64)
    score = 1.0 / (1.0 + np.exp(-np.clip(logits[0, :, 0].astype(np.float64), -100, 100)))
    centre = raw[:, :2] / INPUT_SIZE + anchors()
    half = raw[:, 2:4] / INPUT_SIZE / 2
    boxes = np.concatenate([centre - half, centre + half], axis=1)
    faces: list[Face] = []
    for i in np.argsort(-score, kind="stable"):
        if score[i] < MIN_SCORE:
            break
        left, top, right, bottom = (float(v) for v in boxes[i])
        face = Face((left, top, right, bottom), float(score[i]))
        if all(overlap(face, other) <= MAX_OVERLAP for other in faces):
            faces.append(face)
    return faces


def overlap(a: Face, b: Face) -> float:
    """Intersection over union of two boxes."""
    width = min(a.box[2], b.box[2]) - max(a.box[0], b.box[0])
    height = min(a.box[3], b.box[3]) - max(a.box[1], b.box[1])
    shared = max(width, 0.0) * max(height, 0.0)
    areas = sum((f.box[2] - f.box[0]) * (f.box[3] - f.box[1]) for f in (a, b))
    return shared / (areas - shared)
