"""Programs that this machine built: one file each, named by the hash of all that decides what is built.

A file is `MACECLC1`, the length of a JSON header (u32), the header's SHA-256, the header, the binary. Nothing of it is
believed before its hash was compared. Sources that did not build are remembered in the same way, without a binary.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import struct
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mace_cl.errors import CacheError
from mace_cl.store.folder import reason, write_whole

MAGIC = b"MACECLC1"
SUFFIX = ".program"
FAILED = ".failed"
DEFAULT_QUOTA = 512 * 1024 * 1024
QUOTA_VARIABLE = "MACE_CACHE_SIZE"
_LENGTH = struct.Struct("<I32s")
_MAX_HEADER = 1 << 20
_TOUCH_S = 3600.0
_STALE_TEMPORARY_S = 3600.0


@dataclass(frozen=True)
class CachedProgram:
    """A program from the cache.

    Attributes:
        binary: The driver's bytes, checked.
        options: Options that it was built with.
        sha256: Of the bytes.
    """

    binary: bytes
    options: str
    sha256: str


@dataclass(frozen=True)
class CacheLine:
    """A file of the cache, for lists.

    Attributes:
        path: The file.
        size: Bytes.
        used: Time of its last use, in seconds since the epoch.
        about: Its header; empty if it is damaged.
    """

    path: Path
    size: int
    used: float
    about: Mapping[str, Any]


def program_key(
    identity: str, form: str, sha256: str, options: str, kernels: Sequence[str], local_sizes: Sequence[Sequence[int]]
) -> str:
    """Name of a program in the cache: the hash of all that decides what is built.

    Args:
        identity: Digest of the device's identity.
        form: 'source' or 'il'.
        sha256: Of the source or IL.
        options: Build options.
        kernels: Kernels that it must hold.
        local_sizes: Work-group sizes that final code is made for.
    """
    parts = [identity, form, sha256, options, list(kernels), [list(s) for s in local_sizes]]
    return hashlib.sha256(json.dumps(parts, separators=(",", ":")).encode()).hexdigest()


def quota_bytes() -> int:
    """Size that the cache may have: MACE_CACHE_SIZE in MiB, or the default."""
    try:
        return max(int(float(os.environ[QUOTA_VARIABLE]) * 1024 * 1024), 0)
    except (KeyError, ValueError, OverflowError):
        return DEFAULT_QUOTA


class ProgramCache:
    """The folder of built programs.

    Args:
        folder: It exists and is ours.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, key: str, suffix: str = SUFFIX) -> Path:
        """The file of a program."""
        return self.folder / (key + suffix)

    def get(self, key: str) -> tuple[CachedProgram | None, str]:
        """A program, or None and why not ('' if it was never there). A damaged file is removed."""
        header, binary, why = self._read(self.path(key), key)
        if header is None:
            return None, why
        self._touch(self.path(key))
        return CachedProgram(binary, str(header["options"]), str(header["sha256"])), ""

    def put(self, key: str, binary: bytes, options: str, about: Mapping[str, Any]) -> None:
        """Keep a program, then throw out those unused for longest until the quota is kept.

        Raises:
            CacheError: It cannot be written.
        """
        self._write(self.path(key), key, binary, {**about, "options": options})
        with contextlib.suppress(OSError):
            os.unlink(self.path(key, FAILED))
        self.evict(keep=self.path(key))

    def failure(self, key: str) -> str | None:
        """Why a program did not build on this device, if that is known."""
        header, log, _ = self._read(self.path(key, FAILED), key)
        if header is None:
            return None
        return f"{header.get('message', 'it did not build')}\n{log.decode('utf-8', 'replace')}".strip()

    def put_failure(self, key: str, message: str, log: str) -> None:
        """Remember that a program does not build.

        Raises:
            CacheError: It cannot be written.
        """
        text = log.encode()[-20_000:]
        self._write(self.path(key, FAILED), key, text, {"message": message})

    def discard(self, key: str) -> None:
        """Remove a program."""
        with contextlib.suppress(OSError):
            os.unlink(self.path(key))

    def lines(self) -> list[CacheLine]:
        """Every file, that used last first."""
        lines = []
        for path, found in self._files():
            header, _, _ = self._read(path, path.name.partition(".")[0], remove=False)
            lines.append(CacheLine(path, found.st_size, found.st_mtime, header or {}))
        return sorted(lines, key=lambda line: -line.used)

    def size(self) -> int:
        """Bytes of all files."""
        return sum(found.st_size for _, found in self._files())

    def evict(self, keep: Path | None = None) -> None:
        """Remove the files unused for longest until the quota is kept, and temporary files of dead processes."""
        quota = quota_bytes()
        files = sorted(self._files(), key=lambda pair: pair[1].st_mtime)
        total = sum(found.st_size for _, found in files)
        for path, found in files:
            if total <= quota:
                break
            if path != keep:
                with contextlib.suppress(OSError):
                    os.unlink(path)
                    total -= found.st_size
        self._sweep()

    def clear(self) -> None:
        """Remove every file."""
        for path, _ in self._files():
            with contextlib.suppress(OSError):
                os.unlink(path)
        self._sweep(0.0)

    # -- files ------------------------------------------------------------------------------------------------

    def _files(self) -> Iterator[tuple[Path, os.stat_result]]:
        try:
            entries = list(os.scandir(self.folder))
        except OSError:
            return
        for entry in entries:
            if entry.name.endswith((SUFFIX, FAILED)):
                with contextlib.suppress(OSError):
                    found = entry.stat(follow_symlinks=False)
                    if entry.is_file(follow_symlinks=False):
                        yield Path(entry.path), found

    def _sweep(self, older_s: float = _STALE_TEMPORARY_S) -> None:
        """Remove what killed writers left."""
        with contextlib.suppress(OSError):
            for entry in list(os.scandir(self.folder)):
                if entry.name.startswith(".new-") and abs(time.time() - entry.stat().st_mtime) >= older_s:
                    os.unlink(entry.path)

    def _touch(self, path: Path) -> None:
        """Note the use of a file, at most once an hour; a time in the future (the clock was set) counts as old."""
        with contextlib.suppress(OSError):
            age = time.time() - path.stat().st_mtime
            if not 0 <= age < _TOUCH_S:
                os.utime(path)

    def _write(self, path: Path, key: str, body: bytes, about: Mapping[str, Any]) -> None:
        header = {**about, "key": key, "sha256": hashlib.sha256(body).hexdigest(), "size": len(body)}
        text = json.dumps(header, sort_keys=True, separators=(",", ":")).encode()
        write_whole(path, MAGIC + _LENGTH.pack(len(text), hashlib.sha256(text).digest()) + text + body)

    def _read(self, path: Path, key: str, remove: bool = True) -> tuple[dict[str, Any] | None, bytes, str]:
        """Header, body, and why not."""
        try:
            data = _read_regular(path)
        except FileNotFoundError:
            return None, b"", ""
        except OSError as error:
            return None, b"", f"cannot be read ({reason(error)})"
        try:
            return *parse(data, key), ""
        except CacheError as error:
            if remove:
                with contextlib.suppress(OSError):
                    os.unlink(path)
            return None, b"", error.message


