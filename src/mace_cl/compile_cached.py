"""`mace run model.onnx`: a model compiled into the cache folder, once for each content, shapes and device."""

from __future__ import annotations

import hashlib
import importlib.metadata
import tempfile
import warnings
from collections.abc import Mapping
from pathlib import Path

from mace_cl.compiler import CompileOptions, compile_model
from mace_cl.importers import ImportOptions
from mace_cl.opencl.devices import select_device
from mace_cl.store.folder import cache_folder
from mace_cl.types import Shape


def compile_cached(model: Path, shapes: Mapping[str, Shape], device: str | None, *, use_cache: bool) -> Path | bytes:
    """The compiled file of a model: its path in the cache, or its bytes where there is no cache.

    Raises:
        MaceError: The model cannot be compiled.
    """
    options = CompileOptions(
        ImportOptions(input_shapes=shapes), devices=() if device is None else (device,), selftest=False
    )
    folder = _models_folder() if use_cache else None
    if folder is None:
        with tempfile.TemporaryDirectory(prefix="mace-cl-") as temporary:
            path = Path(temporary) / "model.bin"
            compile_model(model, path, options)
            return path.read_bytes()
    with model.open("rb") as stream:
        content = hashlib.file_digest(stream, "sha256").hexdigest()
    identity = select_device(device).identity.digest
    version = importlib.metadata.version("mace-cl")
    key = repr((content, sorted(shapes.items()), identity, version))
    path = folder / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.bin"
    if not path.exists():
        compile_model(model, path, options)
    return path


def _models_folder() -> Path | None:
    """The folder for compiled models, or None (with a warning) where it cannot be written."""
    try:
        folder = cache_folder() / "models"
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError as error:
        warnings.warn(f"the compiled model is not kept: {error}", RuntimeWarning, stacklevel=3)
        return None
