"""Runs an entry's self-test: fixed inputs, and what the reference made of them."""

from __future__ import annotations

from functools import partial

from mace_cl.errors import FormatError
from mace_cl.program.selftest import SelfTest, make_inputs
from mace_cl.runtime.session import Session
from mace_cl.types import TensorType


def has_selftest(session: Session) -> bool:
    """Whether the session's entry holds a self-test."""
    return session.open_entry.entry.selftest is not None


def self_test(session: Session) -> list[str]:
    """Run the self-test; programs that give wrong results are set aside until the driver changes.

    Returns:
        One line for each output that is wrong; empty if all are right.

    Raises:
        FormatError: The entry holds no self-test, or a damaged one.
        DeviceError: The driver failed.
    """
    entry = session.open_entry
    blob = entry.entry.selftest
    if blob is None:
        raise FormatError("holds no self-test", where=f"entry {entry.entry.name!r}")
    test = SelfTest.from_bytes(blob.checked(), f"self-test of {entry.entry.name}")
    names = [i.name for i in session.inputs]
    if len(test.ranges) != len(names):
        raise FormatError("has not one range for each input", where=f"self-test of {entry.entry.name}")
    arrays = make_inputs([TensorType(i.dtype, i.shape) for i in session.inputs], test.ranges)
    wrong = test.differences(session.run(dict(zip(names, arrays, strict=True))))
    store = entry.store
    if wrong and store is not None:
        for code in entry.codes:
            store.keep(partial(store.markers.condemn, code.marker(entry.device), f"its self-test failed: {wrong[0]}"))
            if code.cache_key:
                store.programs.discard(code.cache_key)
    return wrong
