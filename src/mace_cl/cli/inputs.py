"""From files to input arrays for `mace run`: .npy, .npz, raw numbers and pictures."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mace_cl.cli.parameters import load_npy
from mace_cl.errors import UsageError
from mace_cl.types import Shape, TensorType

PICTURES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp", ".ppm", ".tif", ".tiff")
FLAG = "--input"


@dataclass(frozen=True)
class PictureOptions:
    """How a picture becomes numbers: (pixel - mean) * scale, in a layout.

    Attributes:
        mean: Subtracted from each channel (0 to 255), one number or one for each channel.
        scale: Multiplied afterwards.
        layout: 'NHWC' or 'NCHW'; chosen from the input's shape where None.
        bgr: Channels in reverse order.
    """

    mean: tuple[float, ...] = (0.0,)
    scale: tuple[float, ...] = (1.0 / 255.0,)
    layout: str | None = None
    bgr: bool = False


def read_inputs(
    texts: Sequence[str], wanted: Mapping[str, TensorType], pictures: PictureOptions
) -> dict[str, np.ndarray]:
    """Arrays for the inputs.

    Args:
        texts: `file` (for a network with one input, or an .npz with all of them) or `name=file`.
        wanted: Input name to its type.
        pictures: How pictures are read.

    Raises:
        UsageError: A file is unreadable, an input is unknown, missing or given twice.
    """
    arrays: dict[str, np.ndarray] = {}
    for text in texts:
        name, path = _split(text, wanted)
        if path.suffix.lower() == ".npz":
            found = _read_npz(path)
        else:
            found = {name: _read_file(path, wanted[name], pictures)}
        for key, array in found.items():
            if key not in wanted:
                raise UsageError(f"the network has no input {key!r}, only {', '.join(wanted)}", where=FLAG)
            if key in arrays:
                raise UsageError(f"input {key!r} is given twice", where=FLAG)
            arrays[key] = array
    missing = [n for n in wanted if n not in arrays]
    if missing:
        raise UsageError(f"no file for input {', '.join(missing)}", where=FLAG, hint="write --input name=file")
    return arrays


def random_inputs(wanted: Mapping[str, TensorType], seed: int) -> dict[str, np.ndarray]:
    """Seeded random numbers: floats in [-1, 1), integers and bools 0 or 1."""
    rng = np.random.default_rng(seed)
    made = {}
    for name, type_ in wanted.items():
        if type_.dtype.is_float:
            made[name] = rng.uniform(-1.0, 1.0, type_.shape).astype(type_.dtype.numpy)
        else:
            made[name] = rng.integers(0, 2, type_.shape).astype(type_.dtype.numpy)
    return made


def _split(text: str, wanted: Mapping[str, TensorType]) -> tuple[str, Path]:
    """The input and the file; a name of the network in front of = wins over a file name with a =."""
    for name in wanted:
        if text.startswith(f"{name}="):
            return name, Path(text[len(name) + 1 :])
    path = Path(text)
    if "=" in text and not path.exists():
        name = text.split("=", 1)[0]
        raise UsageError(f"the network has no input {name!r}, only {', '.join(wanted)}", where=FLAG)
    if path.suffix.lower() != ".npz" and len(wanted) != 1:
        raise UsageError(
            f"{text}: which input is it for?", where=FLAG, hint=f"write name={text}, with one of {', '.join(wanted)}"
        )
    return next(iter(wanted), ""), path


def _read_file(path: Path, type_: TensorType, pictures: PictureOptions) -> np.ndarray:
    suffix = path.suffix.lower()
    if suffix == ".npy":
        return load_npy(path, FLAG)
    if suffix in PICTURES:
        return read_picture(path, type_, pictures)
    return _read_raw(path, type_)


def _read_npz(path: Path) -> dict[str, np.ndarray]:
    try:
        with np.load(path, allow_pickle=False) as loaded:
            return {name: loaded[name] for name in loaded.files}
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}", where=FLAG) from None
    except (ValueError, EOFError, zipfile.BadZipFile, KeyError) as error:
        raise UsageError(f"{path} is not an .npz file: {error}", where=FLAG) from None


def _read_raw(path: Path, type_: TensorType) -> np.ndarray:
    """Little-endian numbers of the input's type, nothing else."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}", where=FLAG) from None
    if len(data) != type_.nbytes:
        raise UsageError(f"{path} has {len(data)} bytes, the input {type_} has {type_.nbytes}", where=FLAG)
    return np.frombuffer(data, type_.dtype.numpy.newbyteorder("<")).reshape(type_.shape).astype(type_.dtype.numpy)


def read_picture(path: Path, type_: TensorType, options: PictureOptions) -> np.ndarray:
    """A picture, scaled to the input's height and width (bilinear), as numbers.

    Raises:
        UsageError: It is no picture, or the input has no shape of a picture.
    """
    from PIL import Image, UnidentifiedImageError

    layout = options.layout or _picture_layout(type_.shape)
    if type_.rank != 4 or layout is None:
        raise UsageError(f"the input {type_} is no batch of one picture", where=FLAG, hint="give it as .npy")
    height, width, channels = _picture_size(type_.shape, layout)
    try:
        with Image.open(path) as image:
            mode = {1: "L", 3: "RGB", 4: "RGBA"}[channels]
            pixels = np.asarray(image.convert(mode).resize((width, height), Image.Resampling.BILINEAR), np.float32)
    except UnidentifiedImageError:
        raise UsageError(f"{path} is not a picture", where=FLAG) from None
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}", where=FLAG) from None
    pixels = pixels.reshape(height, width, channels)
    if options.bgr:
        pixels = pixels[:, :, ::-1]
    if type_.dtype.is_float:
        pixels = (pixels - _channels(options.mean, channels, "--mean")) * _channels(options.scale, channels, "--scale")
    array = pixels if layout == "NHWC" else pixels.transpose(2, 0, 1)
    return np.ascontiguousarray(array[None].astype(type_.dtype.numpy))


def _picture_layout(shape: Shape) -> str | None:
    if len(shape) == 4 and shape[3] in (1, 3, 4):
        return "NHWC"
    return "NCHW" if len(shape) == 4 and shape[1] in (1, 3, 4) else None


def _picture_size(shape: Shape, layout: str) -> tuple[int, int, int]:
    height, width, channels = (shape[1], shape[2], shape[3]) if layout == "NHWC" else (shape[2], shape[3], shape[1])
    if shape[0] != 1 or channels not in (1, 3, 4):
        raise UsageError(f"shape {shape} in layout {layout} is no batch of one picture", where=FLAG)
    return height, width, channels


def _channels(values: tuple[float, ...], channels: int, flag: str) -> np.ndarray:
    if len(values) not in (1, channels):
        raise UsageError(f"takes 1 or {channels} numbers, not {len(values)}", where=flag)
    return np.asarray(values, np.float32)
