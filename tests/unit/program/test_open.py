"""Files of every version through one door; what fits a device; the six lines; what inspect says."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace

import pytest

from mace_cl.errors import FormatError, NoFitError, UsageError
from mace_cl.program.checkfit import COMPILES, FITS, REFUSED, check_fit, read_identity
from mace_cl.program.container import HEAD
from mace_cl.program.describe import describe_file
from mace_cl.program.diff import diff_files
from mace_cl.program.dump_info import dump_info
from mace_cl.program.extract import extract_file, safe_name
from mace_cl.program.identity import Capabilities, Identity
from mace_cl.program.macefile.files import make_mace_file
from mace_cl.program.open import open_program
from mace_cl.program.records import Blob
from mace_cl.program.writer import to_bytes, write_file
from support.program_files import DESKTOP, PHONE, device_entry, portable_entry, small_file

PLATFORM = b"Portable Computing Language, FULL_PROFILE, OpenCL 3.0 PoCL 3.1, v1.1.1-0-gdeadbee"
MACE = [
    (b"conv -DA", b"binary of conv"),
    (b"mace_opencl_precompiled_device_name_key", b"cpu"),
    (b"mace_opencl_precompiled_platform_info_key", PLATFORM),
    (b"pool", b"binary of pool"),
]
POCL = replace(DESKTOP, platform_version="OpenCL 3.0 PoCL 3.1")


class Device:
    """What stands for a device elsewhere: anything with an identity."""

    def __init__(self, identity: Identity) -> None:
        self.identity = identity


# -- open ---------------------------------------------------------------------------------------------------------


def test_version3_from_a_path_and_from_bytes(tmp_path):
    write_file(tmp_path / "a.bin", small_file())
    for source in (tmp_path / "a.bin", str(tmp_path / "a.bin"), (tmp_path / "a.bin").read_bytes()):
        found = open_program(source)
        assert found.version == 3
        assert found.identities == (PHONE, DESKTOP)
        assert found.binary(DESKTOP) == b"desktop binary"
        assert found.binary(Device(PHONE), "p0") == b"phone binary"
        assert {s.kind for s in found.sections} == {"program", "source", "il", "plan", "weights", "selftest", "tuning"}


@pytest.mark.parametrize("version", [1, 2])
def test_mace_files(version):
    found = open_program(make_mace_file(version, MACE))
    assert found.version == version
    assert [p.name for p in found.programs] == ["conv -DA", "pool"]
    assert found.identity.platform_name == "Portable Computing Language"
    assert found.binary(POCL, "pool") == b"binary of pool"
    with pytest.raises(UsageError, match="2 programs"):
        found.binary(POCL)
    with pytest.raises(NoFitError, match="platform_name"):
        found.binary(PHONE, "pool")


def test_an_unidentified_mace_file_fits_nothing():
    found = open_program(make_mace_file(2, [(b"conv -DA", b"x" * 40)]))
    assert found.identity is None
    with pytest.raises(NoFitError, match="does not say"):
        found.binary(POCL, "conv -DA")


def test_no_fit_says_why_for_each_entry():
    with pytest.raises(NoFitError) as caught:
        open_program(to_bytes(small_file())).binary(replace(PHONE, driver_version="300.0"))
    assert len(caught.value.reasons) == 3
    assert "driver_version is '300.0', not '299.0'" in caught.value.reasons[0]


def test_unknown_program_and_device():
    found = open_program(to_bytes(small_file()))
    with pytest.raises(UsageError, match="no program 'p9'"):
        found.binary(PHONE, "p9")
    with pytest.raises(UsageError, match="is no device"):
        found.binary(object())


def test_a_damaged_binary_is_not_handed_out():
    data = bytearray(to_bytes(small_file()))
    data[data.index(b"phone binary")] ^= 1
    with pytest.raises(FormatError, match="SHA-256"):
        open_program(bytes(data)).binary(PHONE)


def test_an_entry_with_unknown_features_is_not_used():
    entry = replace(device_entry(PHONE, b"x"), requires_features=("later",))
    found = open_program(to_bytes(replace(small_file(), entries=(entry,))))
    with pytest.raises(NoFitError, match="later"):
        found.binary(PHONE)


@pytest.mark.parametrize("data", [b"", b"text", b"\x7fELF" + bytes(100)])
def test_what_is_none_of_them(data):
    with pytest.raises(FormatError, match="no compiled program"):
        open_program(data)


def test_opening_needs_no_opencl():
    code = (
        "import sys, mace_cl; assert mace_cl.open_program(sys.stdin.buffer.read()).version == 3;"
        "assert not any(m.startswith(('pyopencl', 'mace_cl.opencl', 'mace_cl.graph')) for m in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], input=to_bytes(small_file()), check=True)


# -- check --------------------------------------------------------------------------------------------------------


def verdicts(identity, capabilities=None, file=None):
    report = check_fit(open_program(to_bytes(file or small_file())), identity, capabilities)
    return report, [e.verdict for e in report.entries]


ABLE = Capabilities(frozenset({"cl_khr_fp16"}), 1024, 1 << 15, 1 << 30, il_versions=("SPIR-V_1.2",))


def test_a_device_that_fits():
    report, found = verdicts(DESKTOP, ABLE)
    assert (report.fits, report.entry) == (True, "cpu")
    assert found == [COMPILES, FITS, COMPILES]


def test_each_differing_field_is_named():
    report, _ = verdicts(replace(DESKTOP, driver_version="9.9", cpu_features="avx sse sse4"), ABLE)
    assert not report.fits
    entry = report.entries[1]
    assert [d[0] for d in entry.differences] == ["cpu_features", "driver_version"]
    assert entry.reasons == (
        "cpu_features: this processor lacks avx2, the file's lacks sse4",
        "driver_version is '9.9' here, '3.1' in the file",
    )


def test_requirements_that_are_not_met():
    report, found = verdicts(replace(PHONE, driver_version="9"), replace(ABLE, extensions=frozenset()))
    assert found == [REFUSED, REFUSED, REFUSED]
    assert "needs extension cl_khr_fp16" in report.entries[2].reasons
    assert report.entry == ""


def test_unknown_features_refuse():
    file = replace(small_file(), requires_features=("later",))
    _, found = verdicts(PHONE, ABLE, file)
    assert found == [REFUSED] * 3
    entry = replace(device_entry(PHONE, b"x"), requires_features=("later",))
    _, found = verdicts(PHONE, ABLE, replace(small_file(), entries=(entry, portable_entry())))
    assert found == [REFUSED, COMPILES]


def test_a_damaged_program_does_not_fit():
    data = bytearray(to_bytes(small_file()))
    data[data.index(b"phone binary")] ^= 1
    report = check_fit(open_program(bytes(data)), PHONE, ABLE)
    assert not report.fits
    assert "SHA-256" in report.entries[0].reasons[0]


def test_mace_files_are_checked_by_their_platform():
    file = open_program(make_mace_file(2, MACE))
    assert check_fit(file, POCL).fits
    report = check_fit(file, replace(POCL, platform_version="OpenCL 3.0 PoCL 4.0"))
    assert "platform_version" in report.entries[0].reasons[0]
    assert not check_fit(file, replace(POCL, device_name="gpu")).fits


def test_identities_from_files():
    text = json.dumps(PHONE.to_json())
    assert read_identity(text, "f") == (PHONE, None)
    assert read_identity(json.dumps([{"index": 0, "identity": PHONE.to_json()}]), "f") == (PHONE, None)
    with pytest.raises(UsageError, match="2 devices"):
        read_identity("[1, 2]", "f")
    with pytest.raises(UsageError, match="no JSON"):
        read_identity("{", "f")
    with pytest.raises(FormatError):
        read_identity('{"device_name": 3}', "f")


# -- dump ---------------------------------------------------------------------------------------------------------


def dump(data, *here):
    return dump_info(memoryview(data), "file", lambda: list(here))


def test_the_six_lines():
    data = to_bytes(small_file())
    crc = HEAD.unpack_from(data)[4]
    assert dump(data).lines() == (
        "Binary format version: 3",
        "Target GPU: Qualcomm Adreno(TM) 640",
        "Driver version: 299.0",
        "Kernel count: 1",
        f"Total binary size: {len(data) / 1e6:.1f} MB",
        f"CRC32 checksum: 0x{crc:08X}",
    )


def test_the_entry_that_fits_this_machine():
    found = dump(to_bytes(small_file()), replace(PHONE, system=""), DESKTOP)
    assert (found.target, found.driver) == ("GenuineIntel cpu", "3.1")


def test_the_lines_of_mace_files():
    first, second = (dump(make_mace_file(v, MACE)) for v in (1, 2))
    assert (first.version, first.crc32, first.lines()[5]) == (1, None, "CRC32 checksum: unknown")
    assert second.lines()[:4] == (
        "Binary format version: 2", "Target GPU: cpu", "Driver version: PoCL 3.1", "Kernel count: 2",
    )  # fmt: skip
    assert "0x" in second.lines()[5]
    assert dump(make_mace_file(1, MACE[:1])).lines()[1:3] == ("Target GPU: unknown", "Driver version: unknown")


def test_wrong_checksums_are_said():
    data = bytearray(to_bytes(small_file()))
    data[24] ^= 1
    found = dump(bytes(data))
    assert "wrong" in found.fault
    assert found.target == "Qualcomm Adreno(TM) 640"
    data = bytearray(to_bytes(small_file()))
    data[100] = 0
    assert "wrong" in dump(bytes(data)).fault
    mace = bytearray(make_mace_file(2, MACE))
    mace[-1] ^= 1
    assert "wrong" in dump(bytes(mace)).fault


# -- describe -----------------------------------------------------------------------------------------------------


def test_description_of_version3():
    found = describe_file(memoryview(to_bytes(small_file())), "a.bin")
    assert json.loads(json.dumps(found)) == found
    entry = found["entries"][0]
    assert entry["programs"][0]["kernels"][0]["launches"] == [{"global": [16, 8], "local": [8, 1], "count": 1}]
    assert entry["plans"][0]["arena_bytes"] == 1024
    assert entry["plans"][0]["weights_bytes"] == 512
    assert entry["tuning"] == {"scale": {"local": [8, 1], "us": 12.5}}
    assert found["entries"][2]["identity"] is None
    assert found["entries"][2]["programs"][0]["forms"]["il"]["description"]["kind"] == "spirv"


def test_damage_inside_is_described():
    data = bytearray(to_bytes(small_file()))
    data[data.index(b'"plan_version"')] ^= 1
    found = describe_file(memoryview(bytes(data)), "a.bin")
    assert "SHA-256" in found["entries"][0]["plans"][0]["damage"]


def test_description_of_mace_files():
    for version in (1, 2):
        found = describe_file(memoryview(make_mace_file(version, MACE)), "f")
        assert (found["format"], found["version"], found["identified"]) == ("MACE", version, True)
        assert found["platform"]["mace_version"] == "v1.1.1-0-gdeadbee"
        assert [p["name"] for p in found["programs"]] == ["conv", "pool"]
        json.dumps(found)


def test_description_of_anything_else():
    assert describe_file(memoryview(b"hello"), "f")["format"] == "opaque"


# -- diff and extract ---------------------------------------------------------------------------------------------


def differences(one, other):
    return diff_files(open_program(to_bytes(one)), open_program(to_bytes(other)))


def test_equal_files_do_not_differ():
    assert differences(small_file(), small_file()) == []


def test_diff_names_identity_kernels_tuning_and_sections():
    entry = device_entry(replace(PHONE, driver_version="300.0"), b"phone binary", name=PHONE.device_name)
    kernel = replace(entry.programs["p0"].kernels[0], args=(("x", "__global half*"),))
    forms = replace(entry.programs["p0"], kernels=(kernel,), binary=Blob("program", "new", b"other"))
    changed = replace(entry, programs={"p0": forms}, tuning={"scale": {"local": [4, 1]}})
    found = differences(small_file(), replace(small_file(), entries=(changed, *small_file().entries[1:])))
    groups = {d.group for d in found}
    assert groups == {"identity", "kernels", "programs", "tuned parameters", "sections"}
    (driver,) = [d for d in found if d.group == "identity"]
    assert (driver.first, driver.second) == ("299.0", "300.0")


def test_diff_of_versions():
    mace = open_program(make_mace_file(2, MACE))
    assert diff_files(mace, mace) == []
    found = diff_files(mace, open_program(make_mace_file(1, [*MACE[:3], (b"pool", b"other")])))
    assert {d.name for d in found} == {"version", "pool"}


def test_extract(tmp_path):
    written = extract_file(open_program(to_bytes(small_file())), tmp_path / "out", weights=True)
    names = {str(p.relative_to(tmp_path / "out")) for p in written}
    assert "header.json" in names
    assert (tmp_path / "out" / "1-cpu" / "0-p0.bin").read_bytes() == b"desktop binary"
    assert (tmp_path / "out" / "2-portable" / "0-p0.spv").exists()
    assert (tmp_path / "out" / "0-QUALCOMM_Adreno_TM" / "weights-0-w0.bin").stat().st_size == 512
    with pytest.raises(UsageError, match="is there already"):
        extract_file(open_program(to_bytes(small_file())), tmp_path / "out")
    extract_file(open_program(to_bytes(small_file())), tmp_path / "out", replace=True)


def test_extract_of_mace_files(tmp_path):
    extract_file(open_program(make_mace_file(2, MACE)), tmp_path)
    index = json.loads((tmp_path / "index.json").read_text())
    assert (tmp_path / index["programs"][0]["file"]).read_bytes() == b"binary of conv"


@pytest.mark.parametrize("name", ["../../etc/passwd", "/abs", "..", "", "a/b\\c", "\x00", ".hidden", "x" * 500])
def test_names_stay_inside_the_folder(name):
    safe = safe_name(name)
    assert safe
    assert not set(safe) & set("/\\\0")
    assert not safe.startswith(".")
    assert len(safe) <= 80


def test_extract_keeps_hostile_names_inside(tmp_path):
    entry = replace(
        device_entry(PHONE, b"x"), name="../../evil", programs={"../p": device_entry(PHONE, b"x").programs["p0"]}
    )
    written = extract_file(open_program(to_bytes(replace(small_file(), entries=(entry,)))), tmp_path / "out")
    assert all(p.resolve().is_relative_to((tmp_path / "out").resolve()) for p in written)
