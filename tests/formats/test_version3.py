"""Version 3: written, read by two readers, bounds, room to grow."""

from __future__ import annotations

import hashlib
import json
import struct
import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mace_cl.errors import FormatError, UsageError
from mace_cl.program.container import HEAD, read_container
from mace_cl.program.identity import Requirements
from mace_cl.program.reader import open_container, read_file
from mace_cl.program.records import Blob, CompiledFile, Entry, KernelRecord, ModelInfo, PlanRef, ProgramForms
from mace_cl.program.writer import to_bytes, write_file
from support import tiny_reader
from support.program_files import (
    DESKTOP,
    PHONE,
    device_entry,
    edit_header,
    edit_header_in_place,
    portable_entry,
    small_file,
    small_plan,
    small_selftest,
)


def content(blob):
    return None if blob is None else (blob.kind, bytes(blob.checked()))


def plain(file: CompiledFile):
    """A file as values that can be compared: blobs by their content."""
    return (
        replace(file, entries=(), extra_blobs=()),
        [plain_entry(e) for e in file.entries],
        [content(b) for b in file.extra_blobs],
    )


def plain_entry(e: Entry):
    programs = {
        n: (content(p.binary), content(p.il), content(p.source), p.options, p.kernels) for n, p in e.programs.items()
    }
    return (
        e.name,
        e.identity,
        e.requires,
        programs,
        {n: content(b) for n, b in e.weights.items()},
        [(dict(p.input_shapes), content(p.blob)) for p in e.plans],
        content(e.selftest),
        dict(e.tuning),
        e.requires_features,
    )


def test_write_then_read_is_identity():
    file = small_file()
    assert plain(read_file(to_bytes(file))) == plain(file)


def test_read_then_write_is_identity():
    data = to_bytes(small_file())
    assert to_bytes(read_file(data)) == data


def test_tiny_reader_sees_the_same():
    file = small_file()
    found = tiny_reader.read(to_bytes(file))
    assert [e["name"] for e in found["entries"]] == [e.name for e in file.entries]
    phone, desktop, portable = found["entries"]
    assert phone["programs"]["p0"]["binary"] == b"phone binary"
    assert desktop["programs"]["p0"]["binary"] == b"desktop binary"
    assert portable["programs"]["p0"]["binary"] is None
    assert portable["identity"] is None
    assert phone["identity"] == PHONE.to_json()
    assert phone["weights"]["w0"] == bytes(range(256)) * 2
    assert phone["plans"] == [({"x": [1, 16, 8]}, json.loads(small_plan().to_bytes()))]
    assert phone["selftest"] == json.loads(small_selftest().to_bytes())
    assert phone["tuning"] == {"scale": {"local": [8, 1], "us": 12.5}}
    assert phone["requires"]["work_group_size"] == 8


def test_equal_sections_are_stored_once():
    kinds = [s.kind for s in read_container(to_bytes(small_file())).sections]
    assert {k: kinds.count(k) for k in kinds} == {
        "plan": 1, "selftest": 1, "tuning": 1, "program": 2, "il": 1, "source": 1, "weights": 1,
    }  # fmt: skip


def test_weights_lie_on_pages_and_last():
    sections = read_container(to_bytes(small_file())).sections
    assert sections[-1].kind == "weights"
    assert sections[-1].offset % 16384 == 0
    assert all(s.offset % 64 == 0 for s in sections)


def test_same_records_same_bytes_whatever_the_order_of_mappings():
    entry = device_entry(PHONE, b"x")
    forms = entry.programs["p0"]
    one = replace(entry, programs={"a": forms, "b": replace(forms, options="-DB")}, tuning={"k": 1, "j": 2})
    other = replace(entry, programs={"b": replace(forms, options="-DB"), "a": forms}, tuning={"j": 2, "k": 1})
    assert to_bytes(replace(small_file(), entries=(one,))) == to_bytes(replace(small_file(), entries=(other,)))


def test_hexdump_shows_format_and_target(tmp_path):
    path = tmp_path / "a.bin"
    write_file(path, small_file())
    dump = subprocess.run(["hexdump", "-C", path], capture_output=True, text=True, check=True).stdout
    text = "".join(line.split("|")[1] for line in dump.splitlines()[:10])
    assert "CL_PROGRAM_BINARY" in text
    assert "Qualcomm Adreno(TM) 640" in text
    strings = subprocess.run(["strings", path], capture_output=True, text=True, check=True).stdout
    assert "CL_PROGRAM_BINARY" in strings
    assert "Qualcomm Adreno(TM) 640" in strings


