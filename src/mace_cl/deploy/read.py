"""A deployment file to its models: every error at once, each with its line and the nearest right key."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from mace_cl.deploy.keys import MODEL_IGNORED, MODEL_REFUSED, TOP_IGNORED, Ignored, Refused
from mace_cl.deploy.schema import Deployment, Model, Subgraph
from mace_cl.deploy.source import KeyPath, Source, read_source
from mace_cl.errors import UsageError

DEFAULT_GRAPH = "default_graph"


@dataclass(frozen=True)
class ReadDeployment:
    """A deployment file that passed.

    Attributes:
        source: Its text and lines.
        deployment: Its content.
        warnings: One line for each key that has no meaning here.
    """

    source: Source
    deployment: Deployment
    warnings: tuple[str, ...]


def read_deployment(path: str | Path) -> ReadDeployment:
    """Read and check a deployment file.

    Raises:
        UsageError: Lists every key that is unknown, wrong or refused, with its line.
        FormatError: The text is not YAML within limits.
    """
    return check_source(read_source(path))


def check_source(source: Source) -> ReadDeployment:
    """Check the values of a deployment file; see `read_deployment`."""
    checker = _Checker(source)
    values = checker.top(source.values)
    deployment = None
    try:
        deployment = Deployment.model_validate(values)
    except ValidationError as error:
        checker.collect(error)
    if checker.errors or deployment is None:
        lines = "\n".join(f"  - {text}" for _, text in sorted(checker.errors))
        raise UsageError(f"{len(checker.errors)} errors:\n{lines}", where=str(source.path))
    return ReadDeployment(source, deployment, tuple(checker.warnings))


class _Checker:
    """Sorts keys into built, refused, meaningless and unknown."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.errors: list[tuple[int, str]] = []
        self.warnings: list[str] = []

    def error(self, path: KeyPath, message: str) -> None:
        line = self.source.line(path)
        dotted = ".".join(map(str, path))
        self.errors.append((line, f"line {line}: {dotted or 'the file'}: {message}"))

    # -- the three levels -------------------------------------------------------------------------------------

    def top(self, raw: Any) -> Any:
        """The file's own keys."""
        if not isinstance(raw, dict):
            self.error((), "is not a mapping of keys to values")
            return {}
        kept = self.keys(raw, (), Deployment, TOP_IGNORED, {})
        models = kept.get("models")
        if isinstance(models, dict):
            kept["models"] = {name: self.model(value, ("models", name)) for name, value in models.items()}
        return kept

    def model(self, raw: Any, path: KeyPath) -> Any:
        """A model's keys."""
        if not isinstance(raw, dict):
            return raw
        kept = self.keys(raw, path, Model, MODEL_IGNORED, MODEL_REFUSED)
        graphs = kept.get("subgraphs")
        if isinstance(graphs, list):
            # MACE itself uses the first one only and is silent about the others.
            if len(graphs) > 1:
                self.error((*path, "subgraphs"), "a list holds one subgraph; several need names")
            kept["subgraphs"] = {}
            if graphs:
                kept["subgraphs"][DEFAULT_GRAPH] = self.subgraph(graphs[0], (*path, "subgraphs", 0))
            else:
                self.error((*path, "subgraphs"), "is empty")
        elif isinstance(graphs, dict):
            kept["subgraphs"] = {n: self.subgraph(g, (*path, "subgraphs", n)) for n, g in graphs.items()}
            if not graphs:
                self.error((*path, "subgraphs"), "is empty")
        return kept

    def subgraph(self, raw: Any, path: KeyPath) -> Any:
        """A subgraph's keys, and that its lists are of one length."""
        if not isinstance(raw, dict):
            return raw
        return self.keys(raw, path, Subgraph, MODEL_IGNORED, MODEL_REFUSED)

    def keys(
        self,
        raw: Mapping[str, Any],
        path: KeyPath,
        model: type[BaseModel],
        ignored: Mapping[str, Ignored],
        refused: Mapping[str, Refused],
    ) -> dict[str, Any]:
        """The keys that are built; the others are refused, warned of, or unknown."""
        kept = {}
        for key, value in raw.items():
            here = (*path, key)
            if key in model.model_fields:
                # A key without a value is as good as absent.
                if value is not None or key in ("models", "subgraphs"):
                    kept[key] = value
            elif key in refused:
                if not _among(value, refused[key].defaults):
                    self.error(here, f"{value!r} is not done here: {refused[key].reason}")
            elif key in ignored:
                if not _among(value, ignored[key].defaults):
                    line = self.source.line(here)
                    self.warnings.append(f"line {line}: {key}: has no meaning here: {ignored[key].reason}")
            else:
                near = difflib.get_close_matches(key, [*model.model_fields, *ignored, *refused], 1)
                self.error(here, "is no key of the schema" + (f"; did you mean {near[0]!r}?" if near else ""))
        return kept

    def collect(self, error: ValidationError) -> None:
        """pydantic's errors, in our words."""
        for item in error.errors(include_url=False):
            path = self._original(tuple(p for p in item["loc"] if p != "[key]"))
            message = item["msg"].removeprefix("Value error, ")
            if item["type"] == "missing":
                message = f"{path[-1]!r} is missing"
                path = path[:-1]
            self.error(path, message[:1].lower() + message[1:])

    def _original(self, path: tuple[int | str, ...]) -> KeyPath:
        """The path in the file: a single subgraph of a list was given a name."""
        parts = list(path)
        if DEFAULT_GRAPH in parts and isinstance(self._at(tuple(parts[:3])), list):
            parts[parts.index(DEFAULT_GRAPH)] = 0
        return tuple(parts)

    def _at(self, path: KeyPath) -> Any:
        value = self.source.values
        for key in path:
            try:
                value = value[key]
            except (KeyError, IndexError, TypeError):
                return None
        return value


def _among(value: Any, defaults: tuple[Any, ...]) -> bool:
    return any(value == d and isinstance(value, bool) == isinstance(d, bool) for d in defaults)
