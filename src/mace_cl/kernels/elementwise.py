"""Elementwise operators with broadcasting, and fused chains of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mace_cl.errors import CodegenError
from mace_cl.graph import ops
from mace_cl.graph.core import Graph, Node, Value
from mace_cl.graph.ops import Cast, Expression, FusedElementwise
from mace_cl.graph.ops.base import Cost
from mace_cl.kernels.base import (
    CallArg,
    Config,
    Family,
    KernelCall,
    KernelSpec,
    Match,
    Read,
    Refusal,
    Scalar,
    Write,
    roofline_us,
    single,
)
from mace_cl.kernels.broadcasting import Broadcast, broadcast
from mace_cl.kernels.expression import expression_macro
from mace_cl.kernels.tiles import grid_of
from mace_cl.kernels.typed import typed
from mace_cl.kernels.vectors import ceil_div, vector_macros, width_for
from mace_cl.targets.facts import DeviceFacts
from mace_cl.types import DataType

MAX_INDEX = (1 << 31) - 1
SMALL_ELEMENTS = 8192
"""Below this one work-item does it all: sharing would cost more than it saves."""
GPU_ELEMENTS = 16
"""Elements of a work-item on a GPU."""


def read_operands(node: Node) -> tuple[Value, ...]:
    """The node's operands; an elementwise operator has no absent ones."""
    return tuple(v for v in node.inputs if v is not None)


class Elementwise(Family):
    """Every elementwise operator; float32 in vectors, other types one element at a time."""

    name = "elementwise"
    operators = tuple(
        name
        for name in ops.__all__
        if getattr(getattr(ops, name), "elementwise", False) and name not in ("Literal", "Expression")
    )

    def match(self, graph: Graph, node: Node, facts: DeviceFacts) -> Match | Refusal:
        """The node alone."""
        if node.output.type.elements > MAX_INDEX:
            return Refusal("more elements than a 32-bit index holds")
        try:
            macros = _macros(node, facts)
        except CodegenError as error:
            return Refusal(error.message)
        text = " ".join(macros.values())
        if "double" in text and not facts.has_fp64:
            return Refusal("the device has no double precision (cl_khr_fp64)")
        return single(node)

    def default(self, match: Match, facts: DeviceFacts) -> Config:
        """How the work is split: parts along rows and along the inner dimension."""
        b = _shape_of(match.node)
        row_parts, inner_parts = split(b.rows, b.inner, facts)
        return {"row_parts": row_parts, "inner_parts": inner_parts}

    def cost(self, match: Match, config: Config, facts: DeviceFacts) -> float:
        """Memory traffic."""
        return roofline_us(_cost(match.node), facts, 0.2)

    def emit(self, match: Match, config: Config, facts: DeviceFacts) -> Sequence[KernelCall]:
        """One launch."""
        node = match.node
        b = _shape_of(node)
        macros = _macros(node, facts)
        vector = int(macros.get("V", "1"))
        rows_per = ceil_div(b.rows, config["row_parts"])
        inner_per = ceil_div(ceil_div(b.inner, config["inner_parts"]), vector) * vector
        grid = grid_of(facts, ceil_div(b.inner, inner_per), ceil_div(b.rows, rows_per))
        macros["GROUP"] = grid.group
        args: list[CallArg] = [Read(v) for v in read_operands(node)]
        args += [Write(node.output)]
        args += [Scalar("int", n) for n in (b.rows, b.inner, rows_per, inner_per, *_dim_args(b))]
        spec = KernelSpec.of(self.name, macros)
        return [KernelCall(spec, tuple(args), grid.global_size, grid.local_size, _cost(node))]


def split(rows: int, inner: int, facts: DeviceFacts) -> tuple[int, int]:
    """Parts along rows and along the inner dimension."""
    if facts.kind != "cpu":
        return max(rows, 1), ceil_div(inner, GPU_ELEMENTS)
    units = facts.compute_units
    if rows * inner < SMALL_ELEMENTS or units == 1:
        return 1, 1
    return (units, 1) if rows >= 4 * units or rows % units == 0 else (1, units)


def _shape_of(node: Node) -> Broadcast:
    return broadcast(node.output.shape, [v.shape for v in read_operands(node)])


def _cost(node: Node) -> Cost:
    return node.op.cost([None if v is None else v.type for v in node.inputs], [v.type for v in node.outputs])


def _dim_args(b: Broadcast) -> list[int]:
    """Sizes of the outer dimensions but the first, then each operand's strides along all of them."""
    outer = len(b.dims) - 1
    return [*b.dims[1:outer], *(s for strides in b.strides for s in strides[:outer])]


