"""Targets that need no device to compile for: which there are, what each needs, and how it is compiled."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from mace_cl.errors import BuildError, UnsupportedError, UsageError
from mace_cl.program.vendors.description import BinaryDescription
from mace_cl.program.vendors.registry import describe_binary
from mace_cl.toolchains.clang import INSTALL, Compiled, compile_amd, compile_ptx, compile_spirv, find_clang
from mace_cl.toolchains.template import compile_with_template


@dataclass(frozen=True)
class OfflineTarget:
    """A kind of target.

    Attributes:
        name: As it is listed.
        pattern: Names that are of this kind.
        what: For people.
        needs: What must be installed.
        vendor, platform: CL_DEVICE_VENDOR and CL_PLATFORM_NAME of its devices; empty for any.
        refused_capabilities: SPIR-V capabilities that its devices do not have.
    """

    name: str
    pattern: str
    what: str
    needs: str
    vendor: str = ""
    platform: str = ""
    refused_capabilities: tuple[str, ...] = ()


SPIRV = OfflineTarget("spirv", r"spirv", "SPIR-V for any device that takes it", "clang 20 or newer; spirv-val to check")
AMD = OfflineTarget(
    "gfx1030 ...",
    r"gfx[0-9a-f]{3,5}",
    "code object for one AMD GPU",
    "clang 20 or newer, lld, libclc",
    "Advanced Micro Devices, Inc.",
    "AMD Accelerated Parallel Processing",
)
NVIDIA = OfflineTarget(
    "sm_80 ...",
    r"sm_\d{2,3}[af]?",
    "PTX for NVIDIA GPUs from one generation on",
    "clang 20 or newer, libclc",
    "NVIDIA Corporation",
    "NVIDIA CUDA",
)
MYRIAD = OfflineTarget(
    "myriad",
    r"myriad",
    "Intel Movidius Myriad: the vendor's program with --toolchain, else SPIR-V, finished on the device",
    "--toolchain 'clc --strip-binary-header {in} -o {out}'; or clang 20 or newer",
    "Intel",
    "",
    ("Float64", "ImageBasic", "DeviceEnqueue", "Pipes"),
)
TARGETS = (SPIRV, AMD, NVIDIA, MYRIAD)

UNTESTED = "it is finished on the device, and was tested on none"


@dataclass(frozen=True)
class OfflineProgram:
    """A program made for a target.

    Attributes:
        target: Its name.
        form: 'il' (SPIR-V) or 'binary'.
        compiled: Bytes, log and notes.
        description: What the bytes are: kernels with arguments.
    """

    target: str
    form: str
    compiled: Compiled
    description: BinaryDescription


def find_target(name: str) -> OfflineTarget | None:
    """The kind of a target's name, or None."""
    return next((t for t in TARGETS if re.fullmatch(t.pattern, name)), None)


def compile_offline(
    target: str, source: str, options: Sequence[str], toolchain: str | None, timeout_s: float
) -> OfflineProgram:
    """Compile a program for a target.

    Args:
        target: A name that `find_target` knows, or any other with a toolchain.
        source: OpenCL C without includes.
        options: OpenCL build options.
        toolchain: Template of a vendor's command line, or None.
        timeout_s: Longest time.

    Raises:
        UsageError: The target is unknown, or the template is malformed.
        UnsupportedError: The compiler is not installed, or the program is beyond the target's limits.
        BuildError: The source does not compile.
    """
    kind = find_target(target)
    if toolchain is not None:
        compiled = compile_with_template(toolchain, source, target, options, timeout_s)
    elif kind is None:
        raise UsageError(
            f"the target {target!r} is not known", hint="see mace targets; a vendor's compiler is given by --toolchain"
        )
    else:
        compiled = _with_clang(kind, target, source, options, timeout_s)
    description = describe_binary(compiled.data)
    if description.damage:
        raise BuildError(f"the compiler's output is damaged: {description.damage}", log=compiled.log)
    form = "il" if description.kind == "spirv" else "binary"
    if kind is not None:
        _check_limits(kind, description)
    return OfflineProgram(target, form, compiled, description)


def _with_clang(kind: OfflineTarget, target: str, source: str, options: Sequence[str], timeout_s: float) -> Compiled:
    if kind is AMD:
        return compile_amd(source, target, options, timeout_s)
    if kind is NVIDIA:
        return compile_ptx(source, target, options, timeout_s)
    compiled = compile_spirv(source, options, timeout_s)
    if kind is MYRIAD:
        return Compiled(compiled.data, compiled.log, (*compiled.notes, f"SPIR-V and source: {UNTESTED}"))
    return compiled


def _check_limits(kind: OfflineTarget, description: BinaryDescription) -> None:
    used = str(description.fields.get("capabilities", "")).split()
    refused = [c for c in kind.refused_capabilities if c in used]
    if refused:
        raise UnsupportedError(f"the program needs {', '.join(refused)}, which {kind.name} does not have")


def target_rows() -> list[dict[str, str]]:
    """Every kind of target with what it needs and whether that is here."""
    try:
        clang = f"{find_clang().text} is installed"
    except UnsupportedError:
        clang = f"not installed: {INSTALL}"
    return [{"target": t.name, "what": t.what, "needs": t.needs, "state": clang} for t in TARGETS]
