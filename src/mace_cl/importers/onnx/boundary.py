"""A graph's inputs and outputs: the model's own, or those that the user names."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from mace_cl.errors import ImportModelError, ShapeError, UnsupportedError, UsageError
from mace_cl.importers.onnx.tensors import MAX_ELEMENTS, data_type
from mace_cl.importers.options import ImportOptions
from mace_cl.types import DataType, Shape, TensorType

Dim: TypeAlias = "int | str | None"
"""A dimension: its size, its name where it is open, or None."""


@dataclass(frozen=True)
class Declared:
    """What the model says about a tensor.

    Attributes:
        dtype: Element type.
        dims: Dimensions; None where not even their number is known.
    """

    dtype: DataType
    dims: tuple[Dim, ...] | None

    def __str__(self) -> str:
        if self.dims is None:
            return f"{self.dtype.value}[...]"
        return f"{self.dtype.value}[{','.join(str(d) if d else '?' if d is None else '0' for d in self.dims)}]"


@dataclass(frozen=True)
class Boundary:
    """Inputs with their types, fixed inputs with their arrays, and the outputs' names, in the model's order."""

    inputs: Mapping[str, TensorType]
    fixed: Mapping[str, np.ndarray]
    outputs: tuple[str, ...]


def find_boundary(graph: Any, options: ImportOptions, where: str) -> Boundary:
    """The boundary of a GraphProto under the user's options.

    Raises:
        UsageError: An option names a tensor that is not there, or contradicts the model.
        UnsupportedError: An input is no tensor, or of an element type that is not built.
        ShapeError: Inputs have open dimensions; lists all of them.
        ImportModelError: The model has no output, or declares something twice.
    """
    declared = _declared_inputs(graph, options, where)
    outputs = _outputs(graph, options, where)
    _refuse_unknown(declared, options, where)
    fixed = {n: _fixed(options.fixed_inputs[n], d, n, where) for n, d in declared.items() if n in options.fixed_inputs}
    shapes = {n: _shape(d, n, options.input_shapes.get(n), where) for n, d in declared.items() if n not in fixed}
    _refuse_open({n: declared[n] for n, s in shapes.items() if s is None}, where)
    inputs = {n: TensorType(declared[n].dtype, s) for n, s in shapes.items() if s is not None}
    return Boundary(inputs, fixed, outputs)


def _declared_inputs(graph: Any, options: ImportOptions, where: str) -> dict[str, Declared]:
    """The inputs by name; initialisers that are also listed as inputs are constants."""
    constants = {t.name for t in graph.initializer} | {t.values.name for t in graph.sparse_initializer}
    if options.input_names:
        known = {i.name: i for i in (*graph.value_info, *graph.output, *graph.input)}
        infos = [_named(known, n, where) for n in options.input_names]
    else:
        infos = [i for i in graph.input if i.name not in constants]
    found: dict[str, Declared] = {}
    for info in infos:
        if info.name in found:
            raise ImportModelError(f"two inputs are named {info.name!r}", where=where)
        found[info.name] = _declared(info, f"{where}, input {info.name!r}")
    return found


def _named(known: Mapping[str, Any], name: str, where: str) -> Any:
    if name not in known:
        raise UsageError(
            f"no tensor named {name!r} has a type in the model",
            where=where,
            hint="only such tensors can become inputs; onnx.shape_inference.infer_shapes adds the types",
        )
    return known[name]


def _declared(info: Any, where: str) -> Declared:
    kind = info.type.WhichOneof("value")
    if kind != "tensor_type":
        raise UnsupportedError(f"is of kind {kind or 'unknown'}; only dense tensors are supported", where=where)
    tensor = info.type.tensor_type
    dims = tuple(_dim(d) for d in tensor.shape.dim) if tensor.HasField("shape") else None
    return Declared(data_type(tensor.elem_type, where), dims)


def _dim(dim: Any) -> Dim:
    if dim.WhichOneof("value") == "dim_value":
        return int(dim.dim_value) if dim.dim_value >= 0 else None
    return str(dim.dim_param) or None


def _outputs(graph: Any, options: ImportOptions, where: str) -> tuple[str, ...]:
    if options.output_names:
        known = {n for node in graph.node for n in node.output} | {i.name for i in (*graph.input, *graph.initializer)}
        for name in options.output_names:
            if name not in known:
                raise UsageError(f"no tensor is named {name!r}", where=where, hint=_outputs_hint(graph))
        return tuple(dict.fromkeys(options.output_names))
    names = tuple(o.name for o in graph.output)
    if not names:
        raise ImportModelError("the model has no output", where=where)
    if len(set(names)) != len(names):
        raise ImportModelError(f"two outputs have the same name ({_listed(names)})", where=where)
    return names


def _refuse_unknown(declared: Mapping[str, Declared], options: ImportOptions, where: str) -> None:
    given = (("--input-shape", options.input_shapes), ("--fixed-input", options.fixed_inputs))
    for what, names in given:
        for name in names:
            if name not in declared:
                raise UsageError(f"{what}: no input is named {name!r}", where=where, hint=_inputs_hint(declared))


def _shape(declared: Declared, name: str, wanted: Shape | None, where: str) -> Shape | None:
    """An input's static shape; None where it is open and the options do not give it."""
    if wanted is None:
        if declared.dims is None or not all(isinstance(d, int) for d in declared.dims):
            return None
        shape = tuple(d for d in declared.dims if isinstance(d, int))
    else:
        shape = tuple(int(d) for d in wanted)
        if declared.dims is not None and len(declared.dims) != len(shape):
            raise UsageError(
                f"--input-shape {name}: {len(shape)} dimensions are given, the model has {len(declared.dims)}",
                where=where,
                hint=_inputs_hint({name: declared}),
            )
        if any(d < 1 for d in shape):
            raise UsageError(f"--input-shape {name}: every dimension must be 1 or more, not {list(shape)}", where=where)
    if any(d < 0 for d in shape) or math.prod(shape) > MAX_ELEMENTS:
        error = ShapeError if wanted is None else UsageError
        raise error(f"input {name!r}: shape {list(shape)} is negative or too large", where=where)
    return shape


