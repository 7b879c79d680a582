"""What can be said of any bytes: hash, entropy, printable strings."""

from __future__ import annotations

import hashlib
import math
import re

from mace_cl.program.vendors.description import BinaryDescription, DescribePart, FieldValue, clip

_STRING = re.compile(rb"[ -~]{6,200}")
_SCAN = 4 << 20
_MAX_STRINGS = 12


def matches(data: memoryview) -> bool:
    """Always."""
    return True


def describe(data: memoryview, part: DescribePart) -> BinaryDescription:
    """Size, SHA-256, entropy and the first printable strings of the first 4 MiB."""
    head = bytes(data[:_SCAN])
    fields: dict[str, FieldValue] = {
        "sha256": hashlib.sha256(data).hexdigest(),
        "entropy": f"{entropy(head):.2f} bits a byte",
    }
    found: dict[str, None] = {}
    for match in _STRING.finditer(head):
        found[match[0].decode("ascii").strip()] = None
        if len(found) >= _MAX_STRINGS:
            break
    if found:
        fields["strings"] = clip(" | ".join(found))
    return BinaryDescription("opaque", "unknown", fields)


def entropy(data: bytes) -> float:
    """Shannon entropy in bits a byte: near 8 for compressed or encrypted bytes."""
    if not data:
        return 0.0
    counts = [data.count(bytes([b])) for b in range(256)]
    return max(0.0, -sum(c / len(data) * math.log2(c / len(data)) for c in counts if c))
