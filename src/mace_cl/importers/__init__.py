"""Model files to graphs. `import_model` recognises the format from a file's content.

Each format's package offers `recognises(head: bytes) -> bool` on a file's first 64 KiB and
`import_file(path: Path, options: ImportOptions) -> Graph`. A package is loaded when a file is first shown to it, so
that reading one format does not load the libraries of the others.
"""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path
from types import ModuleType

from mace_cl.errors import ImportModelError, UsageError
from mace_cl.graph import Graph
from mace_cl.importers.content import describe_content
from mace_cl.importers.options import ImportOptions

__all__ = ["ImportOptions", "import_model", "model_format"]

HEAD_BYTES = 64 * 1024

_FORMATS = {
    "tflite": ("TensorFlow Lite", (".tflite", ".lite")),
    "onnx": ("ONNX", (".onnx",)),
    "tensorflow": ("TensorFlow", (".pb", ".pbtxt", ".meta")),
}
"""Package to the format's name and its usual extensions; those with a signature of their own come first."""


def import_model(path: str | Path, options: ImportOptions | None = None) -> Graph:
    """Read a model file of any known format.

    Args:
        path: The file.
        options: Input shapes and the like.

    Raises:
        UsageError: The path is missing or no file.
        ImportModelError: The file is empty, damaged or of no known format; says what it looks like.
        UnsupportedError: The network holds what is not built here; lists all of it.
        ShapeError: Shapes do not fit.
    """
    path = Path(path)
    graph = _package(model_format(path)).import_file(path, options or ImportOptions())
    assert isinstance(graph, Graph)
    return graph


def model_format(path: str | Path) -> str:
    """'tflite', 'onnx' or 'tensorflow', by the file's content.

    Raises:
        UsageError: The path is missing or no file.
        ImportModelError: The file is empty or of no known format; says what it looks like.
    """
    path = Path(path)
    head = _read_head(path)
    for name in _order(path):
        if _package(name).recognises(head):
            return name
    known = ", ".join(_FORMATS[n][0] for n in _installed())
    raise ImportModelError(
        f"not a model of a known format: it looks like {describe_content(head)}",
        where=str(path),
        hint=f"known are {known}",
    )


def _read_head(path: Path) -> bytes:
    """The file's first bytes."""
    if path.is_dir():
        raise UsageError("is a folder, not a model file", where=str(path), hint=_folder_hint(path))
    try:
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES)
    except FileNotFoundError as error:
        raise UsageError("there is no such file", where=str(path)) from error
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot be read: {getattr(error, 'strerror', None) or error}", where=str(path)) from error
    if not head:
        raise ImportModelError("the file is empty", where=str(path))
    return head


def _folder_hint(path: Path) -> str | None:
    model = path / "saved_model.pb"
    return f"name the file {model} instead" if model.is_file() else None


def _order(path: Path) -> list[str]:
    """Formats in the order in which the file is shown to them.

    The content decides. ONNX and TensorFlow files have no signature and can look alike; then the extension does, as
    its format is asked first.
    """
    suffix = path.suffix.lower()
    return sorted(_installed(), key=lambda name: suffix not in _FORMATS[name][1])


def _installed() -> list[str]:
    present = {m.name for m in pkgutil.iter_modules(__path__) if m.ispkg}
    return [name for name in _FORMATS if name in present]


def _package(name: str) -> ModuleType:
    return importlib.import_module(f"{__name__}.{name}")
