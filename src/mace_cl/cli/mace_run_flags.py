"""Flags in the style of MACE's own `mace_run` (gflags): which there are, what becomes of each, how they are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from mace_cl.errors import UnsupportedError, UsageError

Value = str | int | bool


@dataclass(frozen=True)
class Flag:
    """One flag.

    Attributes:
        default: Its default; the type says how it is read.
        what: For the help text.
        refusal: Why another value than the default cannot be honoured; empty if it can.
    """

    default: Value
    what: str
    refusal: str = ""


_NO_ACCELERATOR = "there is no DSP, APU or NPU here, only OpenCL"
_NO_THREADS = "the OpenCL driver decides on its threads"

FLAGS: Mapping[str, Flag] = {
    "model_file": Flag("", "compiled file, or a model, which is compiled first"),
    "model_name": Flag("", "name of the network; must be the file's where given"),
    "model_data_file": Flag("", "weights of MACE's models", "weights are inside the compiled file"),
    "input_node": Flag("", "names of the inputs, separated by commas"),
    "input_shape": Flag("", "their shapes: 1,224,224,3:1,10"),
    "input_data_type": Flag("", "types of the numbers in the input files; the network's own by default"),
    "input_data_format": Flag("", "NHWC, NCHW or NONE of each input file; the network's own by default"),
    "input_file": Flag("", "raw numbers; several inputs: FILE_name for each"),
    "input_dir": Flag("", "run once for each set of files name<suffix> in this folder"),
    "output_node": Flag("", "names of the outputs to write"),
    "output_shape": Flag("", "their shapes; must be the network's"),
    "output_data_type": Flag("", "types of the numbers in the output files; the network's own by default"),
    "output_data_format": Flag("", "NHWC, NCHW or NONE of each output file; the network's own by default"),
    "output_file": Flag("", "outputs are written as FILE_name"),
    "output_dir": Flag("output", "with input_dir: outputs are written here as name<suffix>"),
    "device": Flag("", "index, name or part of one (not a flag of MACE's)"),
    "dump_binary_info": Flag(False, "print six lines about model_file and end"),
    "round": Flag(1, "runs that are timed"),
    "restart_round": Flag(1, "times that the file is loaded"),
    "benchmark": Flag(False, "print the time of each step"),
    "fake_warmup": Flag(False, "no run before the timed ones: a load has every kernel built already"),
    "gpu_perf_hint": Flag(3, "0 default, 1 low, 2 normal, 3 high; for drivers with cl_qcom_perf_hint"),
    "gpu_priority_hint": Flag(3, "0 default, 1 low, 2 normal, 3 high; for drivers with cl_qcom_priority_hint"),
    "opencl_cache_full_path": Flag("", "the cache is kept in a folder of this name with .cache"),
    "opencl_cache_reuse_policy": Flag(1, "0: no cache; 1: programs of the same device and driver"),
    "opencl_binary_file": Flag("", "compiled file; the same as model_file"),
    "opencl_parameter_file": Flag("", "MACE's tuned parameters: read and checked; they are for MACE's kernels"),
    "accelerator_binary_file": Flag("", "", _NO_ACCELERATOR),
    "accelerator_storage_file": Flag("", "", _NO_ACCELERATOR),
    "accelerator_cache_policy": Flag(0, "", _NO_ACCELERATOR),
    "apu_boost_hint": Flag(100, "", _NO_ACCELERATOR),
    "apu_preference_hint": Flag(1, "", _NO_ACCELERATOR),
    "num_threads": Flag(-1, "", _NO_THREADS),
    "cpu_affinity_policy": Flag(1, "", _NO_THREADS),
    "malloc_check_cycle": Flag(-1, "", "memory is not counted by runs here"),
}

_TRUE, _FALSE = ("true", "t", "1", "yes", "y"), ("false", "f", "0", "no", "n")
_RANGES = {
    "gpu_perf_hint": (0, 3),
    "gpu_priority_hint": (0, 3),
    "opencl_cache_reuse_policy": (0, 1),
    "round": (1, 1_000_000),
    "restart_round": (1, 10_000),
}


@dataclass(frozen=True)
class Flags:
    """What a command line says: values, and which flags were given."""

    values: Mapping[str, Value]
    given: frozenset[str]

    def text(self, name: str) -> str:
        """A text flag."""
        return str(self.values[name])

    def number(self, name: str) -> int:
        """A number flag."""
        return int(self.values[name])

    def is_on(self, name: str) -> bool:
        """A switch."""
        return bool(self.values[name])

    def names(self, name: str, separator: str = ",") -> list[str]:
        """A list; empty if the flag was not given."""
        text = self.text(name)
        return [part.strip() for part in text.split(separator)] if text else []


def parse_flags(argv: Sequence[str]) -> Flags:
    """Read a command line: --flag=value, --flag value, -flag, --noflag.

    Raises:
        UsageError: A flag is unknown (with the nearest name) or its value is malformed.
        UnsupportedError: A flag is known and cannot be honoured.
    """
    values = {name: flag.default for name, flag in FLAGS.items()}
    given: set[str] = set()
    words = list(argv)
    while words:
        name, value = _one_flag(words)
        values[name] = value
        given.add(name)
    _refuse(values)
    return Flags(values, frozenset(given))


def _one_flag(words: list[str]) -> tuple[str, Value]:
    """Take one flag off the front."""
    word = words.pop(0)
    if not word.startswith("-") or word in ("-", "--"):
        raise UsageError(f"{word!r} is no flag", hint="flags are written --flag=value")
    name, equals, text = word.lstrip("-").partition("=")
    if name not in FLAGS and name.startswith("no") and not equals:
        name, equals, text = name[2:], "=", "false"
    flag = FLAGS.get(name)
    if flag is None or (text == "false" and word.lstrip("-").startswith("no") and not isinstance(flag.default, bool)):
        raise _unknown(word)
    if not equals:
        if isinstance(flag.default, bool):
            return name, True
        if not words:
            raise UsageError("has no value", where=f"--{name}")
        text = words.pop(0)
    return name, _value(name, flag, text)


def _unknown(word: str) -> UsageError:
    name = word.lstrip("-").partition("=")[0]
    near = get_close_matches(name, FLAGS, 1, 0.5)
    return UsageError(
        f"there is no flag --{name}", hint=f"did you mean --{near[0]}?" if near else "see mace_run --help"
    )


def _value(name: str, flag: Flag, text: str) -> Value:
    if isinstance(flag.default, bool):
        if text.lower() not in _TRUE + _FALSE:
            raise UsageError(f"{text!r} is neither true nor false", where=f"--{name}")
        return text.lower() in _TRUE
    if isinstance(flag.default, str):
        return text
    try:
        number = int(text)
    except ValueError:
        raise UsageError(f"{text!r} is no integer", where=f"--{name}") from None
    low, high = _RANGES.get(name, (number, number))
    if not low <= number <= high:
        raise UsageError(f"{number} is not from {low} to {high}", where=f"--{name}")
    return number


def _refuse(values: Mapping[str, Value]) -> None:
    """Raise for every flag that asks for what is not there."""
    items = [
        f"--{name}={values[name]}: {flag.refusal}"
        for name, flag in FLAGS.items()
        if flag.refusal and values[name] != flag.default
    ]
    if items:
        raise UnsupportedError("these flags of MACE cannot be honoured", items=items)


def help_text() -> str:
    """Every flag that can be honoured, with its default."""
    lines = ["mace_run --model_file=FILE [--flag=value ...]", ""]
    for name, flag in FLAGS.items():
        if not flag.refusal:
            default = f" (default {flag.default})" if flag.default not in ("", False) else ""
            lines.append(f"  --{name:26} {flag.what}{default}")
    refused = ", ".join(f"--{n}" for n, f in FLAGS.items() if f.refusal)
    return "\n".join([*lines, "", f"Known, and refused if they ask for more than their default: {refused}"])
