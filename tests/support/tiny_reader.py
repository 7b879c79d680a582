"""A second reader of version 3 files, written from docs/file-format.md alone. It shares no code with mace_cl."""

from __future__ import annotations

import hashlib
import json
import struct
import zlib


def read(data: bytes) -> dict:
    """Entries with the content of their sections in place of the numbers, and the signatures."""
    assert data[:8] == bytes.fromhex("894D41434543 4C0A".replace(" ", ""))
    version, n = struct.unpack("<II", data[8:16])
    (length,) = struct.unpack("<Q", data[16:24])
    crc, zero = struct.unpack("<II", data[24:32])
    assert (version, zero) == (3, 0)
    assert n <= 16777216
    assert 32 + n <= length <= len(data)
    raw = data[32 : 32 + n]
    assert zlib.crc32(raw) == crc
    header = json.loads(raw.decode("utf-8"))
    assert header["format"] == "CL_PROGRAM_BINARY"
    contents = _sections(data, header["sections"], 32 + n, length)
    return {
        "header": header,
        "entries": [_entry(e, contents, header["sections"]) for e in header["entries"]],
        "signatures": _signatures(data, length),
        "signed": data[: 32 + n],
    }


def _sections(data: bytes, rows: list, start: int, length: int) -> list[bytes]:
    contents, spans = [], []
    for row in rows:
        offset, size = row["offset"], row["size"]
        if size == 0:
            assert offset == 0
        else:
            assert offset % (16384 if row["kind"] == "weights" else 64) == 0
            spans.append((offset, offset + size))
        content = data[offset : offset + size]
        assert len(content) == size
        assert hashlib.sha256(content).hexdigest() == row["sha256"]
        contents.append(content)
    spans.sort()
    end = start
    for low, high in spans:
        assert low >= end
        assert not any(data[end:low])
        end = high
    assert end == length
    return contents


def _entry(raw: dict, contents: list[bytes], rows: list) -> dict:
    def section(number: int | None, kind: str) -> bytes | None:
        if number is None:
            return None
        assert rows[number]["kind"] == kind
        return contents[number]

    kinds = {"binary": "program", "il": "il", "source": "source"}
    return {
        "name": raw["name"],
        "identity": raw["identity"],
        "requires": raw["requires"],
        "programs": {
            name: {form: section(p[form], kind) for form, kind in kinds.items()}
            | {"options": p["options"], "kernels": p["kernels"]}
            for name, p in raw["programs"].items()
        },
        "weights": {name: section(number, "weights") for name, number in raw["weights"].items()},
        "plans": [(p["input_shapes"], json.loads(section(p["section"], "plan"))) for p in raw["plans"]],
        "selftest": json.loads(section(raw["selftest"], "selftest")) if raw["selftest"] is not None else None,
        "tuning": json.loads(section(raw["tuning"], "tuning")) if raw["tuning"] is not None else {},
    }


def _signatures(data: bytes, place: int) -> list[tuple[bytes, bytes]]:
    found = []
    while place < len(data):
        assert data[place : place + 8] == b"MACESIGN"
        size, algorithm = struct.unpack("<II", data[place + 8 : place + 16])
        assert 16 <= size <= len(data) - place
        if algorithm == 1:
            assert size == 112
            found.append((data[place + 16 : place + 48], data[place + 48 : place + 112]))
        place += size
    return found
