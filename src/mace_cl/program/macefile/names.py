"""MACE's obfuscation of names: a shift of each character by its place. Lower-case names decode exactly."""

from __future__ import annotations

import re

_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"
_SHIFT = 31

KERNELS = (
    "conv2d_1x1_opencl_kernel",
    "conv2d_3x3_opencl_kernel",
    "conv2d_general_opencl_kernel",
    "conv2d_1x1_buffer",
    "conv2d_general_buffer",
    "pad_input",
    "depthwise_conv2d_ocl_kernel",
    "depthwise_conv2d_buffer_kernel",
    "depthwise_deconv2d_kernel",
    "deconv2d_opencl_kernel",
    "winograd_transform_kernel",
    "winograd_inverse_transform_kernel",
    "matmul_opencl_kernel",
    "extract_image_patches_opencl_kernel",
    "transform_conv_filter",
    "transform_dw_conv_filter",
    "transform_arg",
    "buffer_to_image",
    "image_to_buffer",
)
"""Beginnings of tuned parameters' keys that do not end in _opencl_kernel, and some that do."""

_PATTERN = re.compile(r"[a-z][a-z0-9_]*_(?:opencl|ocl)_kernel_*(?:_?\d+)*$|[a-z][a-z0-9]*(?:_[a-z0-9]+)*(?:_\d+)+$")


def obfuscate(name: str) -> str:
    """A name as MACE's release builds write it."""
    return name[:1] + "".join(
        _ALPHABET[(_index(c) + i + _SHIFT) % 63] if c.isascii() and (c.isalnum() or c == "_") else c
        for i, c in enumerate(name[1:], 1)
    )


def _index(c: str) -> int:
    """MACE's number of a character; its formula for capitals collides with digits and letters."""
    if "0" <= c <= "9":
        return ord(c) - ord("0")
    if "a" <= c <= "z":
        return 10 + ord(c) - ord("a")
    if "A" <= c <= "Z":
        return 36 + ord(c) - ord("a")
    return 62


def deobfuscate(name: str) -> str | None:
    """The lower-case name behind an obfuscated one, or None if there is none.

    Capitals cannot be told from the digits and letters that they collide with.
    """
    made = [name[:1]]
    for i, c in enumerate(name[1:], 1):
        place = _ALPHABET.find(c)
        if place < 0:
            made.append(c)
            continue
        index = (place - i - _SHIFT) % 63
        if 36 <= index < 62:
            return None
        made.append("_" if index == 62 else chr(48 + index) if index < 10 else chr(87 + index))
    return "".join(made)


def plain_name(name: str) -> str:
    """The name itself if it reads as one of MACE's, else what it decodes to if that does, else the name."""
    if _is_plain(name):
        return name
    decoded = deobfuscate(name)
    return decoded if decoded is not None and _is_plain(decoded) else name


def _is_plain(name: str) -> bool:
    return name.startswith(KERNELS) or bool(_PATTERN.match(name))