def test_empty_file_of_entries():
    file = CompiledFile("", "", ModelInfo("", "opencl", "", ""), ())
    assert plain(read_file(to_bytes(file))) == plain(file)


def test_empty_sections():
    entry = replace(portable_entry(), weights={"w0": Blob("weights", "w0", b"")}, plans=(), selftest=None)
    file = replace(small_file(), entries=(entry,))
    data = to_bytes(file)
    assert plain(read_file(data)) == plain(file)
    assert tiny_reader.read(data)["entries"][0]["weights"]["w0"] == b""


# -- room to grow -------------------------------------------------------------------------------------------------


def test_unknown_kinds_and_keys_are_skipped_and_kept():
    file = replace(small_file(), extra_header={"later": {"a": [1]}}, extra_blobs=(Blob("graph", "g", b"later"),))
    data = to_bytes(file)
    found = read_file(data)
    assert found.extra_header == {"later": {"a": [1]}}
    assert [(b.kind, bytes(b.checked())) for b in found.extra_blobs] == [("graph", b"later")]
    assert to_bytes(found) == data


def test_unknown_keys_inside_entries_are_skipped():
    def change(header):
        header["entries"][0]["later"] = 1
        header["entries"][0]["programs"]["p0"]["later"] = {}
        header["sections"][0]["later"] = "x"
        header["model"]["later"] = 3

    assert plain(read_file(edit_header(to_bytes(small_file()), change))) == plain(small_file())


def test_unknown_feature_of_the_file():
    data = to_bytes(replace(small_file(), requires_features=("warp_drive",)))
    with pytest.raises(FormatError, match="warp_drive"):
        read_file(data)
    assert read_file(data, any_features=True).requires_features == ("warp_drive",)


def test_unknown_feature_of_an_entry_is_kept_for_the_choice():
    entry = replace(device_entry(PHONE, b"x"), requires_features=("warp_drive",))
    found = read_file(to_bytes(replace(small_file(), entries=(entry,))))
    assert found.entries[0].requires_features == ("warp_drive",)


@pytest.mark.parametrize("part", ["identity", "requires"])
def test_unknown_requirement_makes_the_entry_unusable(part):
    def change(header):
        header["entries"][0][part]["later"] = 1

    found = read_file(edit_header(to_bytes(small_file()), change))
    assert found.entries[0].requires_features == (f"{part}.later",)
    assert found.entries[1].requires_features == ()
    assert read_file(to_bytes(found)).entries[0].requires_features == (f"{part}.later",)


@pytest.mark.parametrize("version", [0, 1, 2, 4, 2**32 - 1])
def test_other_versions_are_refused(version):
    data = bytearray(to_bytes(small_file()))
    struct.pack_into("<I", data, 8, version)
    with pytest.raises(FormatError, match="version"):
        read_file(bytes(data))


def test_offsets_near_the_limit_are_refused_without_allocating():
    def change(header):
        header["sections"][0]["offset"] = 2**63 - 64
        header["sections"][0]["size"] = 2**62

    with pytest.raises(FormatError, match="outside"):
        read_file(edit_header_in_place(to_bytes(small_file()), change))


# -- damage -------------------------------------------------------------------------------------------------------


def damaged(change):
    return edit_header_in_place(to_bytes(small_file()), change)


