"""Everything that `mace verify` looks at."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace

import pytest

from mace_cl.program.container import read_container
from mace_cl.program.records import Blob, PlanRef
from mace_cl.program.verify import verify_container
from mace_cl.program.writer import to_bytes
from support.program_files import PHONE, device_entry, small_file, small_plan


def faults(file):
    return verify_container(read_container(to_bytes(file))).faults


def with_entry(**changes):
    return replace(small_file(), entries=(replace(device_entry(PHONE, b"x"), **changes),))


def test_a_good_file():
    report = verify_container(read_container(to_bytes(small_file())))
    assert report.faults == ()
    assert len(report.checked) == 3


@pytest.mark.parametrize("kind", ["program", "plan", "weights", "il", "source", "tuning", "selftest"])
def test_every_section_is_hashed(kind):
    data = bytearray(to_bytes(small_file()))
    section = next(s for s in read_container(bytes(data)).sections if s.kind == kind)
    data[section.offset + section.size // 2] ^= 0x10
    found = verify_container(read_container(bytes(data))).faults
    assert any("SHA-256" in f and section.name in f for f in found)


def test_bytes_between_sections():
    data = bytearray(to_bytes(small_file()))
    sections = sorted(read_container(bytes(data)).sections, key=lambda s: s.offset)
    gap = next(a.offset + a.size for a, b in itertools.pairwise(sections) if a.offset + a.size < b.offset)
    data[gap] = 1
    assert any("not 0" in f for f in verify_container(read_container(bytes(data))).faults)


def test_a_plan_that_names_no_program():
    assert any("'p0'" in f for f in faults(with_entry(programs={})))


def test_a_plan_that_names_no_kernel():
    programs = {"p0": replace(device_entry(PHONE, b"x").programs["p0"], kernels=())}
    assert faults(with_entry(programs=programs)) == ()
    kernels = (replace(device_entry(PHONE, b"x").programs["p0"].kernels[0], name="other"),)
    programs = {"p0": replace(programs["p0"], kernels=kernels)}
    assert any("'scale'" in f for f in faults(with_entry(programs=programs)))


def test_weights_of_another_size():
    assert any("512" in f for f in faults(with_entry(weights={"w0": Blob("weights", "w0", bytes(100))})))
    assert any("not there" in f for f in faults(with_entry(weights={})))


def test_other_input_shapes():
    plan = PlanRef({"x": (1, 2, 3)}, Blob("plan", "p", small_plan().to_bytes()))
    assert any("input shapes" in f for f in faults(with_entry(plans=(plan,))))


def test_a_plan_that_breaks_its_rules():
    raw = json.loads(small_plan().to_bytes())
    raw["tensors"][0]["buffer"] = 99
    plan = PlanRef({"x": (1, 16, 8)}, Blob("plan", "p", json.dumps(raw).encode()))
    assert any("buffer 99" in f for f in faults(with_entry(plans=(plan,))))


def test_a_program_without_forms():
    forms = replace(device_entry(PHONE, b"x").programs["p0"], binary=None, source=None)
    assert any("no form" in f for f in faults(with_entry(programs={"p0": forms})))


def test_a_selftest_that_is_none():
    assert any("self-test" in f for f in faults(with_entry(selftest=Blob("selftest", "s", b"[]"))))
