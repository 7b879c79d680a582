"""The self-test of an entry: fixed inputs that need not be stored, and samples of what they must give.

Inputs come from a formula, so that a reader in any language can make them: element i (row-major) of input k is

    h = (i + 1 + 1000003 k) * 2654435761 mod 2^32,      h = h xor (h >> 15)
    h = h * 2246822519 mod 2^32,                        h = h xor (h >> 13)
    float types:   low + (high - low) * h / 2^32
    integers:      h mod 2
    bool:          h mod 2

Of each output every stride-th element is stored as float32 (little-endian, hexadecimal), with the largest magnitude of
the whole output: a run passes where no sample differs by more than `tolerance` (a fraction, in millionths) of it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mace_cl.errors import FormatError
from mace_cl.types import TensorType

MAX_SAMPLES = 1024
TOLERANCE_MILLIONTHS = 500
"""float32 networks of a hundred layers differ from the reference by up to 1e-4 of the largest magnitude."""


@dataclass(frozen=True)
class Sample:
    """What one output must be.

    Attributes:
        name: The output.
        stride: Every stride-th element is stored, from element 0.
        peak: Largest magnitude of the output.
        values: The samples.
    """

    name: str
    stride: int
    peak: float
    values: tuple[float, ...]


@dataclass(frozen=True)
class SelfTest:
    """Ranges of the inputs in order, and samples of the outputs."""

    ranges: tuple[tuple[float, float], ...]
    samples: tuple[Sample, ...]
    tolerance_millionths: int = TOLERANCE_MILLIONTHS

    def to_bytes(self) -> bytes:
        """Canonical JSON."""
        raw = {
            "selftest_version": 1,
            "tolerance_millionths": self.tolerance_millionths,
            "ranges": [_hex(r) for r in self.ranges],
            "outputs": [
                {"name": s.name, "stride": s.stride, "peak": _hex([s.peak]), "values": _hex(s.values)}
                for s in self.samples
            ],
        }
        return json.dumps(raw, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()

    @classmethod
    def from_bytes(cls, data: bytes | memoryview, where: str = "selftest") -> SelfTest:
        """Read a self-test.

        Raises:
            FormatError: It is not one.
        """
        try:
            raw = json.loads(bytes(data).decode("utf-8"))
            if raw["selftest_version"] != 1:
                raise FormatError(f"version {raw['selftest_version']} is not known", where=where)
            ranges = tuple((r[0], r[1]) for r in map(_floats, raw["ranges"]))
            samples = tuple(
                Sample(str(o["name"]), int(o["stride"]), _floats(o["peak"])[0], _floats(o["values"]))
                for o in raw["outputs"]
            )
            if any(s.stride < 1 for s in samples):
                raise FormatError("a stride is less than 1", where=where)
            return cls(ranges, samples, int(raw["tolerance_millionths"]))
        except (ValueError, KeyError, TypeError, IndexError, RecursionError) as error:
            raise FormatError("is not a self-test", where=where) from error

    def differences(self, outputs: Mapping[str, np.ndarray]) -> list[str]:
        """One line for each output that is wrong; empty if the run passes."""
        lines = []
        for sample in self.samples:
            got = outputs.get(sample.name)
            if got is None:
                lines.append(f"output {sample.name!r} is missing")
                continue
            values = got.reshape(-1)[:: sample.stride][: len(sample.values)].astype(np.float64)
            wanted = np.asarray(sample.values, np.float64)
            if values.shape != wanted.shape:
                lines.append(f"output {sample.name!r} has {values.size} samples, not {wanted.size}")
                continue
            limit = self.tolerance_millionths * 1e-6 * max(sample.peak, 1e-30)
            good = (np.abs(values - wanted) <= limit) | (values == wanted) | (np.isnan(values) & np.isnan(wanted))
            if not np.all(good):
                worst = float(np.abs(values - wanted)[~good].max())
                lines.append(
                    f"output {sample.name!r} differs by {worst:.3g}, {worst / max(sample.peak, 1e-30):.2g} of its peak"
                )
        return lines


def make_inputs(types: Sequence[TensorType], ranges: Sequence[tuple[float, float]]) -> list[np.ndarray]:
    """The fixed inputs, by the module's formula.

    Args:
        types: Type of each input.
        ranges: (low, high) of each input.
    """
    return [_fixed_input(k, t, *ranges[k]) for k, t in enumerate(types)]


def sample_outputs(outputs: Mapping[str, np.ndarray]) -> tuple[Sample, ...]:
    """Samples of reference outputs."""
    made = []
    for name, array in outputs.items():
        flat = array.reshape(-1).astype(np.float64)
        stride = max(1, -(-flat.size // MAX_SAMPLES))
        finite = np.abs(flat[np.isfinite(flat)])
        peak = float(np.float32(finite.max(initial=0.0)))
        made.append(Sample(name, stride, peak, tuple(float(np.float32(v)) for v in flat[::stride])))
    return tuple(made)


def _fixed_input(index: int, type_: TensorType, low: float, high: float) -> np.ndarray:
    h = (np.arange(type_.elements, dtype=np.uint64) + np.uint64(1 + 1000003 * index)) * np.uint64(2654435761)
    h &= np.uint64(0xFFFFFFFF)
    h ^= h >> np.uint64(15)
    h = (h * np.uint64(2246822519)) & np.uint64(0xFFFFFFFF)
    h ^= h >> np.uint64(13)
    if type_.dtype.is_float:
        values = low + (high - low) * (h.astype(np.float64) / 2.0**32)
    else:
        values = (h % np.uint64(2)).astype(np.float64)
    return values.astype(type_.dtype.numpy).reshape(type_.shape)


def _hex(values: Sequence[float]) -> str:
    return np.asarray(values, "<f4").tobytes().hex()


def _floats(text: Any) -> tuple[float, ...]:
    return tuple(float(v) for v in np.frombuffer(bytes.fromhex(text), "<f4"))
