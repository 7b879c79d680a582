"""Records of a .tflite file to a Graph."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path

from mace_cl.errors import ImportModelError, MaceError, ShapeError, UnsupportedError
from mace_cl.graph import Graph, Value
from mace_cl.importers.options import ImportOptions
from mace_cl.importers.tflite.boundary import Boundary, add_inputs, add_outputs, find_boundary
from mace_cl.importers.tflite.context import Context
from mace_cl.importers.tflite.reader import read_model
from mace_cl.importers.tflite.records import ModelRecord, OperatorRecord
from mace_cl.importers.tflite.registry import find_handler
from mace_cl.importers.tflite.schema import CUSTOM
from mace_cl.importers.tflite.values import Values

MAX_ELEMENTS = 2**31 - 1
"""Elements of one tensor; more is a damaged shape, or nothing that a device could hold."""

_SLIPS = (ValueError, LookupError, TypeError, ArithmeticError, MemoryError, struct.error)
"""What NumPy raises when a damaged model is folded: indices out of range, sizes that do not match."""


def import_file(path: Path, options: ImportOptions) -> Graph:
    """Read a TensorFlow Lite model.

    Args:
        path: The file.
        options: Shapes, cuts and fixed inputs; names are those of the model's tensors.

    Raises:
        ImportModelError: The file is damaged.
        UnsupportedError: It holds what is not built here; lists all of it.
        ShapeError: Shapes do not fit, the given ones included.
        UsageError: An option names a tensor that is not there.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ImportModelError(f"cannot be read: {error.strerror}", where=str(path)) from error
    return import_model_record(read_model(data, path.name), options)


def import_model_record(model: ModelRecord, options: ImportOptions) -> Graph:
    """Convert a model that has been read; raises as `import_file`."""
    boundary = find_boundary(model, options)
    operators = live_operators(model, boundary)
    _refuse_unsupported(model, operators)
    graph = Graph(Path(model.path).stem)
    values = Values(graph, model)
    add_inputs(values, boundary, options)
    try:
        for operator in operators:
            _convert(values, operator)
    except ShapeError as error:
        if options.input_shapes and error.hint is None:
            error.hint = "other input shapes than the model's own may not fit its constants"
        raise
    add_outputs(values, boundary)
    graph.prune()
    return graph


def live_operators(model: ModelRecord, boundary: Boundary) -> list[OperatorRecord]:
    """The operators that the outputs need, in the file's order."""
    needed = set(boundary.outputs)
    live: list[OperatorRecord] = []
    for operator in reversed(model.operators):
        if any(i in needed and i not in boundary.inputs for i in operator.outputs):
            live.append(operator)
            needed.update(operator.inputs)
    return live[::-1]


def _refuse_unsupported(model: ModelRecord, operators: Sequence[OperatorRecord]) -> None:
    """Report every operator that cannot be converted at once."""
    items = [_describe(model, op) for op in operators if find_handler(op.name, op.custom_code) is None]
    if model.n_subgraphs > 1:
        items.append(f"{model.n_subgraphs} subgraphs (control flow, or several networks in one file)")
    if items:
        raise UnsupportedError("the model holds what is not supported here", where=model.path, items=items)


def _describe(model: ModelRecord, op: OperatorRecord) -> str:
    """An operator and its tensors, as one line."""
    name = f"custom operator {op.custom_code}" if op.name == CUSTOM else op.name
    inputs = ", ".join(repr(model.tensors[i].name) for i in op.inputs if i >= 0)
    outputs = ", ".join(repr(model.tensors[i].name) for i in op.outputs)
    return f"{name} version {op.version}, operator {op.index}: {inputs} -> {outputs}"


def _convert(values: Values, operator: OperatorRecord) -> None:
    """Add one operator's nodes; errors say which operator."""
    handler = find_handler(operator.name, operator.custom_code)
    assert handler is not None
    try:
        found = handler(Context(values, operator))
        results = [found] if isinstance(found, Value) else list(found)
        _bind(values, operator, results)
    except MaceError as error:
        error.where = _where(values.model, operator)
        raise
    except _SLIPS as error:
        raise ImportModelError(f"cannot be computed ({error})", where=_where(values.model, operator)) from error


def _bind(values: Values, operator: OperatorRecord, results: Sequence[Value]) -> None:
    if len(operator.outputs) > len(results):
        raise ImportModelError(f"has {len(operator.outputs)} results instead of {len(results)}")
    for index, value in zip(operator.outputs, results, strict=False):
        if value.type.elements > MAX_ELEMENTS:
            raise ImportModelError(f"gives a tensor of shape {list(value.shape)}, which is too large")
        values.bind_real(index, value)


def _where(model: ModelRecord, operator: OperatorRecord) -> str:
    result = model.tensors[operator.outputs[0]].name if operator.outputs else ""
    name = operator.custom_code or operator.name
    return f"{model.path}, operator {operator.index} ({name}) giving {result!r}"
