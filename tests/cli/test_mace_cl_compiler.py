"""mace_cl_compiler: every target, errors with their line, and the file that comes out."""

from __future__ import annotations

import json
import shutil
import sys

import numpy as np
import pytest

from mace_cl.cli.mace_cl_compiler import main
from mace_cl.cli.main import main as mace
from mace_cl.opencl.devices import list_devices, select_device
from mace_cl.opencl.programs import program_from_binary
from mace_cl.program.open import open_program
from mace_cl.program.vendors.registry import describe_binary
from mace_cl.toolchains import clang
from support.commands import run_main

SOURCE = """#include "half.h"
__kernel void scale(__global const float *x, __global float *y) {
    int i = get_global_id(0);
    y[i] = FACTOR * x[i];
}
"""
needs_clang = pytest.mark.skipif(shutil.which("clang-22") is None, reason="clang-22 is not installed")


@pytest.fixture
def kernel(tmp_path):
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "half.h").write_text("#ifndef FACTOR\n#define FACTOR 0.5f\n#endif\n")
    (tmp_path / "scale.cl").write_text(SOURCE)
    return tmp_path / "scale.cl"


def compiler(kernel, *argv):
    output = kernel.parent / "out.bin"
    found = run_main(main, "--input", kernel, "-I", kernel.parent / "include", "--output", output, *argv)
    return found, output


@pytest.mark.parametrize("vendor", ["intel-cpu", "pocl"])
def test_host(kernel, vendor):
    if vendor not in {d.vendor for d in list_devices()}:
        pytest.skip(f"no device of {vendor}")
    found, output = compiler(kernel, "--target", f"host:{vendor}", "-D", "FACTOR=4.0f")
    assert found.code == 0, found.err
    device = select_device(vendor)
    opened = open_program(output)
    (program,) = [p for p in opened.programs if p.identity is not None]
    assert (program.name, program.options) == ("scale", "-DFACTOR=4.0f")
    assert program.kernels[0].args == (("x", "__global float*"), ("y", "__global float*"))
    assert "half.h" in bytes(program.forms["source"].checked()).decode()
    loaded = program_from_binary(device, opened.binary(device), program.options, ["scale"])
    assert loaded.kernel_names() == ("scale",)


def test_the_binary_runs_through_pyopencl(kernel):
    cl = pytest.importorskip("pyopencl")
    device = select_device("pocl") if "pocl" in {d.vendor for d in list_devices()} else select_device(None)
    _, output = compiler(kernel, "--target", f"host:{device.vendor}")
    handle = cl.Device.from_int_ptr(device.handle.int_ptr)
    context = cl.Context([handle])
    binary = open_program(output).binary(handle)
    program = cl.Program(context, [handle], [binary])
    program.build(cache_dir=False)
    x = np.arange(16, dtype=np.float32)
    flags = cl.mem_flags
    source = cl.Buffer(context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=x)
    target = cl.Buffer(context, flags.WRITE_ONLY, x.nbytes)
    queue = cl.CommandQueue(context)
    cl.Kernel(program, "scale")(queue, (16,), (1,), source, target)
    y = np.empty_like(x)
    cl.enqueue_copy(queue, y, target)
    np.testing.assert_array_equal(y, 0.5 * x)


@needs_clang
def test_spirv(kernel):
    found, output = compiler(kernel, "--target", "spirv")
    assert found.code == 0, found.err
    (program,) = open_program(output).programs
    assert set(program.forms) == {"il", "source"}
    assert bytes(program.forms["il"].checked())[:4] == b"\x03\x02\x23\x07"
    assert [k.name for k in program.kernels] == ["scale"]


@needs_clang
def test_several_targets_and_inputs(kernel):
    (kernel.parent / "add.cl").write_text("__kernel void add(__global int *x) { x[get_global_id(0)] += 1; }")
    found, output = compiler(
        kernel, "--input", kernel.parent / "add.cl", "--target", "gfx1030", "--target", "spirv", "--json"
    )
    assert found.code == 0, found.err
    report = json.loads(found.out)
    assert [t["target"] for t in report["targets"]] == ["gfx1030", "spirv"]
    opened = open_program(output)
    assert [e.name for e in opened.entries] == ["gfx1030 (offline)", "portable"]
    assert set(opened.entries[0].programs) == {"scale", "add"}
    assert "amd" in run_main(mace, "inspect", output).out.lower()
    assert run_main(mace, "verify", output).code == 0


@needs_clang
def test_ptx_or_the_install_command(kernel):
    found, output = compiler(kernel, "--target", "sm_80")
    if found.code:
        assert "apt-get install libclc-22" in found.err
        return
    binary = open_program(output).programs[0].forms["binary"]
    assert b".target sm_80" in bytes(binary.checked())


