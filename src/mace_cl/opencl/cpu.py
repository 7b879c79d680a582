"""Which instructions this machine's processor has, for the identity of CPU devices.

Intel's runtime calls its device by the processor's brand ("AMD EPYC"), whatever vector units it has.
"""

from __future__ import annotations

import platform
import re

_CPUINFO = "/proc/cpuinfo"
_INSTRUCTION_SETS = re.compile(
    r"^(mmx|mmxext|3dnow\w*|fxsr|sse\w*|ssse3|pni|avx\w*|fma4?|xop|tbm|f16c|bmi[12]|popcnt|abm|lzcnt|movbe|adx|cx8|cx16"
    r"|v?aes|v?pclmulqdq|gfni|sha\w*|sm[34]|amx\w*|rdrand|rdseed|rdpid|fsgsbase|lahf_lm|cmov|lm|clflush\w*|clwb|clzero"
    r"|mwaitx|xsave\w*|prfchw|prefetchi|movdir\w+|serialize|waitpkg|enqcmd|ptwrite|hreset|uintr|kl|widekl|cmpccxadd"
    r"|raoint|invpcid|pku|cldemote|tsxldtrk|rtm|hle|apx\w*)$"
)
"""Flags of x86 that a compiler can use; the kernel lists many more, which change with it."""


def cpu_features() -> frozenset[str]:
    """Instruction-set flags of the first processor, or the machine's architecture where none can be read."""
    try:
        with open(_CPUINFO, encoding="utf-8", errors="replace") as file:
            for line in file:
                key, _, value = line.partition(":")
                key = key.strip()
                if key == "flags":
                    return frozenset(f for f in value.split() if _INSTRUCTION_SETS.match(f))
                if key == "Features":
                    return frozenset(value.split())
    except OSError:
        pass
    return frozenset({platform.machine() or "unknown"})
