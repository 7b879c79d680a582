"""MACE's PairContainer through Google's protobuf runtime: a writer and reader that share nothing with ours."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping, Sequence
from functools import cache

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory


@cache
def container_class():
    """The message class PairContainer of package mace."""
    file = descriptor_pb2.FileDescriptorProto(name="mace_pairs.proto", package="mace", syntax="proto2")
    pair = file.message_type.add(name="KVPair")
    field = descriptor_pb2.FieldDescriptorProto
    pair.field.add(name="key", number=1, type=field.TYPE_STRING, label=field.LABEL_OPTIONAL)
    pair.field.add(name="bytes_value", number=2, type=field.TYPE_BYTES, label=field.LABEL_OPTIONAL)
    pair.field.add(name="uint32s_value", number=3, type=field.TYPE_UINT32, label=field.LABEL_REPEATED)
    container = file.message_type.add(name="PairContainer")
    container.field.add(
        name="pairs", number=1, type=field.TYPE_MESSAGE, type_name=".mace.KVPair", label=field.LABEL_REPEATED
    )
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("mace.PairContainer"))


def write_version2(pairs: Mapping[str, bytes | Sequence[int]]) -> bytes:
    """A version 2 file as MACE writes it."""
    container = container_class()()
    for key, value in pairs.items():
        pair = container.pairs.add(key=key)
        if isinstance(value, bytes):
            pair.bytes_value = value
        else:
            pair.uint32s_value.extend(value)
    body = container.SerializeToString()
    return body + struct.pack("<I", zlib.crc32(body))


def read_version2(data: bytes) -> dict[str, tuple[bytes, list[int]]]:
    """What protobuf makes of a version 2 file."""
    container = container_class()()
    container.ParseFromString(data[:-4])
    return {p.key: (p.bytes_value, list(p.uint32s_value)) for p in container.pairs}
