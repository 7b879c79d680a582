from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import mace_cl
from mace_cl.errors import NoFitError
from mace_cl.opencl.devices import DeviceInfo, list_devices
from mace_cl.program.identity import Requirements
from mace_cl.program.records import Blob, Entry
from mace_cl.runtime.choice import candidates
from support import tiny_network as tiny

DEVICE = list_devices()[0]
OTHER = dataclasses.replace(DEVICE.identity, driver_version="0.1")


def entry(name: str, identity: object = DEVICE.identity, binary: bytes | None = b"x", **changes: object) -> Entry:
    made = tiny.entry(DEVICE, binary=binary, name=name)
    return dataclasses.replace(made, identity=identity, **changes)  # type: ignore[arg-type]


def chosen(*entries: Entry, device: DeviceInfo = DEVICE) -> list[tuple[str, str]]:
    return [(c.entry.name, c.form) for c, why in candidates(tiny.compiled_file(*entries), device) if not why]


def reasons(*entries: Entry) -> str:
    return "\n".join(f"{c.label}: {why}" for c, why in candidates(tiny.compiled_file(*entries), DEVICE) if why)


PORTABLE = entry("portable", None, None)


def test_an_equal_identity_gives_the_compiled_program() -> None:
    assert chosen(entry("other", OTHER), entry("mine"), PORTABLE)[0] == ("mine", "binary")


def test_else_the_first_whose_requirements_are_met() -> None:
    assert chosen(entry("a", OTHER), PORTABLE) == [("a", "portable"), ("portable", "portable")]
    needy = entry("a", OTHER, requires=Requirements(extensions=("cl_of_nobody",)))
    assert chosen(needy, PORTABLE) == [("portable", "portable")]
    assert "needs extension cl_of_nobody" in reasons(needy, PORTABLE)


def test_an_entry_of_this_device_comes_first_if_its_binary_fails() -> None:
    assert chosen(entry("a", OTHER), entry("mine"))[:2] == [("mine", "binary"), ("mine", "portable")]


@pytest.mark.parametrize("field", [f.name for f in dataclasses.fields(DEVICE.identity)])
def test_every_field_of_the_identity_counts(field: str) -> None:
    value = getattr(DEVICE.identity, field)
    changed = {"address_bits": 32, "environment": {"CL_CONFIG_X": "1"}}.get(field, f"{value}x")
    other = dataclasses.replace(DEVICE.identity, **{field: changed})
    assert chosen(entry("a", other, requires=Requirements(fp64=True, extensions=("no",)))) == []
    assert f"made for another device: {field} is" in reasons(entry("a", other))


@pytest.mark.parametrize(
    ("requires", "said"),
    [
        (Requirements(work_group_size=1 << 30), "needs work_group_size of 1073741824 work-items"),
        (Requirements(local_mem_bytes=1 << 40), "needs local_mem_bytes"),
        (Requirements(max_alloc_bytes=1 << 60), "needs max_alloc_bytes"),
        (Requirements(base_align_bytes=1), "aligned to 1 bytes"),
    ],
)
def test_requirements(requires: Requirements, said: str) -> None:
    needy = dataclasses.replace(PORTABLE, requires=requires)
    assert chosen(needy) == []
    with pytest.raises(NoFitError, match=said) as caught:
        mace_cl.load(tiny.compiled_file(needy), device=DEVICE.vendor)
    assert len(caught.value.reasons) == 1


def test_features_that_are_not_known() -> None:
    odd = entry("odd", requires_features=("telepathy",))
    assert chosen(odd) == []
    assert "telepathy" in reasons(odd)


def test_an_entry_without_source() -> None:
    bare = tiny.entry(DEVICE, source=None, binary=b"x", name="bare")
    assert chosen(dataclasses.replace(bare, identity=OTHER)) == []
    assert "holds no source of program 'p0'" in reasons(dataclasses.replace(bare, identity=OTHER))


def test_the_error_has_each_entrys_reason() -> None:
    needs = Requirements(extensions=("cl_of_nobody",))
    file = tiny.compiled_file(entry("a", OTHER, requires=needs), entry("b", None, None, requires=needs))
    with pytest.raises(NoFitError) as caught:
        mace_cl.load(file, device=DEVICE.vendor)
    text = str(caught.value)
    assert "entry 0 (a), compiled: made for another device: driver_version" in text
    assert "entry 0 (a), from source: needs extension" in text
    assert "entry 1 (b), from source: needs extension" in text


def test_each_entry_uses_its_own_plan_and_weights(empty_cache: object) -> None:
    twice = tiny.weight_bytes()[:128] + (2 * tiny.weights()).tobytes()
    mine = entry("mine", OTHER, None, weights={"w0": Blob("weights", "w0", twice)})
    session = mace_cl.load(tiny.compiled_file(mine, PORTABLE), device=DEVICE.vendor)
    x = np.ones(tiny.N, np.float32)
    np.testing.assert_array_equal(session.run({"x": x})["w"], 2 * tiny.weights())
    assert session.start_report.entry == "mine"
    assert "another device: driver_version" in session.start_report.programs[0].why_not[0]


def test_damage_of_an_entry_that_is_not_used_does_no_harm() -> None:
    broken = entry("other", OTHER, None, weights={"w0": Blob("weights", "w0", b"x", "0" * 64)})
    broken = dataclasses.replace(broken, requires=Requirements(extensions=("no",)))
    session = mace_cl.load(tiny.compiled_file(broken, PORTABLE), device=DEVICE.vendor)
    assert session.start_report.entry == "portable"
