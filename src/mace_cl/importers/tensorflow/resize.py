"""Interpolation, and blocks of space to channels and back."""

from __future__ import annotations

from dataclasses import replace

from mace_cl.errors import ImportModelError
from mace_cl.graph import ops
from mace_cl.graph.core import Value
from mace_cl.importers.tensorflow.geometry import is_channels_last
from mace_cl.importers.tensorflow.registry import NodeView, handles
from mace_cl.types import DataType


def _resize(view: NodeView, op: ops.Resize) -> Value:
    """Apply `op` with the shape and the scales of the node."""
    x, size = view.input(0), view.known_ints(1, "the size")
    if len(x.shape) != 4 or len(size) != 2 or min(size) < 1 or 0 in x.shape[1:3]:
        raise ImportModelError(f"cannot resize {list(x.shape)} to {size}", where=view.where)
    shape = (x.shape[0], *size, x.shape[3])
    scales = (1.0, size[0] / x.shape[1], size[1] / x.shape[2], 1.0)
    if op.mode != "nearest" and not x.dtype.is_float:
        # Whatever goes in, interpolation gives float32.
        x = view.add(ops.Cast(DataType.FLOAT32), x)
    return view.add(replace(op, shape=shape, scales=scales), x)


def _coordinates(view: NodeView) -> str:
    if view.attr_bool("align_corners", False):
        return "align_corners"
    return "half_pixel" if view.attr_bool("half_pixel_centers", False) else "asymmetric"


@handles("ResizeBilinear")
def resize_bilinear(view: NodeView) -> Value:
    """x, [height, width]."""
    return _resize(view, ops.Resize(mode="linear", coordinate_mode=_coordinates(view)))


@handles("ResizeBicubic")
def resize_bicubic(view: NodeView) -> Value:
    """x, [height, width]; half-pixel centres go with Keys' kernel that leaves out what is outside."""
    keys = view.attr_bool("half_pixel_centers", False)
    a = -0.5 if keys else -0.75
    op = ops.Resize(mode="cubic", coordinate_mode=_coordinates(view), cubic_coeff_a=a, exclude_outside=keys)
    return _resize(view, op)


@handles("ResizeNearestNeighbor")
def resize_nearest(view: NodeView) -> Value:
    """x, [height, width]."""
    coordinates = _coordinates(view)
    if coordinates == "half_pixel":
        return _resize(view, ops.Resize(coordinate_mode="tf_half_pixel_for_nn", nearest_mode="floor"))
    rounding = "round_away" if coordinates == "align_corners" else "floor"
    return _resize(view, ops.Resize(coordinate_mode=coordinates, nearest_mode=rounding))


@handles("DepthToSpace")
def depth_to_space(view: NodeView) -> Value:
    """Channels in the order block row, block column, channel."""
    return view.add(ops.DepthToSpace(view.attr_int("block_size"), "DCR", is_channels_last(view)), view.input(0))


@handles("SpaceToDepth")
def space_to_depth(view: NodeView) -> Value:
    """The inverse of DepthToSpace."""
    return view.add(ops.SpaceToDepth(view.attr_int("block_size"), is_channels_last(view)), view.input(0))
