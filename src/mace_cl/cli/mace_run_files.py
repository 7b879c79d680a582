"""Raw input and output files of `mace_run`: their names, number types and layouts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from mace_cl.cli.mace_run_flags import Flags
from mace_cl.errors import UsageError
from mace_cl.program.atomic import write_atomically
from mace_cl.types import Shape, TensorType

T = TypeVar("T")

_TYPES = ("float32", "float16", "int8", "int16", "int32", "int64", "uint8", "bool")
_TO_OTHER = {"NCHW": (0, 3, 1, 2), "NHWC": (0, 2, 3, 1)}
"""Axes that bring the other layout into this one."""


@dataclass(frozen=True)
class FileTensor:
    """How a tensor stands in its file.

    Attributes:
        name: Input or output of the network.
        type: As the network has it.
        file_type: NumPy's name of the numbers in the file.
        file_shape: Shape in the file.
        axes: From the file's axes to the network's; None if they are the same.
    """

    name: str
    type: TensorType
    file_type: str
    file_shape: Shape
    axes: tuple[int, ...] | None

    @property
    def file_bytes(self) -> int:
        """Size of the file."""
        return int(np.prod(self.file_shape, dtype=np.int64)) * np.dtype(self.file_type).itemsize


def file_tensors(flags: Flags, side: str, wanted: Mapping[str, TensorType]) -> list[FileTensor]:
    """The tensors of one side ('input' or 'output') as the flags describe them.

    Raises:
        UsageError: A name is unknown, a list has the wrong length, or a shape is not the network's.
    """
    names = flags.names(f"{side}_node") or list(wanted)
    unknown = [n for n in names if n not in wanted]
    if unknown:
        raise UsageError(f"the network has no {side} {unknown[0]!r}, only {', '.join(wanted)}", where=f"--{side}_node")
    if side == "input" and set(names) != set(wanted):
        missing = [n for n in wanted if n not in names]
        raise UsageError(f"input {missing[0]!r} is missing", where="--input_node")
    shapes = _spread(parse_shape_list(flags, side), len(names), f"--{side}_shape")
    types = _spread(flags.names(f"{side}_data_type"), len(names), f"--{side}_data_type")
    formats = _spread(flags.names(f"{side}_data_format"), len(names), f"--{side}_data_format")
    return [
        _file_tensor(side, name, wanted[name], shape, type_name, layout)
        for name, shape, type_name, layout in zip(names, shapes, types, formats, strict=True)
    ]


def parse_shape_list(flags: Flags, side: str) -> list[Shape]:
    """1,224,224,3:1,10 as shapes.

    Raises:
        UsageError: It is malformed.
    """
    shapes = []
    for text in flags.names(f"{side}_shape", ":"):
        try:
            shapes.append(tuple(int(d) for d in text.split(",")))
        except ValueError:
            raise UsageError(f"{text!r} is no shape such as 1,224,224,3", where=f"--{side}_shape") from None
    return shapes


def _spread(values: Sequence[T], count: int, flag: str) -> list[T | None]:
    """One value for each tensor: none given, one for all, or one each."""
    if not values:
        return [None] * count
    if len(values) == 1:
        return [values[0]] * count
    if len(values) != count:
        raise UsageError(f"{len(values)} values for {count} tensors", where=flag)
    return list(values)


def _file_tensor(
    side: str, name: str, type_: TensorType, shape: Shape | None, type_name: str | None, layout: str | None
) -> FileTensor:
    if type_name is not None and type_name not in _TYPES:
        raise UsageError(f"{type_name!r} is none of {', '.join(_TYPES)}", where=f"--{side}_data_type")
    if layout is not None and layout not in ("NHWC", "NCHW", "NONE"):
        raise UsageError(f"{layout!r} is none of NHWC, NCHW, NONE", where=f"--{side}_data_format")
    file_type = type_name or type_.dtype.numpy.name
    if shape is None or shape == type_.shape:
        return FileTensor(name, type_, file_type, type_.shape, None)
    axes = _TO_OTHER.get({"NHWC": "NCHW", "NCHW": "NHWC"}.get(layout or "", ""))
    if axes is None or len(shape) != 4 or tuple(shape[a] for a in axes) != type_.shape:
        given = "x".join(map(str, shape))
        raise UsageError(f"{name!r} is {type_}, not {given}", where=f"--{side}_shape")
    return FileTensor(name, type_, file_type, shape, axes)


def file_name(name: str) -> str:
    """A tensor's name as MACE writes it in file names."""
    return re.sub(r"[^0-9A-Za-z]", "_", name)


def read_tensor(path: Path, tensor: FileTensor) -> np.ndarray:
    """The array of a raw file, as the network wants it.

    Raises:
        UsageError: It cannot be read, or has another size.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=str(path)) from None
    if len(data) != tensor.file_bytes:
        raise UsageError(
            f"has {len(data)} bytes; {tensor.name!r} as {tensor.file_type} has {tensor.file_bytes}", where=str(path)
        )
    array = np.frombuffer(data, np.dtype(tensor.file_type).newbyteorder("<")).reshape(tensor.file_shape)
    if tensor.axes is not None:
        array = array.transpose(tensor.axes)
    return np.ascontiguousarray(array.astype(tensor.type.dtype.numpy))


def write_tensor(path: Path, array: np.ndarray, tensor: FileTensor) -> None:
    """Write an output in the layout and type that the flags ask for.

    Raises:
        UsageError: It cannot be written.
    """
    if tensor.axes is not None:
        array = array.transpose(np.argsort(tensor.axes))
    content = np.ascontiguousarray(array).astype(np.dtype(tensor.file_type).newbyteorder("<"))
    write_atomically(path, [content.tobytes()])


def input_sets(flags: Flags, tensors: Sequence[FileTensor]) -> list[tuple[str, dict[str, Path]]]:
    """(suffix, path of each input) of every set of input files; none if no flag names any.

    Raises:
        UsageError: A file or folder is missing.
    """
    if flags.text("input_dir"):
        return _sets_in_folder(Path(flags.text("input_dir")), tensors)
    if not flags.text("input_file"):
        return []
    base = flags.text("input_file")
    paths = {t.name: Path(f"{base}_{file_name(t.name)}") for t in tensors}
    if len(tensors) == 1 and not paths[tensors[0].name].exists() and Path(base).is_file():
        paths = {tensors[0].name: Path(base)}
    return [("", paths)]


def _sets_in_folder(folder: Path, tensors: Sequence[FileTensor]) -> list[tuple[str, dict[str, Path]]]:
    if not folder.is_dir():
        raise UsageError("is no folder", where=f"--input_dir={folder}")
    first = file_name(tensors[0].name) if tensors else ""
    suffixes = sorted(p.name[len(first) :] for p in folder.iterdir() if p.is_file() and p.name.startswith(first))
    if not suffixes:
        raise UsageError(f"holds no file that begins with {first!r}", where=f"--input_dir={folder}")
    return [(s, {t.name: folder / (file_name(t.name) + s) for t in tensors}) for s in suffixes]


def output_path(flags: Flags, tensor: FileTensor, suffix: str) -> Path | None:
    """Where an output goes; None if no flag names a place."""
    if flags.text("input_dir"):
        return Path(flags.text("output_dir")) / (file_name(tensor.name) + suffix)
    if flags.text("output_file"):
        return Path(f"{flags.text('output_file')}_{file_name(tensor.name)}")
    return None
