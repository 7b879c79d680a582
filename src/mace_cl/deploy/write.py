"""A deployment file for a model: names, shapes and checksum filled in."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import yaml

from mace_cl.deploy.schema import CPP_KEYWORDS
from mace_cl.graph import Graph, Value


def deployment_text(model: Path, platform: str, graph: Graph, folder: Path) -> str:
    """The YAML text.

    Args:
        model: The model file.
        platform: Its format.
        graph: The imported network.
        folder: Where the text will lie; the model's path is relative to it where it can be.
    """
    with model.open("rb") as file:
        checksum = hashlib.file_digest(file, "sha256").hexdigest()
    name = _name(model.stem)
    location = model.resolve()
    if location.is_relative_to(folder.resolve()):
        location = location.relative_to(folder.resolve())
    layout = "NCHW" if platform == "onnx" else "NHWC"
    subgraph: dict[str, object] = {}
    for side, values in (("input", graph.inputs), ("output", graph.outputs)):
        subgraph[f"{side}_tensors"] = list(values)
        subgraph[f"{side}_shapes"] = [",".join(map(str, v.shape)) for v in values.values()]
        subgraph[f"{side}_data_types"] = [_type(v) for v in values.values()]
        subgraph[f"{side}_data_formats"] = [layout if v.type.rank == 4 else "NONE" for v in values.values()]
    subgraph["input_ranges"] = ["-1.0,1.0" for _ in graph.inputs]
    text = {
        "library_name": name,
        "target_abis": ["host"],
        "model_graph_format": "file",
        "model_data_format": "file",
        "models": {
            name: {
                "platform": platform,
                "model_file_path": str(location),
                "model_sha256_checksum": checksum,
                "subgraphs": [subgraph],
                "runtime": "cpu+gpu",
            }
        },
    }
    return yaml.safe_dump(text, sort_keys=False, allow_unicode=True, width=120)


def _name(stem: str) -> str:
    """A name that the schema takes."""
    name = re.sub(r"[^a-zA-Z0-9_]", "_", stem) or "model"
    if name[0].isdigit() or name in CPP_KEYWORDS:
        name = f"model_{name}"
    return name


def _type(value: Value) -> str:
    """The element type, as MACE names those that it knows."""
    return value.dtype.value
