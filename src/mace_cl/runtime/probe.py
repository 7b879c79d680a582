"""Tries programs with a plan in a child process first, where nothing vouches for them.

A program that crashes the driver takes only the child along. The pair of programs and plan is what counts: an unknown
plan can drive a good kernel out of its bounds. A good run in a child proves neither correctness nor safety.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mace_cl.errors import DeviceError
from mace_cl.opencl.child import ChildResult, run_child
from mace_cl.opencl.devices import DeviceInfo
from mace_cl.program.plan import Plan
from mace_cl.runtime.choice import Candidate
from mace_cl.runtime.loading import Code
from mace_cl.runtime.meanwhile import Meanwhile
from mace_cl.runtime.source import OpenedFile
from mace_cl.store.tokens import token

WORKER = "mace_cl.runtime.probe_worker"
TIMEOUT_S = 60.0
_FLOP_PER_S = 1e8
"""A device slower than this counts as hanging."""


@dataclass(frozen=True)
class Trial:
    """Programs and plan that would be run together.

    Attributes:
        device: Where.
        candidate: The entry and its form.
        opened: The file, for its weights.
        codes: Its programs.
        plan: The plan.
        plan_index: Its place in the entry.
    """

    device: DeviceInfo
    candidate: Candidate
    opened: OpenedFile
    codes: Sequence[Code]
    plan: Meanwhile[Plan]
    plan_index: int = 0

    @property
    def pair(self) -> str:
        """The name of programs and plan together; what vouches for them is noted under it."""
        plan = self.candidate.entry.plans[self.plan_index].blob.sha256
        return pair_token(self.device, [c.sha256 for c in self.codes], plan)

    def run(self) -> str | None:
        """Try them in a child process: how it died, or None if it lived.

        Raises:
            DeviceError: The driver refused in the child, without a crash.
        """
        result = run_child(WORKER, self._request(), self._payload(), timeout_s=self._timeout_s())
        if result.died or result.returncode != 0:
            return _death(result)  # some die only when they take themselves apart
        if not result.values["ok"]:
            raise DeviceError(f"fails in a child process: {result.values['message']}")
        return None

    def _timeout_s(self) -> float:
        return TIMEOUT_S + sum(s.flop for s in self.plan.result().launches) / _FLOP_PER_S

    def _request(self) -> dict[str, Any]:
        entry = self.candidate.entry
        return {
            "device": self.device.identity.digest,
            "vendor": self.device.vendor,
            "path": self.opened.path,
            "entry": self.candidate.index,
            "weights": {n: b.sha256 for n, b in entry.weights.items()},
            "weight_bytes": {n: b.size for n, b in entry.weights.items()},
            "plan_bytes": entry.plans[self.plan_index].blob.size,
            "programs": [
                {"name": c.name, "options": c.options, "kernels": list(c.kernels), "bytes": len(c.binary)}
                for c in self.codes
            ],
        }

    def _payload(self) -> bytes:
        """The plan, the binaries, and the weights of a file that has no path."""
        entry = self.candidate.entry
        parts: list[bytes | memoryview] = [entry.plans[self.plan_index].blob.checked(), *(c.binary for c in self.codes)]
        if self.opened.path is None:
            parts += [b.unchecked() for b in entry.weights.values()]
        return b"".join(bytes(p) for p in parts)


def pair_token(device: DeviceInfo, programs: Sequence[str], plan: str) -> str:
    """The name under which a machine notes that it knows programs and a plan together.

    Args:
        device: Where they run.
        programs: SHA-256 of each binary.
        plan: SHA-256 of the plan.
    """
    return token("pair", device.identity.digest, *sorted(programs), plan)


def _death(result: ChildResult) -> str:
    phase = result.phases[-1] if result.phases else "start"
    lines = [line for line in result.stderr.splitlines() if line.strip()]
    said = f" ({lines[-1].strip()[:200]})" if lines else ""
    return f"a child process that tried it {result.cause} at {phase}{said}"
