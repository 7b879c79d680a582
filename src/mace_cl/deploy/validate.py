"""A compiled network beside its model's reference: MACE's similarity, and what it cannot see."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mace_cl.deploy.builds import Build
from mace_cl.deploy.compile import import_build
from mace_cl.deploy.fetch import model_path
from mace_cl.errors import UsageError
from mace_cl.graph import Graph
from mace_cl.graph.evaluate import evaluate_graph
from mace_cl.runtime.session import Session

SEED = 0


@dataclass(frozen=True)
class Comparison:
    """One output.

    Attributes:
        name: The output.
        similarity: Cosine of the angle between result and reference, as MACE computes it.
        absolute: Largest absolute difference.
        relative: Largest absolute difference over the reference's largest magnitude.
        scale: Factor that fits the result to the reference best; a network that is right has 1.
        peak: The reference's largest magnitude.
    """

    name: str
    similarity: float
    absolute: float
    relative: float
    scale: float
    peak: float


def compare(got: np.ndarray, wanted: np.ndarray, name: str) -> Comparison:
    """Compare one output with its reference.

    Source: the similarity is that of MACE's validation (tools/python/validate.py at 0fc55a54): the dot product over the
    product of the norms.
    """
    a, b = got.reshape(-1).astype(np.float64), wanted.reshape(-1).astype(np.float64)
    norms = float(np.linalg.norm(a) * np.linalg.norm(b))
    same = bool(np.array_equal(a, b))
    similarity = float(a @ b) / norms if norms else float(same)
    absolute = float(np.abs(a - b).max(initial=0.0))
    peak = float(np.abs(b).max(initial=0.0))
    relative = absolute / peak if peak else (0.0 if same else float("inf"))
    power = float(b @ b)
    return Comparison(name, similarity, absolute, relative, float(a @ b) / power if power else 1.0, peak)


def validation_inputs(build: Build, graph: Graph) -> dict[str, np.ndarray]:
    """The inputs of a validation: the file's own data, or seeded random numbers in its ranges.

    Raises:
        UsageError: A file of data is missing or does not fit.
    """
    rng = np.random.default_rng(SEED)
    made: dict[str, np.ndarray] = {}
    for i, spec in enumerate(build.inputs):
        type_ = graph.inputs[spec.alias].type
        if build.validation_inputs:
            made[spec.alias] = _load(build.validation_inputs[i], type_.shape).astype(type_.dtype.numpy)
        elif type_.dtype.is_float:
            low, high = build.ranges[i]
            made[spec.alias] = rng.uniform(low, high, type_.shape).astype(type_.dtype.numpy)
        else:
            low, high = build.ranges[i]
            made[spec.alias] = rng.integers(int(np.ceil(low)), int(high) + 1, type_.shape).astype(type_.dtype.numpy)
    return made


def references(build: Build, graph: Graph, feeds: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """What the outputs must be: the file's own data, or the operators' references in float64."""
    if not build.validation_outputs:
        return evaluate_graph(graph, feeds)
    return {
        spec.alias: _load(path, graph.outputs[spec.alias].shape)
        for spec, path in zip(build.outputs, build.validation_outputs, strict=True)
    }


def validate_build(build: Build, compiled: Path, device: str | None, *, download: bool = False) -> list[Comparison]:
    """Run a compiled file and compare every output.

    Raises:
        MaceError: The file or the model cannot be used.
    """
    graph = import_build(build, model_path(build.location, build.sha256, download=download))
    feeds = validation_inputs(build, graph)
    wanted = references(build, graph, feeds)
    with Session.load(compiled, device=device) as session:
        got = session.run(feeds)
    return [compare(got[name], wanted[name], name) for name in wanted]


def threshold(build: Build, kind: str) -> float:
    """Least similarity for a kind of device."""
    return build.thresholds.cpu if kind == "cpu" else build.thresholds.gpu


def _load(path: Path, shape: tuple[int, ...]) -> np.ndarray:
    try:
        with path.open("rb") as file:
            array = np.lib.format.read_array(file, allow_pickle=False)
    except OSError as error:
        raise UsageError(error.strerror or str(error), where=str(path)) from error
    except (ValueError, EOFError, SyntaxError, TypeError) as error:
        raise UsageError(f"is not a .npy file: {error}", where=str(path)) from error
    if array.size != np.prod(shape):
        raise UsageError(f"has shape {array.shape}, the tensor has {shape}", where=str(path))
    result: np.ndarray = array.reshape(shape)
    return result
