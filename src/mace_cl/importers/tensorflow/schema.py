"""The protobuf messages of a GraphDef, as far as they are read. Fields that are not listed are skipped by protobuf.

Source: TensorFlow's core/framework/{graph,node_def,attr_value,tensor,tensor_shape,versions,function}.proto. Nested
messages have names of their own here.
"""

from __future__ import annotations

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_PACKAGE = "mace_cl.tensorflow"

_Field = tuple[int, str]
"""Number and type; `*` behind the type for repeated, `{}` for a map from string."""

_MESSAGES: dict[str, dict[str, _Field]] = {
    "GraphDef": {"node": (1, "NodeDef*"), "library": (2, "FunctionDefLibrary"), "versions": (4, "VersionDef")},
    "VersionDef": {"producer": (1, "int32"), "min_consumer": (2, "int32")},
    "FunctionDefLibrary": {"function": (1, "FunctionDef*")},
    "FunctionDef": {"signature": (1, "OpDef")},
    "OpDef": {"name": (1, "string")},
    "NodeDef": {
        "name": (1, "string"),
        "op": (2, "string"),
        "input": (3, "string*"),
        "device": (4, "string"),
        "attr": (5, "AttrValue{}"),
    },
    "AttrValue": {
        "list": (1, "ListValue"),
        "s": (2, "bytes"),
        "i": (3, "int64"),
        "f": (4, "float"),
        "b": (5, "bool"),
        "type": (6, "DataType"),
        "shape": (7, "TensorShapeProto"),
        "tensor": (8, "TensorProto"),
    },
    "ListValue": {
        "s": (2, "bytes*"),
        "i": (3, "int64*"),
        "f": (4, "float*"),
        "b": (5, "bool*"),
        "type": (6, "DataType*"),
        "shape": (7, "TensorShapeProto*"),
    },
    "TensorShapeProto": {"dim": (2, "Dim*"), "unknown_rank": (3, "bool")},
    "Dim": {"size": (1, "int64"), "name": (2, "string")},
    "TensorProto": {
        "dtype": (1, "DataType"),
        "tensor_shape": (2, "TensorShapeProto"),
        "tensor_content": (4, "bytes"),
        "float_val": (5, "float*"),
        "double_val": (6, "double*"),
        "int_val": (7, "int32*"),
        "string_val": (8, "bytes*"),
        "int64_val": (10, "int64*"),
        "bool_val": (11, "bool*"),
        "half_val": (13, "int32*"),
        "uint32_val": (16, "uint32*"),
        "uint64_val": (17, "uint64*"),
    },
}
_TYPES = (
    "INVALID", "FLOAT", "DOUBLE", "INT32", "UINT8", "INT16", "INT8", "STRING", "COMPLEX64", "INT64", "BOOL", "QINT8",
    "QUINT8", "QINT32", "BFLOAT16", "QINT16", "QUINT16", "UINT16", "COMPLEX128", "HALF", "RESOURCE", "VARIANT",
    "UINT32", "UINT64",
)  # fmt: skip
"""Names of the element types in the order of their numbers; files in text form use them."""

_ONE_OF = {"AttrValue": "value"}
"""Messages all of whose fields exclude each other, and the name of the choice."""

_Proto = descriptor_pb2.FieldDescriptorProto


def _add_field(message: Any, name: str, number: int, type_: str) -> None:
    field = message.field.add(name=name, number=number)
    field.label = _Proto.LABEL_REPEATED if type_.endswith(("*", "{}")) else _Proto.LABEL_OPTIONAL
    base = type_.rstrip("*{}")
    if type_.endswith("{}"):
        entry = message.nested_type.add(name=f"{name.capitalize()}Entry")
        entry.options.map_entry = True
        _add_field(entry, "key", 1, "string")
        _add_field(entry, "value", 2, base)
        base = f"{message.name}.{entry.name}"
    if base.split(".")[0] in _MESSAGES:
        field.type = _Proto.TYPE_MESSAGE
        field.type_name = f".{_PACKAGE}.{base}"
    elif base == "DataType":
        field.type, field.type_name = _Proto.TYPE_ENUM, f".{_PACKAGE}.DataType"
    else:
        field.type = getattr(_Proto, f"TYPE_{base.upper()}")
    if message.name in _ONE_OF:
        field.oneof_index = 0


def _classes() -> dict[str, Any]:
    file = descriptor_pb2.FileDescriptorProto(name="mace_cl/tensorflow.proto", package=_PACKAGE, syntax="proto3")
    enum = file.enum_type.add(name="DataType")
    for number, name in enumerate(_TYPES):
        enum.value.add(name=f"DT_{name}", number=number)
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        if name in _ONE_OF:
            message.oneof_decl.add(name=_ONE_OF[name])
        for field, (number, type_) in fields.items():
            _add_field(message, field, number, type_)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.{name}")) for name in _MESSAGES
    }


_CLASSES = _classes()
GraphDef: Any = _CLASSES["GraphDef"]
NodeDef: Any = _CLASSES["NodeDef"]
AttrValue: Any = _CLASSES["AttrValue"]
TensorProto: Any = _CLASSES["TensorProto"]
TensorShapeProto: Any = _CLASSES["TensorShapeProto"]