def set_section(index, **values):
    def change(header):
        header["sections"][index].update(values)

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (set_section(0, offset=1), "multiple|outside"),
        (set_section(0, size=-1), "outside"),
        (set_section(0, size=10**9), "outside"),
        (set_section(0, size=True), "no int"),
        (set_section(0, size=1.0), "no int"),
        (set_section(0, sha256="zz"), "SHA-256"),
        (set_section(0, sha256="A" * 64), "SHA-256"),
        (set_section(0, kind=None), "no str"),
        (lambda h: h.update(sections={}), "no list"),
        (lambda h: h.update(sections=h["sections"][:-1]), "ends at|index"),
        (lambda h: h.update(format="OTHER"), "CL_PROGRAM_BINARY"),
        (lambda h: h.pop("model"), "missing"),
        (lambda h: h.update(entries=3), "no list"),
        (lambda h: h.update(requires_features="x"), "list of strings"),
        (lambda h: h["entries"][0]["programs"]["p0"].update(binary=99), "index"),
        (lambda h: h["entries"][0]["programs"]["p0"].update(binary=True), "index"),
        (lambda h: h["entries"][0]["programs"]["p0"].update(binary=0), "kind"),
        (lambda h: h["entries"][0].update(identity=None), "without the device"),
        (lambda h: h["entries"][0]["identity"].update(address_bits="64"), "type"),
        (lambda h: h["entries"][0]["identity"].pop("system"), "system"),
        (lambda h: h["entries"][0]["requires"].update(images=1), "type"),
        (lambda h: h["entries"][0]["plans"][0].update(input_shapes={"x": [-1]}), "integer"),
        (lambda h: h["entries"][0]["plans"][0].update(section=None), "index"),
        (lambda h: h["model"].update(macs=-5), "integer"),
    ],
)
def test_a_wrong_header_is_a_format_error(change, message):
    with pytest.raises(FormatError, match=message):
        read_file(damaged(change))


def test_overlapping_sections():
    def change(header):
        first, second = header["sections"][:2]
        second["offset"] = first["offset"]

    with pytest.raises(FormatError, match="overlap"):
        read_file(damaged(change))


@pytest.mark.parametrize(
    "raw",
    [
        b'{"format":"CL_PROGRAM_BINARY","format":"CL_PROGRAM_BINARY"}',
        b'{"format":NaN}',
        b'{"format":"\\ud800"}',
        b'{"format":"\xff"}',
        b"[" * 100000,
        b'{"format":' + b"9" * 5000 + b"}",
        b"",
        b"null",
    ],
)
def test_json_that_is_refused(raw):
    import zlib

    data = HEAD.pack(b"\x89MACECL\n", 3, len(raw), HEAD.size + len(raw), zlib.crc32(raw), 0) + raw
    with pytest.raises(FormatError):
        read_file(data)


def test_every_truncation_is_a_format_error():
    data = to_bytes(small_file())
    for size in [*range(3000), *range(3000, len(data), 61), len(data) - 1]:
        with pytest.raises(FormatError):
            read_file(data[:size])


@pytest.mark.parametrize("tail", [b"x", b"MACESIGN", bytes(112), b"MACESIGN" + struct.pack("<II", 15, 1)])
def test_bytes_behind_the_end(tail):
    with pytest.raises(FormatError, match="end"):
        read_file(to_bytes(small_file()) + tail)


def test_text_mode_damage_is_named():
    data = to_bytes(small_file()).replace(b"\n", b"\r\n")
    with pytest.raises(FormatError, match="sent as text"):
        read_file(data)


def test_a_damaged_section_is_found_when_it_is_used():
    data = bytearray(to_bytes(small_file()))
    section = next(s for s in read_container(bytes(data)).sections if s.kind == "program")
    data[section.offset] ^= 1
    file = read_file(bytes(data))
    with pytest.raises(FormatError, match="SHA-256"):
        file.entries[0].programs["p0"].binary.checked()
    assert bytes(file.entries[1].programs["p0"].binary.checked()) == b"desktop binary"
    with pytest.raises(FormatError, match="SHA-256"):
        to_bytes(file)


# -- files --------------------------------------------------------------------------------------------------------


def test_write_file_is_atomic(tmp_path):
    path = tmp_path / "a.bin"
    write_file(path, small_file())
    before = path.read_bytes()
    broken = replace(
        small_file(), entries=(device_entry(PHONE, b"x"),), extra_blobs=(Blob("graph", "g", b"abc", "00" * 32),)
    )
    with pytest.raises(FormatError):
        write_file(path, broken)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["a.bin"]


def test_replacing_a_mapped_file_leaves_the_mapping(tmp_path):
    path = tmp_path / "a.bin"
    write_file(path, small_file())
    opened = read_file(path)
    write_file(path, replace(small_file(), entries=(device_entry(DESKTOP, b"new"),)))
    assert bytes(opened.entries[0].programs["p0"].binary.checked()) == b"phone binary"


