"""Numbers of file format 3 that its reader and its writer share. See `docs/file-format.md`."""

from __future__ import annotations

import struct
from typing import Final

MAGIC: Final = b"\x89MACECL\n"
FORMAT_VERSION: Final = 3
PREFIX: Final = struct.Struct("<8sIIQII")
"""Magic, version, header length, length up to the end of the last section, CRC-32 of the header, 0."""
FORMAT_NAME: Final = "CL_PROGRAM_BINARY"
MAX_HEADER_BYTES: Final = 16 * 1024 * 1024
MAX_OFFSET: Final = (1 << 63) - 1
SECTION_ALIGNMENT: Final = 64
WEIGHTS_ALIGNMENT: Final = 16384
"""A page on new Android devices, so that weights can be mapped and used in place."""
KNOWN_FEATURES: Final[frozenset[str]] = frozenset()
"""Names that `requires_features` of a file or an entry may hold and this version honours."""
SIGNATURE_MAGIC: Final = b"MACESIG\n"


def aligned(offset: int, kind: str) -> int:
    """The next offset at which a section of this kind may start."""
    step = WEIGHTS_ALIGNMENT if kind == "weights" else SECTION_ALIGNMENT
    return -(-offset // step) * step
