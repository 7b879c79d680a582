"""Frozen TensorFlow graphs (GraphDef, .pb), read without TensorFlow.

The families' modules fill the registry of handlers when they are imported.
"""

from __future__ import annotations

from mace_cl.importers.tensorflow import (
    activation,
    batch_space,
    constants,
    convolution,
    elementwise,
    gather,
    normalization,
    pooling,
    reduction,
    resize,
    shapes,
    slicing,
)
from mace_cl.importers.tensorflow.importer import import_file
from mace_cl.importers.tensorflow.reader import is_graph_def, is_meta_graph, is_saved_model, is_text_graph

FAMILIES = (
    activation,
    batch_space,
    constants,
    convolution,
    elementwise,
    gather,
    normalization,
    pooling,
    reduction,
    resize,
    shapes,
    slicing,
)
"""The modules of handlers."""


def recognises(head: bytes) -> bool:
    """Whether a file's beginning is that of a GraphDef, or of a saved model or checkpoint's graph (to be frozen)."""
    return any(check(head) for check in (is_graph_def, is_saved_model, is_meta_graph, is_text_graph))


__all__ = ["FAMILIES", "import_file", "recognises"]
