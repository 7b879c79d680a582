"""Running TensorFlow Lite files here and in LiteRT."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from mace_cl.graph import Graph
from mace_cl.graph.check import check
from mace_cl.importers.options import ImportOptions
from mace_cl.importers.tflite.convert import import_model_record
from mace_cl.importers.tflite.reader import read_model


def import_bytes(data: bytes, options: ImportOptions | None = None) -> Graph:
    """The graph of a file that is held in memory, checked."""
    graph = import_model_record(read_model(data, "model.tflite"), options or ImportOptions())
    check(graph)
    return graph


def litert_outputs(data: bytes, inputs: Mapping[str, np.ndarray], *, delegates: bool = False) -> dict[str, np.ndarray]:
    """What LiteRT gives; skips the test where it is not installed.

    Args:
        data: The file.
        inputs: An array for each input.
        delegates: Use XNNPACK too, which is faster, less exact, and has MediaPipe's custom operator.
    """
    litert = pytest.importorskip("ai_edge_litert.interpreter")
    kinds = litert.OpResolverType
    interpreter = litert.Interpreter(
        model_content=data,
        experimental_op_resolver_type=kinds.BUILTIN if delegates else kinds.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
    )
    for detail in interpreter.get_input_details():
        wanted = inputs[detail["name"]].shape
        if tuple(detail["shape"]) != wanted:
            interpreter.resize_tensor_input(detail["index"], wanted)
    interpreter.allocate_tensors()
    for detail in interpreter.get_input_details():
        interpreter.set_tensor(detail["index"], inputs[detail["name"]])
    interpreter.invoke()
    return {d["name"]: interpreter.get_tensor(d["index"]) for d in interpreter.get_output_details()}