def _macros(node: Node, facts: DeviceFacts) -> dict[str, str]:
    """The specialisation: operands, types, offsets and the expression.

    Raises:
        CodegenError: The operator has no expression for its types.
    """
    values = read_operands(node)
    b = _shape_of(node)
    all_float = all(v.dtype is DataType.FLOAT32 for v in (*values, node.output)) and not isinstance(node.op, Cast)
    how = _float_macros(node, b, facts) if all_float else _typed_macros(node, b)
    return {**how.macros, **_index_macros(b, how.loads)}


@dataclass(frozen=True)
class _How:
    """Macros of the types and, for each operand, the text that loads it at element i."""

    macros: dict[str, str]
    loads: tuple[str, ...]


def _float_macros(node: Node, b: Broadcast, facts: DeviceFacts) -> _How:
    op = node.op
    values = read_operands(node)
    if isinstance(op, FusedElementwise):
        expression = op.expression
    else:
        operands = _operand_numbers(node)
        expression = Expression(len(values), ((op, operands),))
    head, body = expression_macro("EPILOGUE", expression)
    names = "".join(f", x{k}_" for k in range(len(values)))
    width = width_for(b.inner, facts, widest=16)
    macros = {
        head: body,
        "OPERANDS": " ".join(f"const __global float *restrict p{k}," for k in range(len(values))),
        "TY": "float",
        "TR": "float",
        "LOAD_ONE(p)": "(*(p))",
        "STORE(r, p, i)": "(p)[i] = (r)",
        "COMPUTE(T, LOAD, r, i)": f"{{ DECLARE(T, LOAD, i) EPILOGUE(T, r{names}) }}",
    }
    if width > 1:
        macros.update(vector_macros(width))
    loads = tuple(
        f"const T x{k}_ = LOAD(p{k} + o{k}_ + (i));" if s[-1] else f"const T x{k}_ = (T)(p{k}[o{k}_]);"
        for k, s in enumerate(b.strides)
    )
    return _How(macros, loads)


def _typed_macros(node: Node, b: Broadcast) -> _How:
    values = read_operands(node)
    made = typed(node.op, tuple(v.dtype for v in values), node.output.dtype)
    if made is None:
        types = ", ".join(v.dtype.value for v in values)
        raise CodegenError(f"no OpenCL C for {node.op.name} on {types}")
    half = node.output.dtype is DataType.FLOAT16
    macros = {
        "OPERANDS": " ".join(f"const __global {v.dtype.opencl} *restrict p{k}," for k, v in enumerate(values)),
        "TY": node.output.dtype.opencl,
        "TR": made.result,
        "LOAD_ONE(p)": "(*(p))",
        "STORE(r, p, i)": "vstore_half(r, i, p)" if half else "(p)[i] = (r)",
        "COMPUTE(T, LOAD, r, i)": f"{{ DECLARE(T, LOAD, i) r = ({made.result})({made.text}); }}",
    }
    loads = tuple(
        _typed_load(k, v.dtype, made.operands[k], f"o{k}_ + {'(i)' if s[-1] else '0'}")
        for k, (v, s) in enumerate(zip(values, b.strides, strict=True))
    )
    return _How(macros, loads)


def _typed_load(k: int, dtype: DataType, type_: str, index: str) -> str:
    read = f"vload_half({index}, p{k})" if dtype is DataType.FLOAT16 else f"p{k}[{index}]"
    return f"const {type_} x{k} = {read};"


def _operand_numbers(node: Node) -> tuple[int | None, ...]:
    """Operand number of each input of the node."""
    numbers: list[int | None] = []
    count = 0
    for value in node.inputs:
        numbers.append(None if value is None else count)
        count += value is not None
    return tuple(numbers)


def _index_macros(b: Broadcast, loads: Sequence[str]) -> Mapping[str, str]:
    """DIM_PARAMS, OFFSETS and DECLARE: where a row of each operand starts, and how its elements are read."""
    outer = len(b.dims) - 1
    count = len(b.strides)
    names = [f"d{d}" for d in range(1, outer)]
    names += [f"s{k}_{d}" for k in range(count) for d in range(outer)]
    text = []
    if outer:
        text.append("int rest_ = (row);")
        text += [f"const int i{d}_ = rest_ % d{d}; rest_ /= d{d};" for d in range(outer - 1, 0, -1)]
        text.append("const int i0_ = rest_;")
    for k in range(count):
        terms = [f"i{d}_ * s{k}_{d}" for d in range(outer)]
        text.append(f"const int o{k}_ = {' + '.join(terms) or '0'};")
    return {
        "DIM_PARAMS": "".join(f", int {n}" for n in names),
        "OFFSETS(row)": " ".join(text),
        "DECLARE(T, LOAD, i)": " ".join(loads),
    }


FAMILY = Elementwise()
