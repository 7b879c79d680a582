"""TensorFlow Lite models (.tflite) to graphs.

Role: bytes of the published FlatBuffers schema, version 3, to a Graph. `reader` turns bytes into records and trusts
no length; `convert` walks the records; `ops/` holds one function for each built-in operator.
"""

from __future__ import annotations

from mace_cl.importers.tflite.convert import import_file
from mace_cl.importers.tflite.signature import recognises

__all__ = ["import_file", "recognises"]
