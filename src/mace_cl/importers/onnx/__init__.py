"""ONNX models, operator set 7 to the newest that the installed `onnx` package knows."""

from mace_cl.importers.onnx.model import import_file, import_proto
from mace_cl.importers.onnx.registry import supported_operators
from mace_cl.importers.onnx.signature import recognises

__all__ = ["import_file", "import_proto", "recognises", "supported_operators"]
