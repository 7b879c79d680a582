"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from mace_cl.errors import UsageError


def write_atomically(path: str | os.PathLike[str], chunks: Iterable[bytes | memoryview]) -> None:
    """Write a file under a temporary name in the same folder, bring it to the disk, and give it its name.

    Args:
        path: The file; one that is there is replaced.
        chunks: Its content in order.

    Raises:
        UsageError: The folder cannot be written, or the disk is full.
    """
    target = Path(path)
    temporary = ""
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:100]}.")
        with os.fdopen(handle, "wb") as stream:
            for chunk in chunks:
                stream.write(chunk)
            stream.flush()
            os.fsync(stream.fileno())
        _set_mode(temporary, target)
        Path(temporary).replace(target)
        temporary = ""
        _sync_folder(target.parent)
    except OSError as error:
        raise UsageError(f"cannot be written: {error.strerror or error}", where=str(path)) from error
    finally:
        if temporary:
            Path(temporary).unlink(missing_ok=True)


def _set_mode(temporary: str, target: Path) -> None:
    """The mode of the file that is replaced, or what the umask leaves of 0666."""
    if target.exists():
        mode = target.stat().st_mode & 0o777
    else:
        mask = os.umask(0)
        os.umask(mask)
        mode = 0o666 & ~mask
    Path(temporary).chmod(mode)


def _sync_folder(folder: Path) -> None:
    """Bring the new name to the disk; folders that cannot be opened (other systems) are left alone."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError:
        pass
    finally:
        os.close(handle)
