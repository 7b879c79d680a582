"""The text of deployment files: what is read, and what is refused in time."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mace_cl.deploy.read import check_source
from mace_cl.deploy.source import parse_source, read_source
from mace_cl.errors import FormatError, MaceError

HERE = Path("deployment.yml")


def values(text: str, **environment: str) -> object:
    return parse_source(text.encode(), HERE, environment).values


def test_words_that_yaml_takes_for_booleans_stay_words() -> None:
    assert values("a: ON\nb: off\nc: yes\nd: true\ne: False") == {
        "a": "ON", "b": "off", "c": "yes", "d": True, "e": False,
    }  # fmt: skip


def test_numbers_and_strings() -> None:
    assert values("a: 1\nb: 1.5\nc: '1'\nd: 1,224,224,3\ne: -1.0,1.0\nf:\ng: 1e-3\nh: 007") == {
        "a": 1, "b": 1.5, "c": "1", "d": "1,224,224,3", "e": "-1.0,1.0", "f": None, "g": 1e-3, "h": 7.0,
    }  # fmt: skip


def test_variables_come_from_the_environment() -> None:
    assert values("path: ${ROOT}/model.pb", ROOT="/models") == {"path": "/models/model.pb"}
    with pytest.raises(FormatError, match="'ROOT' is not set") as error:
        values("\n\npath: ${ROOT}/model.pb")
    assert "line 3" in str(error.value)


def test_a_variable_cannot_bring_in_structure() -> None:
    assert values("path: ${X}", X="a: b") == {"path": "a: b"}
    assert values("path: ${X}", X="1") == {"path": "1"}


def test_lines_are_known() -> None:
    source = parse_source(b"a: 1\nb:\n  - x\n  - c: 2\n", HERE, {})
    assert source.line(("b", 1, "c")) == 4
    assert source.line(("b", 1, "d")) == 4


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\na: 2", "stands here twice"),
        ("a: [1, 2", "not YAML"),
        ("a: *b", "stands for nothing"),
        ("? [1, 2]\n: 3", "plain word"),
        ("a: 1\n---\nb: 2", "more than one document"),
        ("a: " + "9" * 5000, "too long"),
        ("[" * 200 + "]" * 200, "nested more than"),
        ("a: !!python/object/apply:os.system ['true']", ""),
    ],
)
def test_what_is_refused(text: str, message: str) -> None:
    if message:
        with pytest.raises(FormatError, match=message) as error:
            values(text)
        assert "line" in str(error.value)
    else:
        assert values(text) == {"a": ["true"]}  # a tag means nothing, least of all a call


def test_other_encodings_are_refused() -> None:
    assert parse_source("﻿a: ä".encode(), HERE, {}).values == {"a": "ä"}
    for data in ("a: ä".encode("latin-1"), "a: b".encode("utf-16"), b"a: \x00b"):
        with pytest.raises(FormatError):
            parse_source(data, HERE, {})


def bomb() -> str:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 12)]
    return "\n".join(lines)


@pytest.mark.parametrize("text", [bomb(), "[" * 100_000, "a:\n" * 100_000, "- " * 50_000, "{a: " * 50_000])
def test_bombs_end_soon(text: str) -> None:
    start = time.monotonic()
    with pytest.raises(MaceError):
        values(text)
    assert time.monotonic() - start < 20  # a hang, not a figure


def test_a_large_file_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "large.yml"
    with path.open("wb") as file:
        file.truncate(100 * 1024 * 1024)
    with pytest.raises(FormatError, match="more than"):
        read_source(path)


@settings(max_examples=200, deadline=None)
@given(st.text() | st.binary().map(lambda b: b.decode("latin-1")) | st.text("abc:-[]{}&*!|>'\"\n #,0", max_size=60))
def test_no_text_ends_in_another_exception(text: str) -> None:
    with contextlib.suppress(MaceError):
        check_source(parse_source(text.encode("utf-8", "surrogatepass"), HERE, {}))