@needs_clang
def test_ptx_without_a_library_is_an_error(kernel, monkeypatch):
    monkeypatch.setattr(clang, "_library", lambda *_: None)
    found, output = compiler(kernel, "--target", "sm_80")
    assert found.code == 1
    assert "_Z13get_global_idj" in found.err
    assert "apt-get install libclc-" in found.err
    assert not output.exists()


@needs_clang
def test_amd_without_a_linker_is_relocatable_and_says_so(kernel, monkeypatch):
    monkeypatch.setattr(clang, "_linker", lambda _: None)
    found, output = compiler(kernel, "--target", "gfx1030")
    assert found.code == 0
    assert "apt-get install lld-" in found.out
    assert describe_binary(open_program(output).programs[0].forms["binary"].checked()).fields["type"] == "relocatable"


@needs_clang
def test_myriad_without_its_toolchain(kernel):
    found, output = compiler(kernel, "--target", "myriad")
    assert found.code == 0
    assert "finished on the device" in found.out
    assert "tested on none" in found.out
    assert set(open_program(output).programs[0].forms) == {"il", "source"}


@needs_clang
def test_myriad_has_no_double(kernel):
    kernel.write_text(
        "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n__kernel void f(__global double *x) { x[0] *= 2.0; }"
    )
    found, output = compiler(kernel, "--target", "myriad", "--options", "-cl-std=CL2.0")
    assert found.code == 1
    assert "Float64" in found.err
    assert not output.exists()


def test_a_vendors_toolchain(kernel):
    tool = kernel.parent / "vendor.py"
    tool.write_text(
        "import sys\ntext = open(sys.argv[1]).read()\n"
        "open(sys.argv[2], 'wb').write(b'VENDOR' + ' '.join(sys.argv[3:]).encode() + text.encode())\n"
    )
    template = f"{sys.executable} {tool} {{in}} {{out}} {{target}} {{options}}"
    found, output = compiler(kernel, "--target", "npu1", "--toolchain", template, "-D", "A=1", "--options", "-O2")
    assert found.code == 0, found.err
    first = open_program(output).programs[0]
    assert bytes(first.forms["binary"].checked()).startswith(b"VENDORnpu1 -DA=1 -O2#line 1")
    assert first.identity.device_name == "npu1"
    assert run_main(mace, "check", output).code == 3


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("clc {in}", "lacks {out}"),
        ("'", "cannot be split"),
        ("no-such-compiler {in} {out}", "is not installed"),
        ("false {in} {out}", "fails with status 1"),
        ("true {in} {out}", "wrote no program"),
    ],
)
def test_toolchains_that_do_not_work(kernel, template, text):
    found, output = compiler(kernel, "--target", "npu1", "--toolchain", template)
    assert found.code in (1, 2)
    assert text in found.err
    assert not output.exists()


@pytest.mark.parametrize("target", ["host", pytest.param("spirv", marks=needs_clang)])
def test_errors_name_file_line_and_the_line(kernel, target):
    kernel.write_text('#include "half.h"\n\n__kernel void f(__global int *x) {\n    x[0] = undefined_name;\n}\n')
    found, output = compiler(kernel, "--target", target)
    assert found.code == 1
    assert "scale.cl:4" in found.err
    assert "x[0] = undefined_name;" in found.err
    assert not output.exists()


@pytest.mark.parametrize(
    ("argv", "text"),
    [
        (["--target", "gfx"], "not known"),
        (["--target", "host:no such device"], "no device is called"),
        (["-I", "/no/such/folder"], "is no folder"),
        (["--options", "'"], "cannot be split"),
        (["--options", '-DX="a b"'], "spaces or quotes"),
        (["--input", "/no/such.cl"], "cannot be read"),
    ],
)
def test_usage(kernel, argv, text):
    found, output = compiler(kernel, *argv)
    assert found.code == 2
    assert text in found.err
    assert not output.exists()


def test_two_inputs_of_one_name(kernel, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "scale.cl").write_text("__kernel void f() {}")
    found, _ = compiler(kernel, "--input", other / "scale.cl")
    assert found.code == 2
    assert "two inputs are called 'scale'" in found.err


def test_the_output_never_replaces_an_input(kernel):
    found = run_main(main, "--input", kernel, "--output", kernel)
    assert found.code == 2
    assert kernel.read_text() == SOURCE


def test_targets_are_listed():
    found = run_main(mace, "targets")
    assert found.code == 0
    for name in ("host", "spirv", "gfx1030", "sm_80", "myriad", "--toolchain"):
        assert name in found.out
    assert {r["target"] for r in json.loads(run_main(mace, "targets", "--json").out)} >= {"spirv", "myriad"}


@needs_clang
def test_the_same_inputs_give_the_same_bytes(kernel):
    argv = ("--target", "spirv", "--target", "gfx1030")
    first = compiler(kernel, *argv)[1].read_bytes()
    assert compiler(kernel, *argv)[1].read_bytes() == first
