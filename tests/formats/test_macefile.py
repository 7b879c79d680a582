"""Versions 1 and 2: golden files by protobuf, round trips, stale tails, what the pairs mean."""

from __future__ import annotations

import struct
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mace_cl.errors import FormatError
from mace_cl.program.macefile.contents import read_contents
from mace_cl.program.macefile.files import make_mace_file, read_mace_file, write_mace_file
from mace_cl.program.macefile.names import deobfuscate, obfuscate, plain_name
from mace_cl.program.macefile.platform import parse_platform
from support import mace_protobuf

ADRENO = (
    "QUALCOMM Snapdragon(TM), FULL_PROFILE, OpenCL 2.0 QUALCOMM build: commit #d6b520a changeid #I5cddffed63 Date: "
    "03/25/19 Mon Local Branch: mybranch Remote Branch: quic/gfx-adreno.lnx.1.0.r69-rel, v0.11.0-rc0-160-g721d449"
)
MALI = "ARM Platform, FULL_PROFILE, OpenCL 2.0 v1.r14p0-01rel0.0fe2d25ca074016740f8ab3fb77b151b, v1.1.1-0-gdeadbee"
CONV = "conv_2d_3x3  -DBIAS -DCMD_DATA_TYPE=f -DDATA_TYPE=float -Dconv_2d_3x3=" + obfuscate("conv_2d_3x3")
STORE = {
    CONV: b"\x7fbinary" * 9,
    "mace_opencl_precompiled_device_name_key": b"QUALCOMM Adreno(TM) 640",
    "mace_opencl_precompiled_platform_info_key": ADRENO.encode(),
    "program_hash_ " + CONV: b"0123456789abcdef0123",
}


def pairs_of(store):
    return [(k.encode(), v) for k, v in store.items()]


def test_version2_of_protobuf_is_read():
    data = mace_protobuf.write_version2(STORE)
    file = read_mace_file(data)
    assert file.version == 2
    assert {k.decode(): bytes(r.value) for k, r in file.pairs.items()} == STORE
    assert write_mace_file(file) == data


def test_version2_is_what_protobuf_writes():
    store = STORE | {"lws": [1, 2, 300, 2**32 - 1], "empty": b"", "none": []}
    data = mace_protobuf.write_version2(store)
    ours = make_mace_file(2, pairs_of(store))
    assert ours == data
    assert mace_protobuf.read_version2(ours) == mace_protobuf.read_version2(data)


def test_version1_layout():
    data = struct.pack("<q", 1) + struct.pack("<i", 3) + b"key" + struct.pack("<i", 5) + b"value"
    assert make_mace_file(1, [(b"key", b"value")]) == data
    file = read_mace_file(data)
    assert (file.version, {k: bytes(r.value) for k, r in file.pairs.items()}) == (1, {b"key": b"value"})


@pytest.mark.parametrize(("data", "version"), [(bytes(4), 2), (bytes(8), 1)])
def test_empty_stores(data, version):
    file = read_mace_file(data)
    assert (file.version, file.kind, write_mace_file(file)) == (version, "empty", data)


@pytest.mark.parametrize("data", [b"", b"\0", b"\0\0\0", bytes(5), b"text that is no file of MACE", bytes(9)])
def test_files_that_are_neither(data):
    with pytest.raises(FormatError):
        read_mace_file(data)


def test_a_stale_tail_is_kept_and_reported():
    whole = make_mace_file(1, pairs_of(STORE))
    data = struct.pack("<q", 1) + make_mace_file(1, [(b"a", b"b")])[8:] + whole[40:]
    file = read_mace_file(data)
    assert file.tail == whole[40:]
    assert write_mace_file(file) == data


def test_an_emptied_store_over_an_older_one():
    data = bytes(8) + make_mace_file(1, pairs_of(STORE))[8:]
    file = read_mace_file(data)
    assert (file.pairs, len(file.tail)) == ({}, len(data) - 8)
    assert write_mace_file(file) == data


def test_packed_numbers_unknown_fields_and_odd_orders_survive():
    # key after the value, packed numbers, an unknown field in the pair and one in the container
    pair = b"\x1a\x03\x01\xac\x02" + b"\x0a\x01k" + b"\x22\x01z" + b"\x2d" + bytes(4)
    body = b"\x0a" + bytes([len(pair)]) + pair + b"\x10\x05" + b"\x0a\x03\x0a\x01j"
    data = body + struct.pack("<I", zlib.crc32(body))
    file = read_mace_file(data)
    assert file.pairs[b"k"].numbers == (1, 300)
    assert file.pairs[b"j"].value is None
    assert sum(not r.is_pair for r in file.records) == 1
    assert write_mace_file(file) == data
    assert mace_protobuf.read_version2(data)["k"] == (b"", [1, 300])


def test_of_equal_keys_the_first_counts():
    for version in (1, 2):
        file = read_mace_file(make_mace_file(version, [(b"k", b"first"), (b"k", b"second")]))
        assert bytes(file.pairs[b"k"].value) == b"first"


def test_a_wrong_checksum_is_an_error_that_names_both():
    data = mace_protobuf.write_version2(STORE)
    bad = data[:-1] + bytes([data[-1] ^ 1])
    with pytest.raises(FormatError, match="CRC-32"):
        read_mace_file(bad)
    assert read_mace_file(bad, check_crc=False).stored_crc32 == struct.unpack("<I", bad[-4:])[0]


