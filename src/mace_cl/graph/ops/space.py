"""Blocks of space to channels and back."""

from __future__ import annotations

from dataclasses import dataclass

from mace_cl.graph.ops.base import Operator


@dataclass(frozen=True)
class DepthToSpace(Operator):
    """Channels to block x block pixels. mode: 'DCR' (ONNX's default and TFLite's) or 'CRD'."""

    block: int = 2
    mode: str = 'DCR'
    channels_last: bool = False


@dataclass(frozen=True)
class SpaceToDepth(Operator):
    """block x block pixels to channels, block-major."""

    block: int = 2
    channels_last: bool = False
