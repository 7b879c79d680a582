"""Every operator has inference, a reference, and something that computes it; the document about them is up to date."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
from make_operators_doc import TARGET, computed_by, document, operators

from mace_cl.graph.ops.base import Operator


@pytest.mark.parametrize("name", operators())
def test_every_operator_is_complete(name: str) -> None:
    cls = operators()[name]
    assert cls.infer is not Operator.infer
    assert cls.reference is not Operator.reference
    assert computed_by(name), "no kernel family, no decomposition, no alias"


def test_the_document_is_up_to_date() -> None:
    assert TARGET.read_text(encoding="utf-8") == document(), "run scripts/make_operators_doc.py"
