"""Everything that is kept on this machine, behind one door. Trouble with it never fails a run: one warning says why."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TypeVar

from mace_cl.errors import CacheError
from mace_cl.store.folder import cache_folder, make_private
from mace_cl.store.locks import file_lock
from mace_cl.store.markers import Markers
from mace_cl.store.programs import ProgramCache
from mace_cl.store.tokens import Tokens

FOLDERS = ("programs", "markers", "vouched", "verified", "locks")
BUILD_WAIT_S = 600.0
"""How long a process waits for another that builds the same program, before it builds it itself."""

T = TypeVar("T")


class CacheWarning(UserWarning):
    """The cache of this machine is in trouble; the run goes on without it."""


class Store:
    """The cache folder.

    Attributes:
        folder: Where it is.
        programs: Programs that were built here.
        markers: Binaries that take the process along.
        vouched: Pairs of binary and plan that were built or tried on this machine.
        verified: Files whose weights were hashed.
        trouble: What went wrong, in order.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.trouble: list[str] = []
        self.programs = ProgramCache(folder / "programs")
        self.markers = Markers(folder / "markers")
        self.vouched = Tokens(folder / "vouched")
        self.verified = Tokens(folder / "verified")
        self.usable = True
        self._prepare()

    @classmethod
    def open(cls) -> Store:
        """The store of this user. One that cannot be used is empty and keeps nothing."""
        return cls(cache_folder())

    def _prepare(self) -> None:
        try:
            for folder in (self.folder, *(self.folder / name for name in FOLDERS)):
                make_private(folder)
        except CacheError as error:
            self.usable = False
            self.warn(error)

    def warn(self, error: CacheError) -> None:
        """Note a trouble; the first one of a store is said as a warning."""
        first = not self.trouble
        self.trouble.append(str(error))
        if first:
            warnings.warn(f"the cache is not used as it should be: {error}", CacheWarning, stacklevel=2)

    def attempt(self, action: Callable[[], T], otherwise: T) -> T:
        """The result of an action on the cache, or another value where it fails."""
        try:
            return action()
        except CacheError as error:
            self.warn(error)
            return otherwise

    def keep(self, action: Callable[[], None]) -> None:
        """Do something that changes the cache, if it can be used."""
        if self.usable:
            self.attempt(action, None)

    def lock(self, key: str) -> AbstractContextManager[bool]:
        """Hold the lock of a program while it is built."""
        if not self.usable:
            return nullcontext(False)
        return file_lock(self.folder / "locks" / f"{key[:2]}.lock", BUILD_WAIT_S)

    @contextmanager
    def guard(self, name: str, phase: str) -> Iterator[bool]:
        """A crash marker for a block; tells whether one could be written."""
        if not self.usable:
            yield False
            return
        marker = self.markers.guard(name, phase)
        try:
            marker.__enter__()
        except CacheError as error:
            self.warn(error)
            yield False
            return
        try:
            yield True
        finally:
            marker.__exit__(None, None, None)

    def clear(self) -> None:
        """Remove all that was kept."""
        self.programs.clear()
        self.markers.clear()
        self.vouched.clear()
        self.verified.clear()
