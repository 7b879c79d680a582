"""Model files to graphs. `import_model` recognises the format from a file's content.

Each format's package offers `recognises(head: bytes) -> bool` on a file's first 64 KiB and
`import_file(path: Path, options: ImportOptions) -> Graph`.
"""

from __future__ import annotations

from mace_cl.importers.options import ImportOptions

__all__ = ["ImportOptions"]
