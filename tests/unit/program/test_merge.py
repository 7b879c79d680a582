"""Merge and prune."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mace_cl.errors import UsageError
from mace_cl.program.identity import Requirements
from mace_cl.program.merge import merge_files
from mace_cl.program.prune import PruneOptions, prune_file
from mace_cl.program.reader import read_file
from mace_cl.program.records import Blob, ModelInfo
from mace_cl.program.writer import to_bytes
from support.program_files import DESKTOP, PHONE, device_entry, portable_entry, small_file


def one(identity, binary=b"x", **changes):
    return replace(small_file(), entries=(device_entry(identity, binary), portable_entry()), **changes)


def names(file):
    return [e.name for e in file.entries]


def test_union_with_portable_entries_last():
    merged = merge_files([("a", one(PHONE)), ("b", one(DESKTOP))])
    assert names(merged) == [PHONE.device_name, "cpu", "portable"]
    assert read_file(to_bytes(merged)).entries[1].identity == DESKTOP


def test_merge_of_equal_files_is_the_file():
    assert to_bytes(merge_files([("a", small_file()), ("b", small_file())])) == to_bytes(small_file())


def test_merge_of_read_files():
    a, b = (read_file(to_bytes(f)) for f in (one(PHONE), one(DESKTOP)))
    assert names(merge_files([("a", a), ("b", b)])) == [PHONE.device_name, "cpu", "portable"]


def test_a_conflict_is_named():
    with pytest.raises(UsageError, match="binary of program p0") as caught:
        merge_files([("a.bin", one(PHONE, b"x")), ("b.bin", one(PHONE, b"y"))])
    assert "a.bin and b.bin" in str(caught.value)


@pytest.mark.parametrize(("prefer", "kept"), [("first", b"x"), ("last", b"y")])
def test_a_conflict_is_settled(prefer, kept):
    merged = merge_files([("a", one(PHONE, b"x")), ("b", one(PHONE, b"y"))], prefer)
    assert bytes(merged.entries[0].programs["p0"].binary.checked()) == kept
    assert len(merged.entries) == 2


def test_other_networks_are_refused():
    other = replace(small_file(), model=ModelInfo("other", "onnx", "1", "33" * 32))
    with pytest.raises(UsageError, match="another network"):
        merge_files([("a", small_file()), ("b", other)])


def test_portable_entries_with_other_requirements_stand_side_by_side():
    other = replace(portable_entry(), name="big", requires=Requirements(work_group_size=512))
    merged = merge_files([("a", one(PHONE)), ("b", replace(small_file(), entries=(other,)))])
    assert names(merged) == [PHONE.device_name, "portable", "big"]


def test_provenance_and_extras():
    a = one(PHONE, extra_header={"k": 1}, extra_blobs=(Blob("graph", "g", b"1"),))
    b = one(DESKTOP, provenance={"tool": "other"}, extra_header={"j": 2}, extra_blobs=(Blob("graph", "g", b"1"),))
    merged = merge_files([("a", a), ("b", b)])
    assert merged.provenance == {"merged": [dict(a.provenance), {"tool": "other"}]}
    assert merged.extra_header == {"k": 1, "j": 2}
    assert len(merged.extra_blobs) == 1
    again = merge_files([("m", merged), ("b", b)])
    assert again.provenance == merged.provenance
    with pytest.raises(UsageError, match="header key 'k'"):
        merge_files([("a", a), ("b", replace(b, extra_header={"k": 2}))])


def test_prune_by_index_name_and_portable():
    file = small_file()
    assert names(prune_file(file, PruneOptions(keep=["0"]))) == [PHONE.device_name]
    assert names(prune_file(file, PruneOptions(keep=["adreno", "portable"]))) == [PHONE.device_name, "portable"]
    assert names(prune_file(file, PruneOptions(drop=["portable", "1"]))) == [PHONE.device_name]
    pruned = prune_file(file, PruneOptions(keep=["1"]))
    assert (pruned.target_gpu, pruned.driver_version) == ("GenuineIntel cpu", "3.1")


def test_prune_leaves_something():
    with pytest.raises(UsageError, match="no entry would be left"):
        prune_file(small_file(), PruneOptions(drop=["0", "1", "2"]))
    with pytest.raises(UsageError, match="no entry is called 'phone9'"):
        prune_file(small_file(), PruneOptions(keep=["phone9"]))
    with pytest.raises(UsageError, match="no entry is called '9'"):
        prune_file(small_file(), PruneOptions(keep=["9"]))


def test_prune_parts():
    options = PruneOptions(source=False, selftest=False, tuning=False)
    pruned = read_file(to_bytes(prune_file(small_file(), options)))
    assert all(p.source is None for e in pruned.entries for p in e.programs.values())
    assert all(e.selftest is None and not e.tuning for e in pruned.entries)
    bare = replace(portable_entry(), programs={"p0": replace(portable_entry().programs["p0"], il=None)})
    with pytest.raises(UsageError, match="nothing but source"):
        prune_file(replace(small_file(), entries=(bare,)), options)


def test_prune_then_merge_gives_the_whole():
    file = small_file()
    parts = [(n, prune_file(file, PruneOptions(keep=[n]))) for n in ("0", "1", "2")]
    assert to_bytes(merge_files(parts)) == to_bytes(file)
