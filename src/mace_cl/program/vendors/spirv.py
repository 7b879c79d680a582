"""SPIR-V modules: kernels with arguments, capabilities, source language, generator."""

from __future__ import annotations

import sys
from array import array
from dataclasses import dataclass, field

from mace_cl.errors import FormatError
from mace_cl.program.vendors.description import (
    MAX_KERNELS,
    BinaryDescription,
    DescribePart,
    FieldValue,
    KernelInfo,
    clip,
)

_MAGIC = 0x07230203
_MAX_WORDS = 4 << 20
_MAX_DEPTH = 8
_GENERATORS = {6: "Khronos LLVM/SPIR-V translator", 7: "SPIR-V tools assembler", 8: "glslang", 13: "shaderc",
               14: "SPIRV tools linker", 17: "Mesa", 43: "LLVM SPIR-V backend"}  # fmt: skip
_LANGUAGES = {
    0: "unknown",
    1: "ESSL",
    2: "GLSL",
    3: "OpenCL C",
    4: "C++ for OpenCL (static)",
    5: "HLSL",
    6: "C++ for OpenCL",
}
_CAPABILITIES = {
    4: "Addresses", 5: "Linkage", 6: "Kernel", 7: "Vector16", 8: "Float16Buffer", 9: "Float16", 10: "Float64",
    11: "Int64", 12: "Int64Atomics", 13: "ImageBasic", 14: "ImageReadWrite", 15: "ImageMipmap", 17: "Pipes",
    18: "Groups", 19: "DeviceEnqueue", 20: "LiteralSampler", 22: "Int16", 38: "GenericPointer", 39: "Int8",
    43: "Sampled1D", 44: "Image1D", 46: "SampledBuffer", 47: "ImageBuffer",
}  # fmt: skip
_STORAGE = {0: "__constant ", 4: "__local ", 5: "__global ", 7: "", 8: ""}
_NAME, _STRING, _SOURCE, _ENTRY_POINT, _EXECUTION_MODE, _CAPABILITY = 5, 7, 3, 15, 16, 17
_TYPE_FIRST, _TYPE_LAST = 19, 39
_FUNCTION, _PARAMETER, _FUNCTION_END = 54, 55, 56
_LOCAL_SIZE, _LOCAL_SIZE_HINT = 17, 18


def matches(data: memoryview) -> bool:
    """Whether this is a module, of either byte order."""
    return bytes(data[:4]) in (b"\x03\x02\x23\x07", b"\x07\x23\x02\x03")


@dataclass
class _Module:
    """What is collected on the way through a module."""

    entries: dict[int, str] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)
    types: dict[int, tuple[int, ...]] = field(default_factory=dict)
    parameters: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    arg_types: dict[str, str] = field(default_factory=dict)
    modes: dict[int, dict[str, FieldValue]] = field(default_factory=dict)
    capabilities: list[int] = field(default_factory=list)
    source: str = ""
    function: int = 0


def describe(data: memoryview, part: DescribePart) -> BinaryDescription:
    """Everything that stands in the module's instructions.

    Raises:
        FormatError: It is damaged.
    """
    words = _words(data)
    if len(words) < 5:
        raise FormatError("has no header", where="SPIR-V")
    _, version, generator, bound, _ = words[:5]
    module = _Module()
    damage = f"{data.nbytes % 4} bytes too many at the end" if data.nbytes % 4 else ""
    try:
        _collect(words, module)
    except FormatError as error:
        damage = str(error)
    fields: dict[str, FieldValue] = {
        "version": f"{version >> 16 & 255}.{version >> 8 & 255}",
        "generator": _GENERATORS.get(generator >> 16, f"number {generator >> 16}"),
        "ids": bound,
    }
    if module.source:
        fields["source"] = module.source
    if module.capabilities:
        names = [_CAPABILITIES.get(c, str(c)) for c in dict.fromkeys(module.capabilities)]
        fields["capabilities"] = " ".join(names)
    kernels = tuple(_kernel(module, i, n) for i, n in list(module.entries.items())[:MAX_KERNELS])
    return BinaryDescription("spirv", "SPIR-V", fields, kernels, damage=damage)


