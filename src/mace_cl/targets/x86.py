"""What the feature flags of a processor say about its vector unit (x86 and Arm)."""

from __future__ import annotations

from collections.abc import Container


def vector_floats(features: Container[str]) -> int:
    """Floats in the widest vector register that the flags name."""
    if "avx512f" in features:
        return 16
    if "avx" in features or "avx2" in features:
        return 8
    return 4


def vector_registers(features: Container[str]) -> int:
    """Vector registers of that width."""
    if "avx512f" in features or "asimd" in features:
        return 32
    return 16


def gflops_per_core(features: Container[str]) -> float:
    """Rough float32 peak of one core: two units of fused multiply-add at 3 GHz, half-width on AVX-512."""
    width = min(vector_floats(features), 8)
    return width * 2 * 2 * 3.0 if "fma" in features or "asimd" in features else width * 2 * 3.0
