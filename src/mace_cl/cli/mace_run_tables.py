"""The tables that MACE's `mace_run` prints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mace_cl.cli.text import align, plain

_TOP = 10
Step = Mapping[str, Any]


def time_table(init_ms: float, warmup_ms: float, run_ms: float) -> Iterator[str]:
    """capability(CPU) init warmup run_avg; the first is not measured here."""
    bar = "=" * 56
    yield bar
    yield f"{'capability(CPU)':>19} {'init':>11} {'warmup':>11} {'run_avg':>11}"
    yield bar
    yield f"time {'-':>14} {init_ms:>11.3f} {warmup_ms:>11.3f} {run_ms:>11.3f}"


def step_tables(steps: Sequence[Step]) -> Iterator[str]:
    """The steps by order, by time, by operator, and their sum."""
    total = sum(s["mean_us"] for s in steps) or 1.0
    head = ["step", "op", "mean ms", "least ms", "share", "GFLOP/s", "GB/s", "work"]
    yield from _titled("Sort by Run Order", [head, *(_row(s, total) for s in steps)])
    slowest = sorted(steps, key=lambda s: -s["mean_us"])[:_TOP]
    yield from _titled(f"Sort by Computation Time (top {_TOP})", [head, *(_row(s, total) for s in slowest)])
    yield from _titled("Stat by Op Type", _by_operator(steps, total))
    yield ""
    yield f"Summary of Ops' Stat: {len(steps)} steps, {total / 1e3:.3f} ms"


def _titled(title: str, rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield ""
    yield title
    yield from align(rows, "  ")


def _row(step: Step, total: float) -> list[str]:
    return [
        plain(step["step"]),
        plain(step.get("op", "copy")),
        f"{step['mean_us'] / 1e3:.3f}",
        f"{step['min_us'] / 1e3:.3f}",
        f"{100 * step['mean_us'] / total:.1f}%",
        str(step.get("gflops", "-")),
        str(step.get("gbytes_per_s", "-")),
        "x".join(map(str, step.get("global", []))) or "-",
    ]


def _by_operator(steps: Sequence[Step], total: float) -> list[list[str]]:
    sums: dict[str, tuple[int, float]] = {}
    for step in steps:
        name = str(step.get("op", "copy"))
        count, spent = sums.get(name, (0, 0.0))
        sums[name] = (count + 1, spent + step["mean_us"])
    rows = [["op", "count", "ms", "share"]]
    for name, (count, spent) in sorted(sums.items(), key=lambda i: -i[1][1]):
        rows.append([plain(name), str(count), f"{spent / 1e3:.3f}", f"{100 * spent / total:.1f}%"])
    return rows