def _read_regular(path: Path) -> bytes:
    """The bytes of an ordinary file; a pipe or device is not opened for long."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | getattr(os, "O_NOFOLLOW", 0))
    with os.fdopen(handle, "rb") as file:
        return file.read()


def parse(data: bytes, key: str) -> tuple[dict[str, Any], bytes]:
    """Header and body of a cache file.

    Raises:
        CacheError: It is damaged, or another program's.
    """
    start = len(MAGIC) + _LENGTH.size
    if data[: len(MAGIC)] != MAGIC or len(data) < start:
        raise CacheError("is damaged: not a cache file")
    length, digest = _LENGTH.unpack_from(data, len(MAGIC))
    text = data[start : start + length]
    if length > _MAX_HEADER or len(text) < length:
        raise CacheError("is damaged: truncated")
    if hashlib.sha256(text).digest() != digest:
        raise CacheError("is damaged: its header's SHA-256 is not the stored one")
    try:
        header = json.loads(text.decode("utf-8"))
    except (ValueError, RecursionError):
        raise CacheError("is damaged: its header is no JSON") from None
    body = data[start + length :]
    if not isinstance(header, dict) or header.get("key") != key:
        raise CacheError("is damaged: it belongs to another program")
    if header.get("sha256") != hashlib.sha256(body).hexdigest():
        raise CacheError("is damaged: its SHA-256 is not the stored one")
    return header, body
