"""Crash markers: a binary that takes the process along twice in a row is set aside.

A marker is written before the driver does something with a binary, and removed after. One that is found without its
process is a strike. A first launch that goes well takes all strikes back. What another boot left (a reboot is no crash
of ours) is thrown away; what another host left is not judged.

A program that nothing vouches for, and that was not tried in a child process, is on probation: its marker stays until
it has worked for a while, or the process ends well.

Strikes alone do not tell a crash from a user's kill. So a binary with two strikes is tried in a child process, where
that is allowed: if it lives, the strikes are forgiven, once; if it dies it is condemned until the driver changes, with
which its name here changes.

Files in the folder, for a name (the hash of binary, options and device identity):
    NAME.<host hash>.<pid>.<start>.<serial>.active     a marker: JSON with host, boot and phase
    NAME.<host hash>.<pid>.<start>.<serial>.strike     what became of it
    NAME.forgiven, NAME.condemned                      verdicts
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mace_cl.errors import CacheError
from mace_cl.store.exits import ExitFile
from mace_cl.store.folder import reason
from mace_cl.store.processes import Process, is_alive, this_process

_serial = itertools.count(1)

LIMIT = 2
"""Strikes in a row that set a binary aside."""


class Markers:
    """The markers of one machine.

    Args:
        folder: It exists and is ours.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._own = this_process()

    def strikes(self, name: str) -> int:
        """Strikes of a binary, those that dead processes left just now included."""
        files = self._files(name)
        return sum(f.endswith(".strike") or (f.endswith(".active") and self._judge(f)) for f in files)

    def condemned(self, name: str) -> str | None:
        """Why a binary is set aside until the driver changes; None if it is not."""
        try:
            with open(self._path(f"{name}.condemned"), encoding="utf-8", errors="replace") as file:
                return file.read().strip() or "it was set aside"
        except OSError:
            return None

    def is_forgiven(self, name: str) -> bool:
        """Whether strikes were forgiven before, with no good run since."""
        return os.path.exists(self._path(f"{name}.forgiven"))

    def condemn(self, name: str, why: str) -> None:
        """Set a binary aside until the driver changes: a child process died of it, or its results are wrong.

        Raises:
            CacheError: The folder cannot be written.
        """
        self._write(f"{name}.condemned", why)

    def forgive(self, name: str) -> None:
        """Take strikes back, because the binary works in a child process.

        Raises:
            CacheError: The folder cannot be written.
        """
        self._write(f"{name}.forgiven", "")
        self.strikes(name)  # what dead processes left counts no more, either
        self._remove(name, (".strike",))

    def passed(self, name: str) -> None:
        """Take everything back: a first launch went well."""
        if self._files(name):
            self.strikes(name)
            self._remove(name, (".strike", ".forgiven"))

    @contextmanager
    def guard(self, name: str, phase: str) -> Iterator[None]:
        """Stand for the time in which the driver handles the binary.

        Args:
            name: Of the binary.
            phase: 'create', 'build' or 'first launch'.

        Raises:
            CacheError: The folder cannot be written.
        """
        file = self._mark(name, phase)
        try:
            yield
        finally:
            # Reached after an error as well: a process that could clean up did not crash.
            with contextlib.suppress(OSError):
                os.unlink(self._path(file))

    def stay(self, name: str) -> ExitFile:
        """A marker that stays until it is removed or the process ends well.

        Raises:
            CacheError: The folder cannot be written.
        """
        return ExitFile(self._path(self._mark(name, "in use")))

    def clear(self) -> None:
        """Remove every marker and verdict."""
        for file in self._files(""):
            with contextlib.suppress(OSError):
                os.unlink(self._path(file))

    # -- files ------------------------------------------------------------------------------------------------

    def _mark(self, name: str, phase: str) -> str:
        """Write a marker of this process; returns its name."""
        own = self._own
        file = f"{name}.{_short(own.host)}.{own.pid}.{own.start}.{next(_serial)}.active"
        self._write(file, json.dumps({"host": own.host, "boot": own.boot, "phase": phase}))
        return file

    def _path(self, file: str) -> str:
        return os.path.join(self._folder, file)

    def _files(self, name: str) -> list[str]:
        try:
            return [f for f in os.listdir(self._folder) if f.startswith(name)]
        except OSError:
            return []

    def _remove(self, name: str, suffixes: tuple[str, ...]) -> None:
        for file in self._files(name):
            if file.endswith(suffixes):
                with contextlib.suppress(OSError):
                    os.unlink(self._path(file))

    def _write(self, file: str, text: str) -> None:
        try:
            handle = os.open(self._path(file), os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
            try:
                os.write(handle, text.encode())
            finally:
                os.close(handle)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.unlink(self._path(file))
            raise CacheError(f"cannot be written ({reason(error)})", where=str(self._folder)) from error

    def _judge(self, file: str) -> bool:
        """Whether a marker is without its process; it becomes a strike then (one process wins the renaming)."""
        parts = file.split(".")
        own = self._own
        if len(parts) != 6 or parts[1] != _short(own.host) or not (parts[2].isdecimal() and parts[3].isdecimal()):
            return False
        if is_alive(Process(own.host, own.boot, int(parts[2]), int(parts[3]))):
            return False
        path = self._path(file)
        boot = _boot_of(path)
        if boot is None:
            return False  # gone, or written only in part: its process was killed before the driver saw the binary
        try:
            if boot != own.boot:
                os.unlink(path)
                return False
            os.rename(path, path.removesuffix(".active") + ".strike")
        except OSError:
            return False
        return True


def _boot_of(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8") as file:
            value = json.load(file)
        return str(value["boot"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _short(host: str) -> str:
    return hashlib.sha256(host.encode()).hexdigest()[:12]