keys = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)
values = st.binary(max_size=200) | st.lists(st.integers(0, 2**32 - 1), max_size=6)


@settings(max_examples=50, deadline=None)
@given(st.dictionaries(keys, values, max_size=6))
def test_property_version2_equals_protobuf(store):
    data = mace_protobuf.write_version2(store)
    assert make_mace_file(2, pairs_of(store)) == data
    file = read_mace_file(data)
    assert write_mace_file(file) == data
    found = {k.decode(): (bytes(r.value or b""), list(r.numbers)) for k, r in file.pairs.items()}
    assert found == mace_protobuf.read_version2(data)


@settings(max_examples=50, deadline=None)
@given(st.dictionaries(st.binary(max_size=20), st.binary(max_size=200), min_size=1, max_size=6), st.binary(max_size=40))
def test_property_version1_round_trip(store, tail):
    data = make_mace_file(1, store.items()) + tail
    file = read_mace_file(data)
    assert (file.version, file.tail) == (1, tail)
    assert {k: bytes(r.value) for k, r in file.pairs.items()} == store
    assert write_mace_file(file) == data


# -- meaning ------------------------------------------------------------------------------------------------------


def test_contents_of_a_program_store():
    contents = read_contents(read_mace_file(mace_protobuf.write_version2(STORE)))
    (program,) = contents.programs
    assert program.name == "conv_2d_3x3"
    assert program.options[0] == ""
    assert "-DBIAS" in program.options
    assert program.kernels == (("conv_2d_3x3", "c44CimylqKs"),)
    assert program.source_hash == "0123456789abcdef0123"
    assert bytes(program.binary) == STORE[CONV]
    assert contents.device_name == "QUALCOMM Adreno(TM) 640"


def test_the_adreno_platform_string():
    found = parse_platform(ADRENO)
    assert (found.name, found.profile, found.opencl) == ("QUALCOMM Snapdragon(TM)", "FULL_PROFILE", "2.0")
    assert found.mace_version == "v0.11.0-rc0-160-g721d449"
    build = found.adreno
    assert (build.commit, build.change_id, build.date) == ("d6b520a", "I5cddffed63", "2019-03-25")
    assert (build.local_branch, build.remote_branch) == ("mybranch", "quic/gfx-adreno.lnx.1.0.r69-rel")


def test_an_adreno_build_with_a_compiler_and_no_branches():
    text = (
        "QUALCOMM Snapdragon(TM), FULL_PROFILE, OpenCL 2.0 QUALCOMM build: commit # changeid # Date: 12/24/19 Tue "
        "Local Branch:  Remote Branch:  Compiler E031.37.03.00, v1"
    )
    build = parse_platform(text).adreno
    assert (build.commit, build.local_branch, build.remote_branch) == ("", "", "")
    assert (build.date, build.compiler) == ("2019-12-24", "E031.37.03.00")


def test_the_mali_platform_string():
    found = parse_platform(MALI)
    assert (found.opencl, found.mace_version, found.adreno) == ("2.0", "v1.1.1-0-gdeadbee", None)
    assert found.driver == "v1.r14p0-01rel0.0fe2d25ca074016740f8ab3fb77b151b"


def test_a_version_with_commas():
    found = parse_platform("Portable Computing Language, FULL_PROFILE, OpenCL 3.0 PoCL 3.1, LLVM 15, SLEEF, v1.2")
    assert (found.version, found.mace_version) == ("OpenCL 3.0 PoCL 3.1, LLVM 15, SLEEF", "v1.2")


@pytest.mark.parametrize("text", ["", "a, b, c, d", "FULL_PROFILE", ", FULL_PROFILE, "])
def test_odd_platform_strings(text):
    found = parse_platform(text)
    assert found is None or found.version == ""


@pytest.mark.parametrize(
    ("name", "obfuscated"), [("pooling", "p453171"), ("filter_buffer_to_image", "fy2AxAkxG344HrLHuDI8ED")]
)
def test_names_seen_in_the_wild(name, obfuscated):
    assert obfuscate(name) == obfuscated
    assert deobfuscate(obfuscated) == name


@given(st.text("abcdefghijklmnopqrstuvwxyz0123456789_-. ", min_size=1, max_size=60))
def test_property_lower_case_names_decode(name):
    assert deobfuscate(obfuscate(name)) == name


def test_tuned_parameters():
    store = {
        obfuscate("conv2d_1x1_opencl_kernel_1_112_112_32"): [4, 32, 8, 0],
        "softmax_opencl_kernel_1_1_1_1000": [16, 16, 4],
        "MACE_OPENCL_QUEUE_WINDOW_SIZE": [5],
    }
    for data in (mace_protobuf.write_version2(store), make_mace_file(1, pairs_of(store))):
        file = read_mace_file(data)
        assert file.kind == "parameters"
        tuned = {t.name: t for t in read_contents(file).tuned}
        conv = tuned["conv2d_1x1_opencl_kernel_1_112_112_32"]
        assert (conv.local_size, conv.block) == ((4, 32, 8), 0)
        assert tuned["softmax_opencl_kernel_1_1_1_1000"].local_size == (16, 16)
        assert tuned["MACE_OPENCL_QUEUE_WINDOW_SIZE"].values == (5,)


def test_plain_names_are_left_alone():
    assert plain_name("softmax_opencl_kernel_1_1_1_1000") == "softmax_opencl_kernel_1_1_1_1000"
    assert plain_name("Unknown Key!") == "Unknown Key!"
