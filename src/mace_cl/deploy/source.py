"""The text of a deployment file to plain values, each with its line. Nothing in the text is trusted.

Differences from plain YAML 1.1, as MACE reads its files: `${VAR}` is replaced from the environment, and the words on,
off, yes and no stay words. Only true and false are booleans.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from mace_cl.errors import FormatError, UsageError

MAX_BYTES = 4 * 1024 * 1024
MAX_DEPTH = 32
MAX_NODES = 100_000

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9_]*)$")
_FLOAT = re.compile(r"[-+]?([0-9][0-9_]*\.?[0-9_]*|\.[0-9_]+)([eE][-+]?[0-9]+)?$")
_VARIABLE = re.compile(r"\$\{([^}]*)\}")

KeyPath = tuple[str | int, ...]
"""Keys and indices that lead to a value."""


@dataclass
class Source:
    """A deployment file's content.

    Attributes:
        path: The file.
        values: Dictionaries, lists, strings, numbers, booleans and None.
        lines: Path of each key or item to its line, counted from 1.
    """

    path: Path
    values: Any
    lines: dict[KeyPath, int] = field(default_factory=dict)

    def line(self, path: KeyPath) -> int:
        """The line of a value, or of the nearest one around it."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)


def read_source(path: str | Path, environment: Mapping[str, str] = os.environ) -> Source:
    """Read a deployment file.

    Raises:
        UsageError: It cannot be read.
        FormatError: It is too large, not UTF-8, not YAML, too deep, or has a key twice; says the line.
    """
    path = Path(path)
    try:
        if path.stat().st_size > MAX_BYTES:
            raise FormatError(f"has {path.stat().st_size} bytes, more than {MAX_BYTES}", where=str(path))
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(error.strerror or str(error), where=str(path)) from error
    return parse_source(data, path, environment)


def parse_source(data: bytes, path: Path, environment: Mapping[str, str] = os.environ) -> Source:
    """Parse the bytes of a deployment file; see `read_source`."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise FormatError("is not UTF-8", where=f"{path}, line {line}") from None
    source = Source(path, None)
    try:
        events = yaml.parse(text, Loader=_LOADER)
        source.values = _Builder(source, environment).document(events)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        raise FormatError(f"is not YAML: {error.problem or error.context}", where=f"{path}, line {line}") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise FormatError(f"is not YAML: {str(error).splitlines()[0]}", where=str(path)) from None
    return source


class _Builder:
    """Builds values from parser events, with limits."""

    def __init__(self, source: Source, environment: Mapping[str, str]) -> None:
        self.source = source
        self.environment = environment
        self.anchors: dict[str, tuple[Any, int]] = {}
        self.nodes = 0

    def fail(self, event: Any, message: str) -> FormatError:
        return FormatError(message, where=f"{self.source.path}, line {_line(event)}")

    def document(self, events: Iterator[Any]) -> Any:
        """The one document of the stream."""
        value: Any = None
        documents = 0
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise self.fail(event, "holds more than one document")
                value = self.value(next(events), events, (), 0)
        return value

    def count(self, event: Any, nodes: int) -> None:
        self.nodes += nodes
        if self.nodes > MAX_NODES:
            raise self.fail(event, f"holds more than {MAX_NODES} values (aliases count as often as they are used)")

    def value(self, event: Any, events: Iterator[Any], path: KeyPath, depth: int) -> Any:
        """The value that starts with an event."""
        if depth > MAX_DEPTH:
            raise self.fail(event, f"is nested more than {MAX_DEPTH} deep")
        self.source.lines.setdefault(path, _line(event))
        if isinstance(event, yaml.AliasEvent):
            return self.alias(event)
        before = self.nodes
        self.count(event, 1)
        made: Any
        if isinstance(event, yaml.ScalarEvent):
            made = self.scalar(event)
        elif isinstance(event, yaml.SequenceStartEvent):
            made = []
            while not isinstance(item := next(events), yaml.SequenceEndEvent):
                made.append(self.value(item, events, (*path, len(made)), depth + 1))
        else:
            made = self.mapping(events, path, depth)
        if event.anchor:
            self.anchors[event.anchor] = made, self.nodes - before
        return made

    def mapping(self, events: Iterator[Any], path: KeyPath, depth: int) -> dict[str, Any]:
        """A mapping; keys are words, each once."""
        made: dict[str, Any] = {}
        while not isinstance(key := next(events), yaml.MappingEndEvent):
            if not isinstance(key, yaml.ScalarEvent):
                raise self.fail(key, "a key must be a plain word")
            self.count(key, 1)
            name = key.value
            if name in made:
                raise self.fail(key, f"the key {name!r} stands here twice")
            self.source.lines[(*path, name)] = _line(key)
            made[name] = self.value(next(events), events, (*path, name), depth + 1)
        return made

    def alias(self, event: Any) -> Any:
        """What an anchor stands for; its size counts again."""
        if event.anchor not in self.anchors:
            raise self.fail(event, f"the alias {event.anchor!r} stands for nothing before it")
        made, nodes = self.anchors[event.anchor]
        self.count(event, nodes)
        return made

    def scalar(self, event: Any) -> Any:
        """A string, number, boolean or None."""
        text = _VARIABLE.sub(lambda m: self.variable(event, m[1]), event.value)
        if event.style or text != event.value:
            return text
        if text in ("", "~") or text.lower() == "null":
            return None
        if text.lower() in ("true", "false"):
            return text.lower() == "true"
        if _INTEGER.match(text):
            # Python refuses to convert numbers of more than some thousand digits.
            if len(text) > 400:
                raise self.fail(event, "a number is too long")
            return int(text.replace("_", ""))
        return float(text.replace("_", "")) if _FLOAT.match(text) else text

    def variable(self, event: Any, name: str) -> str:
        """The value of an environment variable."""
        if name not in self.environment:
            raise self.fail(event, f"the environment variable {name!r} is not set")
        return self.environment[name]


def _line(event: Any) -> int:
    """The line of a parser event, from 1."""
    return int(event.start_mark.line) + 1
