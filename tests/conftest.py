"""Shared by all tests: nothing is kept in the user's own cache."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(autouse=True, scope="session")
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A cache folder of the test session."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MACE_CACHE_DIR", str(folder))
        yield folder


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder of the test alone, not there yet."""
    folder = tmp_path / "own-cache"
    monkeypatch.setenv("MACE_CACHE_DIR", str(folder))
    return folder
