"""Writes docs/operators.md: every operator of the graph, and what computes it.

    python scripts/make_operators_doc.py [--check]

With --check nothing is written; exit code 1 if the document is not up to date.
"""

from __future__ import annotations

import argparse
import inspect
import sys
from pathlib import Path

from mace_cl.graph import ops
from mace_cl.graph.ops.base import Operator
from mace_cl.kernels.registry import families_for
from mace_cl.passes.decompose import decomposed_operators

TARGET = Path(__file__).resolve().parent.parent / "docs" / "operators.md"
ALIASES = ("Identity", "Reshape")
NOT_IN_GRAPHS = ("Operator", "Literal")
HEAD = """# Operators

Made by `scripts/make_operators_doc.py`. Names and meaning are ONNX's, with static shapes; `graph/ops/base.py` says how
they differ. An operator is computed by kernel families, or written out in terms of others by the pass `decompose`, or
is an alias that moves nothing. `mace explain MODEL` says which family each node of a network gets, and why not others.

| operator | meaning | computed by |
|---|---|---|
"""


def operators() -> dict[str, type[Operator]]:
    """Every operator that stands in graphs, by name."""
    found = {n: getattr(ops, n) for n in ops.__all__}
    return {
        n: c
        for n, c in sorted(found.items())
        if inspect.isclass(c) and issubclass(c, Operator) and n not in NOT_IN_GRAPHS
    }


def computed_by(name: str) -> str:
    """What computes an operator; empty if nothing does."""
    if name in ALIASES:
        return "an alias"
    parts = [f"`{f.name}`" for f in families_for(name)]
    if name in decomposed_operators():
        parts.append("written out")
    if name == "BatchNormalization":
        parts.append("folded into weights")
    return ", ".join(parts)


def document() -> str:
    """The document's text."""
    rows = []
    for name, cls in operators().items():
        meaning = (inspect.getdoc(cls) or "").splitlines()[0].replace("|", "\\|")
        rows.append(f"| {name} | {meaning} | {computed_by(name)} |")
    return HEAD + "\n".join(rows) + "\n"


def main() -> int:
    """Write or check."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    if parser.parse_args().check:
        return int(not TARGET.exists() or TARGET.read_text(encoding="utf-8") != document())
    TARGET.write_text(document(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
