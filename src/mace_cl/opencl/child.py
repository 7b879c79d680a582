"""Runs one of our modules in a child process, so that a driver that crashes or hangs does not take this one along.

The child reads its request from standard input and writes records into a file in memory whose descriptor is its first
argument. What it wrote before it died can be read: the last phase says what it was doing.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import struct
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from mace_cl.errors import DeviceError

_HEAD = struct.Struct("<cQ")
_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class ChildResult:
    """How a child ended.

    Attributes:
        phases: What it said that it was doing, in order.
        values: JSON value of its answer; None if it gave none.
        payload: Bytes that came with the answer.
        returncode: Exit status; negative for a signal.
        timed_out: Whether it was stopped because it took too long.
        stderr: End of what it and its driver wrote.
    """

    phases: tuple[str, ...]
    values: Any
    payload: bytes
    returncode: int
    timed_out: bool
    stderr: str

    @property
    def died(self) -> bool:
        """Whether it ended without an answer."""
        return self.values is None

    @property
    def cause(self) -> str:
        """How it died, in words."""
        if self.timed_out:
            return "did not end in time"
        if self.returncode < 0:
            try:
                return f"was killed by {signal.Signals(-self.returncode).name}"
            except ValueError:
                return f"was killed by signal {-self.returncode}"
        return f"ended with status {self.returncode}"


def run_child(
    module: str,
    request: Mapping[str, Any],
    payload: bytes = b"",
    *,
    env: Mapping[str, str] | None = None,
    timeout_s: float | None = None,
) -> ChildResult:
    """Run `python -m module` with a request.

    Args:
        module: Module with a `main` that calls `serve`.
        request: JSON values.
        payload: Bytes beside them.
        env: Changes to the environment.
        timeout_s: Longest time; None for no limit.

    Raises:
        DeviceError: No child process can be started.
    """
    message = json.dumps(dict(request)).encode() + b"\n" + payload
    with _result_file() as result:
        command = [sys.executable, "-P", "-m", module, str(result.fileno())]
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                pass_fds=(result.fileno(),),
                env=_environment(env or {}),
            )
        except OSError as error:
            raise DeviceError(f"cannot start a child process ({error.strerror})", where=sys.executable) from error
        timed_out = False
        try:
            _, stderr = process.communicate(message, timeout=timeout_s)
        except subprocess.TimeoutExpired:
            process.kill()
            _, stderr = process.communicate()
            timed_out = True
        except BaseException:
            process.kill()
            process.wait()
            raise
        result.seek(0)
        phases, values, data = _records(result.read())
    text = stderr[-4000:].decode("utf-8", "replace").strip()
    return ChildResult(phases, values, data, process.returncode, timed_out, text)


def _result_file() -> IO[bytes]:
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("mace-cl-result"), "w+b")
    return tempfile.TemporaryFile()


def _environment(changes: Mapping[str, str]) -> dict[str, str]:
    env = {**os.environ, **changes}
    root = str(Path(__file__).resolve().parents[2])
    env["PYTHONPATH"] = os.pathsep.join(p for p in (root, os.environ.get("PYTHONPATH", "")) if p)
    return env


def _records(data: bytes) -> tuple[tuple[str, ...], Any, bytes]:
    phases: list[str] = []
    values: Any = None
    payload = b""
    at = 0
    while at + _HEAD.size <= len(data):
        tag, size = _HEAD.unpack_from(data, at)
        body = data[at + _HEAD.size : at + _HEAD.size + size]
        at += _HEAD.size + size
        if len(body) < size:
            break
        if tag == b"p":
            phases.append(body.decode("utf-8", "replace"))
        elif tag == b"v":
            values = json.loads(body)
        elif tag == b"b":
            payload = body
    return tuple(phases), values, payload


# -- the child's side -------------------------------------------------------------------------------------------


class Channel:
    """The way back to the parent.

    Args:
        descriptor: Open file that the parent reads when the child has ended.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def phase(self, text: str) -> None:
        """Say what comes next."""
        self._write(b"p", text.encode())

    def answer(self, values: Any, payload: bytes = b"") -> None:
        """Give the result."""
        self._write(b"b", payload)
        self._write(b"v", json.dumps(values).encode())

    def _write(self, tag: bytes, body: bytes) -> None:
        data = memoryview(_HEAD.pack(tag, len(body)) + body)
        while data:
            data = data[os.write(self._descriptor, data) :]


def serve() -> tuple[Channel, Any, bytes]:
    """In the child: the way back, the request and its payload. The child dies with its parent and leaves no core."""
    _die_with_parent()
    channel = Channel(int(sys.argv[1]))
    head, _, payload = sys.stdin.buffer.read().partition(b"\n")
    return channel, json.loads(head), payload


def _die_with_parent() -> None:
    try:
        import resource  # not on every system

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (ImportError, OSError, ValueError):
        pass
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
