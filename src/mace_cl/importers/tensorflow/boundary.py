"""The network's inputs: which tensors they are, and their types with every dimension known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from mace_cl.errors import InputError, UsageError
from mace_cl.importers.options import ImportOptions
from mace_cl.importers.tensorflow.structure import PLACEHOLDERS, Port, Structure
from mace_cl.importers.tensorflow.tensors import data_type, open_shape
from mace_cl.types import DataType, Shape, TensorType

_T = TypeVar("_T")

_TYPE_ATTRIBUTES = ("dtype", "T", "DstT", "output_type", "out_type")
"""Attributes that give the element type of a node's result, the likeliest first."""


class Boundary:
    """Inputs, outputs and fixed inputs of an import.

    Attributes:
        outputs: The outputs, in the user's order or the file's.
        inputs: The inputs and their types.
        fixed: Inputs that are constants.
        order: The names of the nodes between, each behind those that it reads.
    """

    def __init__(self, structure: Structure, options: ImportOptions) -> None:
        self._structure = structure
        named = [structure.find(n, "input") for n in options.input_names]
        self.fixed = _by_port(options.fixed_inputs, structure)
        self.outputs = [structure.find(n, "output") for n in options.output_names] or structure.sinks()
        cut = frozenset([*named, *self.fixed])
        self.order = structure.order(self.outputs, cut)
        placeholders = [n for n in structure.nodes if n in set(self.order) and structure.nodes[n].op in PLACEHOLDERS]
        found = named or [Port(n) for n in placeholders]
        self._refuse_missing([n for n in placeholders if Port(n) not in found])
        self.inputs = self._types([p for p in dict.fromkeys(found) if p not in self.fixed], options)
        self.order = [n for n in self.order if Port(n) not in self.inputs]

    def _refuse_missing(self, missing: list[str]) -> None:
        if missing:
            names = ", ".join(repr(n) for n in missing)
            raise UsageError(
                f"the outputs also depend on {names}", where=self._structure.where, hint="name it as an input too"
            )

    def _types(self, ports: Sequence[Port], options: ImportOptions) -> dict[Port, TensorType]:
        """Each input's type.

        Raises:
            UsageError: Open dimensions are left; names all of them, and says what to write.
        """
        shapes = _by_port(options.input_shapes, self._structure)
        unknown = [p for p in shapes if p not in ports]
        if unknown:
            names = ", ".join(repr(str(p)) for p in ports)
            raise UsageError(f"a shape is given for {str(unknown[0])!r}, which is no input ({names})")
        types: dict[Port, TensorType] = {}
        problems: list[str] = []
        for port in ports:
            node = self._structure.nodes[port.name]
            declared = declared_shape(node, port.index)
            shape = shapes.get(port, declared)
            _check_rank(port, shapes.get(port), declared)
            if shape is None or None in shape:
                problems.append(_open_dimensions(port, shape))
            else:
                types[port] = TensorType(_element_type(node), tuple(d for d in shape if d is not None))
        if problems:
            raise UsageError("; ".join(problems), where=self._structure.where)
        return types

    def fixed_value(self, port: Port) -> np.ndarray:
        """The array of a fixed input, in its element type."""
        node = self._structure.nodes[port.name]
        array = np.asarray(self.fixed[port])
        _check_rank(port, array.shape, declared_shape(node, port.index))
        return array.astype(_element_type(node).numpy)


def _by_port(values: Mapping[str, _T], structure: Structure) -> dict[Port, _T]:
    return {structure.find(name, "input"): value for name, value in values.items()}


def declared_shape(node: Any, index: int) -> tuple[int | None, ...] | None:
    """The shape that the graph itself gives for a node's output; None where it gives none."""
    if index == 0 and node.op in PLACEHOLDERS | {"PlaceholderWithDefault"} and "shape" in node.attr:
        shape = open_shape(node.attr["shape"].shape)
        # Old graphs write an unknown shape as one without dimensions beside the real one.
        if shape or "_output_shapes" not in node.attr:
            return shape
    shapes = node.attr["_output_shapes"].list.shape if "_output_shapes" in node.attr else []
    return open_shape(shapes[index]) if index < len(shapes) else None


def _element_type(node: Any) -> DataType:
    for name in _TYPE_ATTRIBUTES:
        if name in node.attr:
            return data_type(node.attr[name].type, f"input {node.name!r}")
    return DataType.FLOAT32


def _check_rank(port: Port, given: Shape | None, declared: tuple[int | None, ...] | None) -> None:
    if given is not None and declared and len(given) != len(declared):
        raise InputError(
            f"input {str(port)!r} is given {len(given)} dimensions {list(given)}, the model says {_written(declared)}"
        )


def _written(shape: Sequence[int | None]) -> str:
    return f"[{', '.join('?' if d is None else str(d) for d in shape)}]"


def _open_dimensions(port: Port, shape: tuple[int | None, ...] | None) -> str:
    """What is open, and what to write."""
    if shape is None:
        return f"input {str(port)!r} has no shape; give it, as --input-shape {port}=1,224,224,3"
    places = [str(i) for i, d in enumerate(shape) if d is None]
    many = "s" if len(places) > 1 else ""
    # A batch of 1 is what nearly everybody means; for other sizes there is no such guess.
    sizes = ["1" if d is None and i == 0 else "SIZE" if d is None else str(d) for i, d in enumerate(shape)]
    return (
        f"input {str(port)!r} has open dimension{many} {', '.join(places)} in {_written(shape)}; "
        f"give it, as --input-shape {port}={','.join(sizes)}"
    )
