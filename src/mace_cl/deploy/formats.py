"""Inputs and outputs in the names and layouts that a deployment file asks for."""

from __future__ import annotations

from collections.abc import Sequence

from mace_cl.deploy.builds import Build, TensorSpec
from mace_cl.errors import UsageError
from mace_cl.graph import Graph, Value
from mace_cl.graph.ops import Transpose
from mace_cl.types import Shape

_TO_NCHW = (0, 3, 1, 2)
_TO_NHWC = (0, 2, 3, 1)
_NATIVE = {"onnx": "NCHW", "tensorflow": "NHWC", "tflite": "NHWC"}


def native_shape(spec: TensorSpec, platform: str) -> Shape:
    """The tensor's shape in the model's own layout."""
    turn = _turn(spec, platform)
    return spec.shape if turn is None else tuple(spec.shape[p] for p in turn)


def apply(graph: Graph, build: Build) -> None:
    """Rename and turn the graph's inputs and outputs, in place.

    Raises:
        UsageError: A tensor has another type or shape than the file says.
    """
    graph.inputs = _inputs(graph, build)
    graph.outputs = _outputs(graph, build)


def _turn(spec: TensorSpec, platform: str) -> tuple[int, ...] | None:
    """The permutation from the file's layout to the model's, or None where they are the same."""
    native = _NATIVE[platform]
    if spec.format in ("", "NONE", "OIHW", native) or len(spec.shape) != 4:
        return None
    return _TO_NHWC if native == "NHWC" else _TO_NCHW


def _inputs(graph: Graph, build: Build) -> dict[str, Value]:
    old = _by_name(graph.inputs, build.inputs, "input")
    made: dict[str, Value] = {}
    for spec, value in zip(build.inputs, old, strict=True):
        _check_type(spec, value, "input")
        turn = _turn(spec, build.platform)
        if turn is None:
            made[spec.alias] = value
            continue
        outer = Value(graph.unique_name(f"{value.name}.{spec.format}"), value.type.with_shape(spec.shape))
        if not graph.nodes:
            raise UsageError(f"input {spec.name!r} cannot be turned: the network is empty", where=build.name)
        inner = graph.add1(Transpose(turn), [outer], before=graph.nodes[0])
        graph.replace(value, inner)
        made[spec.alias] = outer
    return made


def _outputs(graph: Graph, build: Build) -> dict[str, Value]:
    made: dict[str, Value] = {}
    for spec, value in zip(build.outputs, _by_name(graph.outputs, build.outputs, "output"), strict=True):
        _check_type(spec, value, "output")
        turn = _turn(spec, build.platform)
        result = value
        if turn is not None:
            back = tuple(sorted(range(4), key=lambda i: turn[i]))
            result = graph.add1(Transpose(back), [value])
        if spec.shape and result.shape != spec.shape:
            raise UsageError(
                f"output {spec.name!r} has shape {result.shape}, output_shapes says {spec.shape}", where=build.name
            )
        made[spec.alias] = result
    return made


def _by_name(values: dict[str, Value], specs: Sequence[TensorSpec], side: str) -> list[Value]:
    """The values in the file's order; a name may carry TensorFlow's `:0`."""
    found = []
    for spec in specs:
        name = spec.name if spec.name in values else spec.name.removesuffix(":0")
        if name not in values:
            raise UsageError(f"the model has no {side} {spec.name!r}, only {', '.join(values)}")
        found.append(values[name])
    return found


def _check_type(spec: TensorSpec, value: Value, side: str) -> None:
    if spec.dtype and spec.dtype != value.dtype.value:
        raise UsageError(f"{side} {spec.name!r} is {value.dtype.value}, {side}_data_types says {spec.dtype}")
