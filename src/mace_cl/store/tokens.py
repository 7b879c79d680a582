"""Facts that this machine knows, each an empty file named by a hash: what it built, tried or verified."""

from __future__ import annotations

import contextlib
import hashlib
import os
from pathlib import Path

from mace_cl.errors import CacheError
from mace_cl.store.folder import reason

LIMIT = 4096
"""More than these, and the oldest half is forgotten: each costs only a little work to know again."""


def token(*parts: str) -> str:
    """The name of a fact."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


class Tokens:
    """A set of facts.

    Args:
        folder: It exists and is ours.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def has(self, name: str) -> bool:
        """Whether the fact is known."""
        return os.path.isfile(os.path.join(self._folder, name))

    def add(self, name: str) -> None:
        """Note a fact.

        Raises:
            CacheError: The folder cannot be written.
        """
        if self.has(name):
            return
        try:
            os.close(os.open(os.path.join(self._folder, name), os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))
        except OSError as error:
            raise CacheError(f"cannot be written ({reason(error)})", where=str(self._folder)) from error
        self._forget_old()

    def remove(self, name: str) -> None:
        """Forget a fact."""
        with contextlib.suppress(OSError):
            os.unlink(os.path.join(self._folder, name))

    def clear(self) -> None:
        """Forget everything."""
        with contextlib.suppress(OSError):
            for entry in list(os.scandir(self._folder)):
                self.remove(entry.name)

    def _forget_old(self) -> None:
        with contextlib.suppress(OSError):
            entries = list(os.scandir(self._folder))
            if len(entries) > LIMIT:
                entries.sort(key=lambda e: e.stat().st_mtime)
                for entry in entries[: LIMIT // 2]:
                    self.remove(entry.name)
