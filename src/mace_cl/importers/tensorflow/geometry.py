"""Data formats and padding of TensorFlow's windowed operators."""

from __future__ import annotations

from dataclasses import dataclass

from mace_cl.errors import FormatError
from mace_cl.graph.core import Value
from mace_cl.importers.tensorflow.registry import NodeView

_LAST = ("NHWC", "NDHWC", "NWC")
_FIRST = ("NCHW", "NCDHW", "NCW")

Pads = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Window:
    """Sizes of each spatial dimension, and where these stand."""

    channels_last: bool
    strides: tuple[int, ...]
    dilations: tuple[int, ...]

    @property
    def channel_axis(self) -> int:
        """The channels' dimension of data."""
        return len(self.strides) + 1 if self.channels_last else 1


def is_channels_last(view: NodeView, default: str = "NHWC") -> bool:
    """Whether the node's data_format has channels last.

    Raises:
        UnsupportedError: The format is neither kind.
    """
    name = view.attr_text("data_format", default)
    if name not in _LAST + _FIRST:
        raise view.unsupported(f"data_format {name} is not built", "convert the model with NHWC or NCHW")
    return name in _LAST


def spatial(view: NodeView, values: list[int], what: str, channels_last: bool) -> tuple[int, ...]:
    """The spatial part of a list that has an entry for each dimension of data; batch and channels must be 1."""
    if len(values) not in (4, 5):
        raise FormatError(f"{what} has {len(values)} entries, not one for each dimension", where=view.where)
    channel = len(values) - 1 if channels_last else 1
    if values[0] != 1 or values[channel] != 1:
        raise view.unsupported(f"{what} {values} over batch or channels is not built")
    kept = tuple(v for i, v in enumerate(values) if i not in (0, channel))
    if min(kept) < 1:
        raise FormatError(f"{what} {values} holds a number below 1", where=view.where)
    return kept


def window(view: NodeView) -> Window:
    """The node's format, strides and dilations."""
    last = is_channels_last(view)
    strides = view.attr_ints("strides")
    dilations = view.attr_ints("dilations", [1] * len(strides)) or [1] * len(strides)
    return Window(last, spatial(view, strides, "strides", last), spatial(view, dilations, "dilations", last))


def spatial_sizes(value: Value, channels_last: bool) -> tuple[int, ...]:
    """Sizes of the spatial dimensions of data."""
    return value.shape[1:-1] if channels_last else value.shape[2:]


def padding(view: NodeView, sizes: tuple[int, ...], kernel: tuple[int, ...], given: Window) -> Pads:
    """(begin, end) of each spatial dimension for the node's SAME, VALID or EXPLICIT.

    Raises:
        ImportModelError: An explicit list of another length.
    """
    kind = view.attr_text("padding")
    if kind == "VALID":
        return ((0, 0),) * len(kernel)
    if kind == "EXPLICIT":
        return _explicit(view, given)
    if kind != "SAME":
        raise view.unsupported(f"padding {kind!r} is not built")
    return tuple(_same(n, k, s, d) for n, k, s, d in zip(sizes, kernel, given.strides, given.dilations, strict=True))


def _same(size: int, kernel: int, stride: int, dilation: int) -> tuple[int, int]:
    """SAME: as many outputs as strides fit; what is missing is split, the odd one at the end."""
    out = -(-size // stride)
    total = max((out - 1) * stride + dilation * (kernel - 1) + 1 - size, 0)
    return total // 2, total - total // 2


def _explicit(view: NodeView, given: Window) -> Pads:
    listed = view.attr_ints("explicit_paddings")
    pairs = list(zip(listed[::2], listed[1::2], strict=False))
    if len(listed) != 2 * (len(given.strides) + 2):
        raise FormatError("explicit_paddings has not two entries for each dimension", where=view.where)
    if pairs.pop(given.channel_axis) != (0, 0) or pairs.pop(0) != (0, 0):
        raise view.unsupported("explicit padding of batch or channels is not built")
    return tuple(pairs)
