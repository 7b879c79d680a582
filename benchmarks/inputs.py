"""Inputs for accuracy and latency: seeded random numbers, and what a network was made for.

Random noise leaves a text detector's output all but zero and proves nothing, so text networks get rendered text and the
others a photograph, prepared as each network's users do.
"""

from __future__ import annotations

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from mace_cl.types import TensorType
from packages import fetch
from zoo import Network

IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)
_LINES = (
    "The quick brown fox 0123456789",
    "jumps over the lazy dog",
    "OpenCL 3.0: kernels, programs",
    "Fine print here",
)


def random_input(type_: TensorType, seed: int) -> np.ndarray:
    """Uniform numbers from -1 to 1."""
    return np.random.default_rng(seed).uniform(-1, 1, type_.shape).astype(type_.dtype.numpy)


def natural_input(network: Network, type_: TensorType) -> np.ndarray:
    """A picture of the kind that the network was trained on, as its input."""
    channels_last = type_.shape[-1] == 3
    height, width = type_.shape[1:3] if channels_last else type_.shape[2:4]
    if network.asset.startswith("text"):
        image = _text(width, height, lines=4 if network.asset == "text_detector" else 1)
    else:
        with Image.open(fetch("astronaut")) as photo:
            image = photo.convert("RGB").resize((width, height), Image.Resampling.BILINEAR)
    pixels = _scaled(network, np.asarray(image, np.float64) / 255.0)
    array = pixels if channels_last else pixels.transpose(2, 0, 1)
    return np.ascontiguousarray(np.broadcast_to(array, type_.shape).astype(type_.dtype.numpy))


def _scaled(network: Network, pixels: np.ndarray) -> np.ndarray:
    """Pixels from 0 to 1 in the range that the network expects."""
    if network.asset in ("mobilenet_v1", "mobilenet_v2", "resnet18", "text_detector"):
        return (pixels - IMAGENET_MEAN) / IMAGENET_STD
    if network.asset.startswith(("text", "face_detection")):
        return pixels * 2.0 - 1.0
    return pixels


def _text(width: int, height: int, lines: int) -> Image.Image:
    """Dark text on a light ground."""
    image = Image.new("RGB", (width, height), (245, 242, 236))
    pen = ImageDraw.Draw(image)
    step = height / lines
    for i, line in enumerate(_LINES[:lines]):
        size = min(step * 0.6, 1.7 * width / len(line))
        pen.text((width * 0.03, step * (i + 0.15)), line, fill=(20, 24, 40), font=ImageFont.load_default(size))
    return image
