"""What a file that is no model looks like, for messages."""

from __future__ import annotations

_SIGNATURES: tuple[tuple[int, bytes, str], ...] = (
    (0, b"\x89MACECL\n", "a compiled program of mace-cl (run it with `mace run`)"),
    (0, b"PK\x03\x04", "a zip archive, such as a PyTorch checkpoint or a Keras model (export it to ONNX)"),
    (0, b"\x89HDF\r\n\x1a\n", "an HDF5 file, such as a Keras model (convert it to TensorFlow Lite or ONNX)"),
    (0, b"\x80\x02", "a Python pickle, such as a PyTorch checkpoint (export it to ONNX)"),
    (0, b"\x1f\x8b", "a gzip archive (unpack it first)"),
    (0, b"BZh", "a bzip2 archive (unpack it first)"),
    (0, b"\xfd7zXZ\x00", "an xz archive (unpack it first)"),
    (257, b"ustar", "a tar archive (unpack it first)"),
    (0, b"\x7fELF", "a program or library (ELF)"),
    (0, b"\x89PNG", "a PNG picture"),
    (0, b"\xff\xd8\xff", "a JPEG picture"),
    (0, b"\x93NUMPY", "a NumPy array"),
    (0, b"GGUF", "a GGUF language model"),
    (0, b"7767517\n", "an ncnn network"),
    (4, b"TFL", "a TensorFlow Lite model of another schema version"),
    (0, b"version https://git-lfs", "a Git LFS pointer (the model itself was not fetched)"),
    (0, b"<!DOCTYPE html", "a web page (was the download refused?)"),
    (0, b"<html", "a web page (was the download refused?)"),
)


def describe_content(head: bytes) -> str:
    """What a file that starts with `head` looks like."""
    for offset, signature, meaning in _SIGNATURES:
        if head[offset : offset + len(signature)] == signature:
            return meaning
    if not head.strip(b"\x00"):
        return "nothing but zero bytes"
    return "text" if _is_text(head) else f"binary data that begins with {head[:8].hex(' ')}"


def _is_text(head: bytes) -> bool:
    try:
        # The last character may be cut.
        text = head[:4096].decode("utf-8", errors="strict" if len(head) < 4096 else "ignore")
    except UnicodeDecodeError:
        return False
    return all(c.isprintable() or c in "\t\r\n\f" for c in text)
