"""A file's bytes to a ModelProto, and a ModelProto to a Graph."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from google.protobuf.message import DecodeError
from onnx import ModelProto, defs

from mace_cl.errors import ImportModelError, UnsupportedError
from mace_cl.graph import Graph
from mace_cl.importers.onnx.boundary import Boundary, find_boundary
from mace_cl.importers.onnx.functions import opset_versions, plain_domain
from mace_cl.importers.onnx.importer import Frame, Importer, frame_of
from mace_cl.importers.onnx.text import check_text
from mace_cl.importers.options import ImportOptions

OLDEST_OPSET = 7
"""Operator sets before this one broadcast in another way."""


def import_file(path: Path, options: ImportOptions) -> Graph:
    """Read an ONNX model.

    Args:
        path: The file; external data are looked for beside it.
        options: Shapes, cuts and fixed inputs; names are those of the model's tensors.

    Raises:
        ImportModelError: The file is damaged, or its external data are missing.
        UnsupportedError: It holds what is not built here; lists all of it.
        ShapeError: Shapes do not fit, or are open.
        UsageError: An option names a tensor that is not there.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ImportModelError(f"cannot be read: {error.strerror}", where=str(path)) from error
    if not data:
        raise ImportModelError("the file is empty", where=str(path))
    model = ModelProto()
    try:
        model.ParseFromString(data)
    except (DecodeError, UnicodeDecodeError) as error:
        raise ImportModelError("the file is damaged or cut off, or no ONNX model", where=str(path)) from error
    return _imported(model, options, path.parent, str(path), path.stem)


def import_proto(model: Any, options: ImportOptions | None = None, base_dir: Path | str | None = None) -> Graph:
    """Import a model that is in memory.

    Args:
        model: The onnx.ModelProto.
        options: As for `import_file`.
        base_dir: Folder of external data; a model with such data is refused without it.

    Raises:
        MaceError: As for `import_file`.
    """
    folder = None if base_dir is None else Path(base_dir)
    name = model.graph.name or "model"
    return _imported(model, options or ImportOptions(), folder, name, name)


def _imported(model: Any, options: ImportOptions, folder: Path | None, where: str, name: str) -> Graph:
    check_text(model, where)
    opsets = _opsets(model, where)
    boundary = find_boundary(model.graph, options, where)
    graph = Graph(name)
    importer = Importer(graph, model.functions, folder, where)
    frame = frame_of(model.graph, opsets, {}, None)
    _check_initialisers(model.graph, where)
    _add_inputs(importer, frame, boundary)
    nodes = _cut(model.graph.node, boundary) if options.input_names else model.graph.node
    for output, value in zip(boundary.outputs, importer.run(frame, nodes, boundary.outputs), strict=True):
        graph.add_output(output, value)
    graph.prune()
    return graph


def _opsets(model: Any, where: str) -> dict[str, int]:
    """Domain to operator set version, ONNX's own being one that is known here."""
    if not model.HasField("graph"):
        raise ImportModelError("holds no graph: it is cut off, or no ONNX model", where=where)
    opsets = opset_versions(model.opset_import)
    # Files of IR version 1 and 2 name no operator sets; theirs is 1.
    opset = opsets.setdefault("", 1)
    newest = defs.onnx_opset_version()
    if opset > newest:
        raise UnsupportedError(
            f"operator set {opset} is newer than {newest}, the newest that the installed onnx package knows",
            where=where,
            hint="upgrade onnx, or export the model to an older operator set",
        )
    if opset < OLDEST_OPSET and any(not plain_domain(n.domain) for n in model.graph.node):
        raise UnsupportedError(
            f"operator set {opset} is older than {OLDEST_OPSET}",
            where=where,
            hint=f"convert the model with onnx.version_converter.convert_version(model, {newest})",
        )
    return opsets


def _check_initialisers(graph: Any, where: str) -> None:
    seen: set[str] = set()
    for name in (*(t.name for t in graph.initializer), *(t.values.name for t in graph.sparse_initializer)):
        if name in seen:
            raise ImportModelError(f"two initialisers are named {name!r}", where=where)
        seen.add(name)


def _add_inputs(importer: Importer, frame: Frame, boundary: Boundary) -> None:
    graph = importer.graph
    values = {n: graph.add_input(n, t) for n, t in boundary.inputs.items()}
    values |= {n: graph.constant(a, n) for n, a in boundary.fixed.items()}
    for name, value in values.items():
        importer.name(value)
        frame.values[name] = value


def _cut(nodes: Any, boundary: Boundary) -> list[Any]:
    """The nodes without those that produce tensors which became inputs."""
    cut = {*boundary.inputs, *boundary.fixed}
    return [n for n in nodes if not cut.intersection(n.output)]
