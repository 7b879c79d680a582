"""The user's cache folder: where it is, that it is ours alone, and files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import tempfile
from importlib import import_module
from pathlib import Path

from mace_cl.errors import CacheError

VARIABLE = "MACE_CACHE_DIR"
_NAME = "mace-cl"


def cache_folder() -> Path:
    """Where this user's cache lies; MACE_CACHE_DIR, or the platform's place. It need not exist."""
    chosen = os.environ.get(VARIABLE)
    if chosen:
        return Path(os.path.abspath(os.path.expanduser(chosen)))
    system: str = sys.platform
    if system == "linux":
        # What platformdirs says there; importing it takes longer than reading a program.
        base = os.environ.get("XDG_CACHE_HOME", "").strip() or os.path.expanduser("~/.cache")
        return Path(base) / _NAME
    return Path(import_module("platformdirs").user_cache_dir(_NAME))


def make_private(folder: Path) -> None:
    """Make a folder that only this user can enter, or see that it is one.

    Raises:
        CacheError: It cannot be made, is no folder, or belongs to somebody else.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        found = os.lstat(folder)
    except FileExistsError as error:
        raise CacheError("is not a folder", where=str(folder), hint="move it away") from error
    except (OSError, RuntimeError, ValueError) as error:
        raise CacheError(f"cannot be made ({_reason(error)})", where=str(folder)) from error
    if stat.S_ISLNK(found.st_mode):
        found = os.stat(folder)
    if hasattr(os, "getuid") and found.st_uid != os.getuid():
        raise CacheError("belongs to another user", where=str(folder), hint=f"set {VARIABLE} to a folder of your own")
    if stat.S_IMODE(found.st_mode) & 0o022:
        try:
            folder.chmod(0o700)
        except OSError as error:
            raise CacheError(f"can be written by others ({_reason(error)})", where=str(folder)) from error


def write_whole(path: Path, data: bytes) -> None:
    """Write a file that appears whole or not at all.

    Raises:
        CacheError: It cannot be written; nothing is left of it.
    """
    temporary = ""
    try:
        handle, temporary = tempfile.mkstemp(prefix=".new-", dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(temporary, path)
    except OSError as error:
        if temporary:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        raise CacheError(f"cannot be written ({_reason(error)})", where=str(path)) from error


def _reason(error: BaseException) -> str:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def reason(error: BaseException) -> str:
    """An error of the system in a few words."""
    return _reason(error)