@pytest.mark.parametrize("name", ["missing.bin", "."])
def test_unreadable_paths(tmp_path, name):
    with pytest.raises(UsageError):
        read_file(tmp_path / name)


def test_write_into_a_missing_folder(tmp_path):
    with pytest.raises(UsageError, match="cannot be written"):
        write_file(tmp_path / "no" / "a.bin", small_file())


def test_sections_are_not_read_by_opening(tmp_path):
    """A mapped file's pages are read on use: opening 256 MiB of weights takes no memory."""
    resource = pytest.importorskip("resource")
    path = tmp_path / "big.bin"
    big = Blob("weights", "w", bytes(256 << 20))
    write_file(path, replace(small_file(), entries=(replace(portable_entry(), weights={"w": big}),)))
    del big
    code = (
        "import resource, sys; from mace_cl.program.reader import read_file;"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss; f = read_file(sys.argv[1]);"
        "assert f.entries[0].weights['w'].size == 256 << 20;"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
    )
    found = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=True)
    assert resource is not None
    assert int(found.stdout) < 8 << 10  # KiB


def test_the_reader_is_light():
    code = "import sys, numpy; before = set(sys.modules); import mace_cl.program.reader; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    heavy = {"pydantic", "cryptography", "elftools", "rich", "click", "yaml", "msgpack", "onnx", "pyopencl"}
    assert not heavy & {m.split(".")[0] for m in loaded}


# -- properties ---------------------------------------------------------------------------------------------------

names = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)
blobs = st.binary(max_size=300)
objects = st.integers(0, 2**63 - 1).map(lambda n: b'{"n":%d}' % n)

shapes = st.tuples(st.integers(0, 2**63 - 1))


@st.composite
def program_forms(draw, with_binary):
    forms = {
        "il": draw(st.none() | blobs.map(lambda b: Blob("il", "il", b))),
        "source": Blob("source", "s", draw(blobs)),
    }
    if with_binary:
        forms["binary"] = Blob("program", "b", draw(blobs))
    args = st.lists(st.tuples(names, names), max_size=3).map(tuple)
    kernels = draw(st.lists(st.builds(KernelRecord, names, args), max_size=3).map(tuple))
    return ProgramForms(**forms, options=draw(names), kernels=kernels)


@st.composite
def entries(draw):
    identity = draw(st.none() | st.sampled_from([PHONE, DESKTOP, replace(PHONE, environment={"Ü": "ö"})]))
    return Entry(
        name=draw(names),
        identity=identity,
        requires=Requirements(
            tuple(sorted(draw(st.lists(names, max_size=3)))), draw(st.integers(1, 2**62)), fp16=draw(st.booleans())
        ),
        programs=draw(st.dictionaries(names, program_forms(identity is not None), max_size=3)),
        weights=draw(st.dictionaries(names, blobs.map(lambda b: Blob("weights", "w", b)), max_size=3)),
        plans=tuple(
            PlanRef(
                draw(st.dictionaries(names, st.tuples(st.integers(0, 2**63 - 1)))), Blob("plan", "p", draw(objects))
            )
            for _ in range(draw(st.integers(0, 2)))
        ),
        selftest=draw(st.none() | objects.map(lambda b: Blob("selftest", "s", b))),
        tuning=draw(st.dictionaries(names, st.integers() | st.floats(allow_nan=False, allow_infinity=False) | names)),
    )


@settings(max_examples=50, deadline=None)
@given(st.lists(entries(), max_size=3), names, names)
def test_property_write_then_read(made, target, driver):
    file = CompiledFile(target, driver, ModelInfo("n", "onnx", "a", "b"), tuple(made), {"tool": target})
    data = to_bytes(file)
    assert plain(read_file(data)) == plain(file)
    assert to_bytes(read_file(data)) == data
    assert len(tiny_reader.read(data)["entries"]) == len(made)


def test_hash_of_a_section_is_of_its_bytes():
    data = to_bytes(small_file())
    for s in read_container(data).sections:
        assert hashlib.sha256(data[s.offset : s.offset + s.size]).hexdigest() == s.sha256


def test_open_container_takes_paths_and_bytes(tmp_path):
    path = tmp_path / "a.bin"
    write_file(path, small_file())
    assert open_container(path).crc32 == open_container(path.read_bytes()).crc32
