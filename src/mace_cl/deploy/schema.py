"""The deployment file's schema: what is built, as pydantic models. `keys.py` holds what is refused or ignored."""

from __future__ import annotations

import keyword
import math
import re
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from mace_cl.deploy.keys import (
    ABIS,
    DATA_TYPES,
    PLATFORMS,
    REFUSED_DATA_TYPES,
    REFUSED_PLATFORMS,
    REFUSED_RUNTIMES,
    RUNTIMES,
)

_CPP_KEYWORDS = """
alignas alignof and asm auto bitand bitor bool break case catch char class compl const constexpr continue decltype
default delete do double else enum explicit export extern false float for friend goto if inline int long mutable
namespace new noexcept not nullptr operator or private protected public register return short signed sizeof static
struct switch template this throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t
while xor
"""
CPP_KEYWORDS = frozenset(_CPP_KEYWORDS.split())
_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*$")
_SHA256 = re.compile(r"[0-9a-fA-F]{64}$")
MAX_RANK = 8


def _listed(value: Any) -> Any:
    """One value where a list is meant."""
    return value if isinstance(value, list | tuple) or value is None else [value]


def _text(value: Any) -> Any:
    """Names that YAML reads as numbers are names all the same."""
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _shape(value: Any) -> Any:
    """'1,224,224,3' or a list of integers."""
    if isinstance(value, bool):
        raise ValueError("is not a shape such as 1,224,224,3")
    parts = value if isinstance(value, list | tuple) else str(value).split(",")
    try:
        shape = tuple(int(str(p).strip()) for p in parts)
    except ValueError:
        raise ValueError(f"{value!r} is not a shape such as 1,224,224,3") from None
    if any(d < 1 for d in shape) or len(shape) > MAX_RANK or math.prod(shape) > 1 << 40:
        raise ValueError(f"{value!r} has a dimension below 1, more than {MAX_RANK} dimensions, or too many elements")
    return shape


def _range(value: Any) -> Any:
    """'-1.0,1.0' or a list of two numbers."""
    parts = value if isinstance(value, list | tuple) else str(value).split(",")
    try:
        low, high = (float(p) for p in parts)
    except (TypeError, ValueError):
        raise ValueError(f"{value!r} is not a range such as -1.0,1.0") from None
    if not low <= high or not (math.isfinite(low) and math.isfinite(high)):
        raise ValueError(f"{value!r} is not in order")
    return low, high


def _shapes(value: Any) -> Any:
    """A list of shapes; a list of numbers is one shape."""
    if isinstance(value, list) and value and all(isinstance(v, int) for v in value):
        return [value]
    return _listed(value)


def _checksum(value: Any) -> Any:
    if value in (None, ""):
        return ""
    if not isinstance(value, str) or not _SHA256.match(value):
        raise ValueError("is not a SHA-256 of 64 hexadecimal digits")
    return value.lower()


def _choice(known: Sequence[str], refused: dict[str, str], what: str) -> Any:
    """A word of a list; words that MACE knows and we do not build are refused with their reason."""

    def check(value: Any) -> Any:
        if value in refused:
            raise ValueError(refused[value])
        if value not in known:
            raise ValueError(f"{value!r} is no {what}; known are {', '.join(known)}")
        return value

    return BeforeValidator(check)


def _flag(value: Any) -> Any:
    """0 or 1, as number, word or boolean."""
    if value in (0, 1, "0", "1", True, False):
        return bool(int(value))
    raise ValueError(f"{value!r} is neither 0 nor 1")


def _model_name(value: str) -> str:
    if not _NAME.match(value) or value in CPP_KEYWORDS or keyword.iskeyword(value):
        raise ValueError(f"{value!r} is not a name of letters, digits and _, or is a keyword of C++ or Python")
    return value


Name = Annotated[str, BeforeValidator(_text), Field(min_length=1)]
Names = Annotated[list[Name], BeforeValidator(_listed)]
Shape = Annotated[tuple[int, ...], BeforeValidator(_shape)]
Shapes = Annotated[list[Shape], BeforeValidator(_shapes)]
Range = Annotated[tuple[float, float], BeforeValidator(_range)]
Ranges = Annotated[list[Range], BeforeValidator(_listed)]
ElementType = Literal["float32", "float16", "int32", "int16", "uint8", "int64", "bool"]
Format = Literal["NONE", "NHWC", "NCHW", "OIHW"]
Runtime = Annotated[str, _choice(RUNTIMES, REFUSED_RUNTIMES, "runtime")]
ModelDataType = Annotated[str, _choice(DATA_TYPES, REFUSED_DATA_TYPES, "data type")]
Platform = Annotated[str, _choice(PLATFORMS, REFUSED_PLATFORMS, "platform")]
Checksum = Annotated[str, BeforeValidator(_checksum)]
Flag = Annotated[bool, BeforeValidator(_flag)]
ModelName = Annotated[str, AfterValidator(_model_name)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", protected_namespaces=())


class Subgraph(_Strict):
    """A part of a model with inputs and outputs of its own."""

    input_tensors: Names
    input_shapes: Shapes
    output_tensors: Names
    output_shapes: Shapes
    input_data_types: Annotated[list[ElementType], BeforeValidator(_listed)] = []
    output_data_types: Annotated[list[ElementType], BeforeValidator(_listed)] = []
    input_data_formats: Annotated[list[Format], BeforeValidator(_listed)] = []
    output_data_formats: Annotated[list[Format], BeforeValidator(_listed)] = []
    input_ranges: Ranges = []
    input_aliases: Names = []
    output_aliases: Names = []
    validation_inputs_data: Names = []
    validation_outputs_data: Names = []
    order: int = 0
    runtime: Runtime | None = None
    data_type: ModelDataType | None = None


class Thresholds(_Strict):
    """Least similarity on each kind of device; what is not built has keys all the same."""

    cpu: Annotated[float, Field(alias="CPU", ge=0, le=1)] = 0.999
    gpu: Annotated[float, Field(alias="GPU", ge=0, le=1)] = 0.995
    hexagon: Annotated[float | None, Field(alias="HEXAGON", ge=0, le=1)] = None
    dsp: Annotated[float | None, Field(alias="DSP", ge=0, le=1)] = None
    hta: Annotated[float | None, Field(alias="HTA", ge=0, le=1)] = None
    quantize: Annotated[float | None, Field(alias="QUANTIZE", ge=0, le=1)] = None


class Model(_Strict):
    """One model."""

    platform: Platform
    model_file_path: Name
    model_sha256_checksum: Checksum
    subgraphs: dict[str, Subgraph]
    input_tensors: Names = []
    output_tensors: Names = []
    runtime: Runtime | None = None
    data_type: ModelDataType | None = None
    winograd: Literal[0, 2, 4] = 0
    limit_opencl_kernel_time: Flag = False
    opencl_queue_window_size: Annotated[int, Field(ge=0, le=1 << 20)] = 0
    validation_threshold: Thresholds = Thresholds()
    validation_inputs_data: Names = []
    validation_outputs_data: Names = []


class Deployment(_Strict):
    """The whole file."""

    library_name: Name
    target_abis: Annotated[list[Annotated[str, _choice(ABIS, {}, "ABI")]], BeforeValidator(_listed)]
    models: Annotated[dict[ModelName, Model], Field(min_length=1)]
