"""Commands run in this process: exit code, standard output, standard error."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from unittest import mock


@dataclass(frozen=True)
class CommandResult:
    code: int
    out: str
    err: str


def run_main(main: Callable[[Sequence[str]], None], *argv: object, stdin: bytes = b"") -> CommandResult:
    """Call an entry point with arguments; a traceback never counts as an ending."""
    out, err = io.StringIO(), io.StringIO()
    standard_in = io.TextIOWrapper(io.BytesIO(stdin))
    code = 0
    with redirect_stdout(out), redirect_stderr(err), mock.patch.object(sys, "stdin", standard_in):
        try:
            main([str(a) for a in argv])
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
    assert "Traceback" not in err.getvalue()
    assert "internal error" not in err.getvalue()
    return CommandResult(code, out.getvalue(), err.getvalue())