def _refuse_open(inputs: Mapping[str, Declared], where: str) -> None:
    """One error about every open dimension."""
    if not inputs:
        return
    items = [f"{name!r}: {d} ({_open_dims(d)})" for name, d in inputs.items()]
    shapes = " ".join(f"--input-shape {name}={_example(d)}" for name, d in inputs.items())
    raise ShapeError(
        "shapes are static here, and these inputs have open dimensions:\n" + "\n".join(f"  - {i}" for i in items),
        where=where,
        hint=f"give every dimension, for example {shapes}",
    )


def _open_dims(declared: Declared) -> str:
    if declared.dims is None:
        return "unknown number of dimensions"
    places = [str(i) for i, d in enumerate(declared.dims) if not isinstance(d, int)]
    return f"dimension {', '.join(places)}" if len(places) == 1 else f"dimensions {', '.join(places)}"


def _example(declared: Declared) -> str:
    """Plausible sizes: a batch of 1 and images of 640."""
    if declared.dims is None:
        return "1,3,640,640"
    return ",".join(str(d) if isinstance(d, int) else "1" if i == 0 else "640" for i, d in enumerate(declared.dims))


def _fixed(array: np.ndarray, declared: Declared, name: str, where: str) -> np.ndarray:
    """A fixed input in the model's own element type."""
    given = np.asarray(array)
    fits = declared.dims is None or (
        len(declared.dims) == given.ndim
        and all(not isinstance(d, int) or d == n for d, n in zip(declared.dims, given.shape, strict=True))
    )
    if not fits or given.dtype.kind not in "fiub" or (given.dtype.kind == "f") > declared.dtype.is_float:
        raise UsageError(
            f"--fixed-input {name}: the value is {given.dtype.name}{list(given.shape)}, the model wants {declared}",
            where=where,
            hint=_inputs_hint({name: declared}),
        )
    with np.errstate(all="ignore"):
        return np.ascontiguousarray(given.astype(declared.dtype.numpy)).reshape(given.shape)


def _inputs_hint(declared: Mapping[str, Declared]) -> str:
    return "the inputs are " + ", ".join(f"{n!r} {d}" for n, d in declared.items())


def _outputs_hint(graph: Any) -> str:
    return f"the model's outputs are {_listed(o.name for o in graph.output)}"


def _listed(names: Iterable[str] | Sequence[str]) -> str:
    return ", ".join(repr(n) for n in names)
