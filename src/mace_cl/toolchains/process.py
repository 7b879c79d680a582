"""Runs a compiler: with a time limit, in its own process group, without a shell."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mace_cl.errors import BuildError


@dataclass(frozen=True)
class ToolResult:
    """Exit status and what the tool wrote."""

    status: int
    output: str
    errors: str


def run_tool(argv: Sequence[str], folder: Path, timeout_s: float) -> ToolResult:
    """Run a command in a folder.

    Raises:
        BuildError: It cannot be started, or takes too long.
    """
    try:
        process = subprocess.Popen(
            list(argv),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        raise BuildError(f"cannot be started: {error.strerror or error}", where=argv[0]) from error
    try:
        output, errors = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        _stop(process)
        raise BuildError(f"took longer than {timeout_s:g} s and was stopped", where=argv[0]) from None
    except BaseException:
        _stop(process)
        raise
    return ToolResult(process.returncode, output.decode("utf-8", "replace"), errors.decode("utf-8", "replace"))


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End the tool and what it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