def _words(data: memoryview) -> array[int]:
    words = array("I")
    words.frombytes(data[: min(data.nbytes // 4, _MAX_WORDS) * 4])
    if (bytes(data[:4]) == b"\x07\x23\x02\x03") == (sys.byteorder == "little"):
        words.byteswap()
    return words


def _collect(words: array[int], module: _Module) -> None:
    place = 5
    while place < len(words):
        count, opcode = words[place] >> 16, words[place] & 0xFFFF
        if count == 0 or place + count > len(words):
            raise FormatError("an instruction reaches beyond the end", where="SPIR-V", offset=4 * place)
        handler = _HANDLERS.get(opcode)
        if handler is not None:
            handler(module, words[place + 1 : place + count])
        elif _TYPE_FIRST <= opcode <= _TYPE_LAST and count > 1:
            module.types[words[place + 1]] = (opcode, *words[place + 2 : place + min(count, 8)])
        place += count


def _text(words: array[int]) -> str:
    if sys.byteorder == "big":
        words = array("I", words)
        words.byteswap()
    return words.tobytes().split(b"\0", 1)[0].decode("utf-8", "replace")


def _on_entry(module: _Module, words: array[int]) -> None:
    if len(words) >= 3 and words[0] == 6:
        module.entries[words[1]] = clip(_text(words[2:]))


def _on_name(module: _Module, words: array[int]) -> None:
    if len(words) >= 2:
        module.names[words[0]] = clip(_text(words[1:]))


def _on_string(module: _Module, words: array[int]) -> None:
    text = _text(words[1:])
    if text.startswith("kernel_arg_type."):
        kernel, _, types = text.removeprefix("kernel_arg_type.").rpartition(".")
        module.arg_types[kernel] = types


def _on_source(module: _Module, words: array[int]) -> None:
    if len(words) >= 2 and not module.source:
        language = _LANGUAGES.get(words[0], f"language {words[0]}")
        version = f"{words[1] // 100000}.{words[1] // 1000 % 100}" if words[0] in (3, 4, 6) else str(words[1])
        module.source = f"{language} {version}"


def _on_mode(module: _Module, words: array[int]) -> None:
    if len(words) >= 5 and words[1] in (_LOCAL_SIZE, _LOCAL_SIZE_HINT):
        name = "required work-group size" if words[1] == _LOCAL_SIZE else "work-group size hint"
        module.modes.setdefault(words[0], {})[name] = "x".join(map(str, words[2:5]))


def _on_capability(module: _Module, words: array[int]) -> None:
    if words and len(module.capabilities) < 256:
        module.capabilities.append(words[0])


def _on_function(module: _Module, words: array[int]) -> None:
    module.function = words[1] if len(words) > 1 else 0
    if module.function in module.entries:
        module.parameters[module.function] = []


def _on_parameter(module: _Module, words: array[int]) -> None:
    if len(words) > 1 and module.function in module.parameters:
        module.parameters[module.function].append((words[0], words[1]))


_HANDLERS = {
    _ENTRY_POINT: _on_entry,
    _NAME: _on_name,
    _STRING: _on_string,
    _SOURCE: _on_source,
    _EXECUTION_MODE: _on_mode,
    _CAPABILITY: _on_capability,
    _FUNCTION: _on_function,
    _PARAMETER: _on_parameter,
}


def _kernel(module: _Module, function: int, name: str) -> KernelInfo:
    stated = [t for t in module.arg_types.get(name, "").split(",") if t]
    parameters = module.parameters.get(function, [])
    args = []
    for i, (type_id, value_id) in enumerate(parameters):
        own = _type_name(module, type_id)
        space = own[: own.index(" ") + 1] if own.startswith("__") else ""
        args.append((module.names.get(value_id, ""), clip(space + stated[i] if i < len(stated) else own)))
    return KernelInfo(name, tuple(args), module.modes.get(function, {}))


def _type_name(module: _Module, type_id: int, depth: int = 0) -> str:
    """A type in words; nesting is bounded, since ids of a damaged module can form a circle."""
    opcode, *rest = module.types.get(type_id, (0,))
    if depth > _MAX_DEPTH or not opcode:
        return "unknown type"
    if opcode == 21 and len(rest) >= 1:
        return f"int{rest[0]}"
    if opcode == 22 and rest:
        return f"float{rest[0]}"
    if opcode == 23 and len(rest) >= 2:
        return f"{_type_name(module, rest[0], depth + 1)}x{rest[1]}"
    if opcode == 32 and len(rest) >= 2:
        return f"{_STORAGE.get(rest[0], '')}{_type_name(module, rest[1], depth + 1)}*"
    return {20: "bool", 25: "image", 26: "sampler", 28: "array", 30: "struct"}.get(opcode, "unknown type")
