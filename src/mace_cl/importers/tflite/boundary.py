"""A graph's inputs and outputs: the model's own, or those that the user names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from mace_cl.errors import ImportModelError, ShapeError, UnsupportedError, UsageError
from mace_cl.importers.options import ImportOptions
from mace_cl.importers.tflite.records import ModelRecord, TensorRecord
from mace_cl.importers.tflite.schema import WIDENED
from mace_cl.importers.tflite.values import Values
from mace_cl.types import DataType, Shape, TensorType

MAX_INPUT_ELEMENTS = 2**31 - 1


@dataclass(frozen=True)
class Boundary:
    """Tensor numbers of inputs and outputs, with the names that the user sees."""

    inputs: dict[int, str]
    outputs: dict[int, str]


def find_boundary(model: ModelRecord, options: ImportOptions) -> Boundary:
    """Inputs and outputs by tensor number.

    Raises:
        UsageError: A name that the options give is not there.
        ImportModelError: The model has no output.
    """
    inputs = _by_name(model, options.input_names) if options.input_names else model.inputs
    outputs = _by_name(model, options.output_names) if options.output_names else model.outputs
    if not outputs:
        raise ImportModelError("the model has no output", where=model.path)
    boundary = Boundary(_names(model, inputs, "input"), _names(model, outputs, "output"))
    for what, given in (("--input-shape", options.input_shapes), ("fixed input", options.fixed_inputs)):
        unknown = sorted(set(given) - set(boundary.inputs.values()))
        if unknown:
            raise UsageError(
                f"{what}: no input is named {unknown[0]!r}",
                where=model.path,
                hint=f"the inputs are {_listed(boundary.inputs.values())}",
            )
    return boundary


def _by_name(model: ModelRecord, names: Sequence[str]) -> tuple[int, ...]:
    known = {t.name: t.index for t in reversed(model.tensors)}
    for name in names:
        if name not in known:
            raise UsageError(f"no tensor is named {name!r}", where=model.path)
    return tuple(known[n] for n in names)


def _names(model: ModelRecord, indices: Sequence[int], what: str) -> dict[int, str]:
    """The tensors' names; a nameless one gets a number, a second one of a name a suffix."""
    found: dict[int, str] = {}
    for position, index in enumerate(indices):
        name = wanted = model.tensors[index].name or f"{what}_{position}"
        count = 0
        while name in found.values():
            count += 1
            name = f"{wanted}_{count}"
        found.setdefault(index, name)
    return found


def add_inputs(values: Values, boundary: Boundary, options: ImportOptions) -> None:
    """Add the graph's inputs, with the shapes that the options give, and the inputs that are fixed."""
    for index, name in boundary.inputs.items():
        tensor = values.model.tensors[index]
        where = f"{values.model.path}, input {name!r}"
        dtype = _outer_type(tensor, where)
        if name in options.fixed_inputs:
            array = _fixed(options.fixed_inputs[name], tensor, dtype, where)
            values.bind(index, values.graph.constant(array, name))
            continue
        shape = _input_shape(tensor, name, options.input_shapes.get(name), where)
        values.bind(index, values.graph.add_input(name, TensorType(dtype, shape)))


def add_outputs(values: Values, boundary: Boundary) -> None:
    """Add the graph's outputs."""
    for index, name in boundary.outputs.items():
        tensor = values.model.tensors[index]
        where = f"{values.model.path}, output {name!r}"
        _outer_type(tensor, where)
        if not values.is_known(index):
            raise ImportModelError("nothing produces it", where=where)
        values.graph.add_output(name, values.raw(index))


def _outer_type(tensor: TensorRecord, where: str) -> DataType:
    """The element type of an input or output."""
    if tensor.dtype is None or tensor.type in WIDENED:
        raise UnsupportedError(f"{tensor.type} is not supported for inputs and outputs", where=where)
    return tensor.dtype


def _input_shape(tensor: TensorRecord, name: str, wanted: Shape | None, where: str) -> Shape:
    declared = tensor.signature
    if wanted is None:
        if any(d < 0 for d in declared):
            example = ",".join(str(abs(d)) for d in tensor.shape)
            places = ", ".join(str(i) for i, d in enumerate(declared) if d < 0)
            raise ShapeError(
                f"dimension {places} of {_dims(declared)} is dynamic",
                where=where,
                hint=f"fix it with --input-shape {name}={example}",
            )
        wanted = tensor.shape
    elif len(wanted) != len(declared):
        raise UsageError(f"--input-shape gives {len(wanted)} dimensions, the model {_dims(declared)}", where=where)
    elements = 1
    for d in wanted:
        elements *= d
        if d < 1 or elements > MAX_INPUT_ELEMENTS:
            error = ImportModelError if wanted is tensor.shape else UsageError
            raise error(f"shape {_dims(wanted)} is empty, negative or too large", where=where)
    return tuple(wanted)


def _fixed(array: np.ndarray, tensor: TensorRecord, dtype: DataType, where: str) -> np.ndarray:
    """A fixed input in the model's own element type."""
    given = np.asarray(array)
    with np.errstate(all="ignore"):
        cast = given.astype(dtype.numpy)
    if given.ndim != len(tensor.shape) or not np.allclose(cast, given, rtol=1e-3, equal_nan=True):
        raise UsageError(
            f"its fixed value is {given.dtype.name}{_dims(given.shape)}, the model wants "
            f"{dtype.value}{_dims(tensor.signature)}",
            where=where,
        )
    return cast


def _dims(shape: Iterable[int]) -> str:
    return "[" + ",".join("?" if d < 0 else str(d) for d in shape) + "]"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(repr(n) for n in names)
