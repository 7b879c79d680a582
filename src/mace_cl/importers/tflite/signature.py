"""How a .tflite file is told from others."""

from __future__ import annotations

IDENTIFIER = b"TFL3"


def recognises(head: bytes) -> bool:
    """Whether a file that starts with `head` is a TensorFlow Lite model."""
    return len(head) >= 8 and head[4:8] == IDENTIFIER
