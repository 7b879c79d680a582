"""What a kernel does with its sums before it stores them: the macros and arguments of an operator's epilogue."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mace_cl.errors import MaceError
from mace_cl.graph.core import Value
from mace_cl.graph.ops.expression import Expression
from mace_cl.kernels.base import CallArg, Read, Refusal
from mace_cl.kernels.expression import expression_macro
from mace_cl.types import DataType


@dataclass(frozen=True)
class Epilogue:
    """Macros and arguments that apply an expression to a sum.

    The kernel writes EXTRA_PARAMS behind its output parameter, hands EXTRAS on to helpers, and calls
    FINISH(T, LOAD, r, sum, index, channel): r of type T becomes the result for the sums of T's lanes, which stand at
    element `index` of the output and start at `channel`; LOAD reads a T from a pointer.

    Attributes:
        macros: EXTRA_PARAMS, EXTRAS, FINISH and EPILOGUE.
        args: The extra operands, in order.
    """

    macros: dict[str, str]
    args: tuple[CallArg, ...]


def epilogue_of(
    expression: Expression, extras: Sequence[Value | None], output: Value, tag: str = ""
) -> Epilogue | Refusal:
    """Macros and arguments for an expression whose operand 0 is the sum, or why the kernels cannot apply it.

    Args:
        expression: The steps.
        extras: Operands 1 onwards.
        output: The value that the steps give, channels last.
        tag: Put in front of the macros' names where a kernel has several epilogues.
    """
    reads: list[str] = []
    values: list[Value] = []
    for i, value in enumerate(extras, 1):
        if value is None:
            return Refusal(f"operand {i} of the epilogue is absent")
        how = _how_to_read(value, output, f"{tag.lower()}e{i}")
        if how is None:
            return Refusal(f"operand {i} of the epilogue has the shape {list(value.shape)}")
        reads.append(f"const T x{i}_ = {how};")
        values.append(value)
    try:
        head, body = expression_macro(f"{tag}EPILOGUE", expression)
    except MaceError as error:
        return Refusal(str(error))
    names = [f"{tag.lower()}e{i}" for i in range(1, len(values) + 1)]
    operands = "".join(f", x{i}_" for i in range(1, len(values) + 1))
    macros = {
        head: body,
        f"{tag}EXTRA_PARAMS": "".join(f", const __global float *{n}" for n in names),
        f"{tag}EXTRAS": "".join(f", {n}" for n in names),
        f"{tag}FINISH(T, LOAD, r, a, index, channel)": f"{{ {' '.join(reads)} {tag}EPILOGUE(T, r, a{operands}) }}",
    }
    return Epilogue(macros, tuple(Read(v) for v in values))


def _how_to_read(value: Value, output: Value, name: str) -> str | None:
    """The expression that reads the operand for the lanes of an output vector."""
    if value.dtype is not DataType.FLOAT32:
        return None
    if value.type.elements == 1:
        return f"(T)({name}[0])"
    dense = value.shape[next(i for i, d in enumerate(value.shape) if d != 1) :]
    wanted = output.shape
    while wanted and wanted[0] == 1:
        wanted = wanted[1:]
    if dense == wanted:
        return f"LOAD({name} + (index))"
    if dense == output.shape[-1:]:
        return f"LOAD({name} + (channel))"
    return None
