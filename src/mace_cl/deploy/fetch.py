"""Models that a deployment file names by address: downloaded once into the cache, within limits, and checked."""

from __future__ import annotations

import hashlib
import http.client
import os
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from mace_cl.errors import MaceError, UsageError
from mace_cl.store.folder import cache_folder

CHUNK_BYTES = 256 * 1024


@dataclass(frozen=True)
class Limits:
    """Limits of a download.

    Attributes:
        max_bytes: Largest file.
        max_seconds: Longest time for the whole of it.
        wait_seconds: Longest wait for the server's next bytes.
    """

    max_bytes: int = 2 * 1024**3
    max_seconds: float = 1800.0
    wait_seconds: float = 30.0


class DownloadError(MaceError):
    """A model could not be downloaded."""


def model_path(location: str, sha256: str, *, download: bool, limits: Limits | None = None) -> Path:
    """The model as a local file whose checksum is right.

    Args:
        location: A path, or an http(s) address.
        sha256: Its checksum, or empty for none.
        download: Whether an address may be fetched.
        limits: Limits of a download.

    Raises:
        UsageError: The file is missing, the checksum is wrong, or it would have to be downloaded and may not.
        DownloadError: The download failed; nothing is left behind.
    """
    if not location.startswith(("http://", "https://")):
        path = Path(location)
        if not path.is_file():
            raise UsageError("there is no such file", where=location)
        _check(path, sha256, location)
        return path
    if not sha256:
        raise UsageError("a model that is downloaded needs model_sha256_checksum", where=location)
    path = cache_folder() / "downloads" / sha256 / (Path(urllib.parse.urlsplit(location).path).name or "model")
    if path.is_file() and _sha256(path) == sha256:
        return path
    if not download:
        raise UsageError("the model is not here", where=location, hint="--download fetches it")
    return _fetch(location, sha256, path, limits or Limits())


def _fetch(address: str, sha256: str, path: Path, limits: Limits) -> Path:
    """Download to a temporary name beside the target, check, rename."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".download-")
    try:
        with os.fdopen(handle, "wb") as file:
            found = _copy(address, file, limits)
        if found != sha256:
            raise DownloadError(f"its SHA-256 is {found}, not {sha256}", where=address)
        Path(temporary).replace(path)
    except (urllib.error.URLError, http.client.HTTPException, OSError, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        if isinstance(error, urllib.error.HTTPError):
            error.close()
        raise DownloadError(f"cannot be downloaded: {reason}", where=address) from error
    finally:
        Path(temporary).unlink(missing_ok=True)
        if not path.exists():
            _remove_empty(path.parent)
    return path


def _remove_empty(folder: Path) -> None:
    """A failed download leaves no folder either."""
    try:
        folder.rmdir()
    except OSError:
        return


def _copy(address: str, file: IO[bytes], limits: Limits) -> str:
    """Copy the answer into a file; gives its SHA-256."""
    digest = hashlib.sha256()
    total, deadline = 0, time.monotonic() + limits.max_seconds
    opener = urllib.request.build_opener(_BoundedRedirects())
    with opener.open(address, timeout=limits.wait_seconds) as answer:
        announced = answer.headers.get("Content-Length")
        if announced and announced.isdigit() and int(announced) > limits.max_bytes:
            raise DownloadError(f"has {announced} bytes, more than {limits.max_bytes}", where=address)
        while chunk := answer.read1(CHUNK_BYTES):
            total += len(chunk)
            if total > limits.max_bytes:
                raise DownloadError(f"has more than {limits.max_bytes} bytes", where=address)
            if time.monotonic() > deadline:
                raise DownloadError(f"takes longer than {limits.max_seconds:.0f} s", where=address)
            digest.update(chunk)
            file.write(chunk)
        if announced and announced.isdigit() and total != int(announced):
            raise DownloadError(f"the connection ended after {total} of {announced} bytes", where=address)
    return digest.hexdigest()


class _BoundedRedirects(urllib.request.HTTPRedirectHandler):
    """A few redirections, to http and https alone."""

    max_repeats = 2
    max_redirections = 5

    def redirect_request(self, req, fp, code, msg, headers, newurl):  # type: ignore[no-untyped-def]
        if not newurl.startswith(("http://", "https://")):
            fp.close()
            raise DownloadError(f"is redirected to {newurl!r}", where=req.full_url)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _check(path: Path, sha256: str, location: str) -> None:
    if sha256 and (found := _sha256(path)) != sha256:
        raise UsageError(f"its SHA-256 is {found}, model_sha256_checksum says {sha256}", where=location)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
