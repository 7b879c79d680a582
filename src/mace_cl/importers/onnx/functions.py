"""Operators that are functions of simpler ones: the model's own, and those that ONNX's schemas define so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from google.protobuf.message import DecodeError
from onnx import FunctionProto, TypeProto, checker, defs, shape_inference

from mace_cl.errors import ImportModelError
from mace_cl.graph import Value
from mace_cl.importers.onnx.tensors import type_number

_REFUSALS = (RuntimeError, ValueError, TypeError, checker.ValidationError, shape_inference.InferenceError)
"""What onnx raises about a node that makes no sense."""


@dataclass(frozen=True)
class Body:
    """A function with the attributes that a call does not give.

    Attributes:
        proto: The FunctionProto.
        defaults: AttributeProtos by name.
    """

    proto: Any
    defaults: Mapping[str, Any]

    @property
    def opsets(self) -> dict[str, int]:
        """Versions of the operator sets that the body is written in."""
        return opset_versions(self.proto.opset_import)


def plain_domain(domain: str) -> str:
    """The domain's name; ONNX's own is empty."""
    return "" if domain == "ai.onnx" else domain


def opset_versions(imports: Sequence[Any]) -> dict[str, int]:
    """Domain to the version of its operator set."""
    return {plain_domain(o.domain): int(o.version) for o in imports}


class LocalFunctions:
    """The functions that a model brings along."""

    def __init__(self, protos: Sequence[Any]) -> None:
        self._bodies = {
            (plain_domain(f.domain), f.name, f.overload): Body(f, {a.name: a for a in f.attribute_proto})
            for f in protos
        }

    def find(self, node: Any) -> Body | None:
        """The function that a node calls, or None."""
        return self._bodies.get((plain_domain(node.domain), node.op_type, node.overload))


def schema_of(name: str, domain: str, opset: int) -> Any | None:
    """ONNX's schema of an operator as the operator set has it, or None."""
    if not 0 < opset < 2**31:
        # No operator set has such a version, and onnx's own function takes 32 bits.
        return None
    try:
        return defs.get_schema(name, opset, domain)
    except defs.SchemaError:
        return None


def schema_function(schema: Any, opset: int, node: Any, inputs: Sequence[Value | None] | None) -> Body | None:
    """The function by which a schema defines its operator, or None.

    Args:
        schema: The operator's schema.
        opset: Version of the operator set that the node is in.
        node: The NodeProto, its attributes resolved.
        inputs: Its operands, on whose types the function may depend; None to leave such functions out.
    """
    defaults = {n: a.default_value for n, a in schema.attributes.items() if a.default_value.name}
    fixed = [v for v in schema.function_opset_versions if v <= opset]
    if fixed:
        return _body(schema.get_function_with_opset_version(max(fixed)), defaults)
    built = [v for v in schema.context_dependent_function_opset_versions if v <= opset]
    if not built or inputs is None:
        return None
    types = [_type_proto(v).SerializeToString() for v in inputs]
    try:
        text = schema.get_context_dependent_function_with_opset_version(max(built), node.SerializeToString(), types)
    except _REFUSALS as error:
        raise ImportModelError(f"ONNX cannot define it by simpler operators ({_first_line(error)})") from error
    return _body(text, defaults)


def depends_on_types(schema: Any) -> bool:
    """Whether the schema's function is only known once the operands' types are."""
    return bool(schema.has_context_dependent_function and not schema.has_function)


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def _body(data: bytes, defaults: Mapping[str, Any]) -> Body | None:
    proto = FunctionProto()
    try:
        proto.ParseFromString(data)
    except DecodeError:
        return None
    return Body(proto, defaults) if proto.node else None


def _type_proto(value: Value | None) -> Any:
    proto = TypeProto()
    if value is not None:
        proto.tensor_type.elem_type = type_number(value.dtype)
        proto.tensor_type.shape.SetInParent()
        for d in value.shape:
            proto.tensor_type.shape.dim.add().dim_value = d
    return proto
