"""Which process wrote something, and whether it still runs."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True)
class Process:
    """A process, told from every other that had or will have its number.

    Attributes:
        host: Machine and its namespace of processes.
        boot: The machine's start.
        pid: Number.
        start: When it began, in the system's ticks; 0 where that is not known.
    """

    host: str
    boot: str
    pid: int
    start: int


def this_process() -> Process:
    """The running process."""
    return Process(_host(), _boot(), os.getpid(), start_time(os.getpid()) or 0)


def start_time(pid: int) -> int | None:
    """When a process began; None if there is none, or the system does not say."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    if len(fields) < 20 or fields[0] in (b"Z", b"X"):
        return None  # dead, though its parent has not noticed
    return int(fields[19])


def is_alive(process: Process) -> bool:
    """Whether a process of this host and boot still runs."""
    if os.path.exists("/proc/self/stat"):
        return start_time(process.pid) == process.start
    try:
        os.kill(process.pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


@cache
def _host() -> str:
    try:
        space = os.readlink("/proc/self/ns/pid")
    except OSError:
        space = ""
    return f"{platform.node()}/{space}"


@cache
def _boot() -> str:
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return ""
