"""The deployment file's schema: every key, every refusal, all errors at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from mace_cl.deploy.builds import builds_of
from mace_cl.deploy.read import ReadDeployment, check_source
from mace_cl.deploy.source import parse_source
from mace_cl.errors import UsageError

TOP = "library_name target_abis target_socs model_graph_format model_data_format apu_version_with_no_device models"
MODEL = """
platform model_file_path model_sha256_checksum weight_file_path weight_sha256_checksum subgraphs input_tensors
output_tensors runtime data_type winograd cl_mem_type limit_opencl_kernel_time opencl_queue_window_size obfuscate
nnlib_graph_mode quantize quantize_schema quantize_large_weights quantize_range_file quantize_stat change_concat_ranges
graph_optimize_options accelerator_api backend validation_threshold validation_inputs_data validation_outputs_data
accuracy_validation_script docker_image_tag dockerfile_path dockerfile_sha256_checksum micro dsp_mode
"""
SUBGRAPH = """
input_tensors input_shapes output_tensors output_shapes input_data_types output_data_types input_data_formats
output_data_formats input_ranges input_aliases output_aliases check_tensors check_shapes order runtime data_type
quantize validation_inputs_data validation_outputs_data backend
"""


def deployment(model: dict[str, Any] | None = None, graph: dict[str, Any] | None = None, **top: Any) -> dict[str, Any]:
    subgraph = {"input_tensors": "x", "input_shapes": "1,4,4,3", "output_tensors": "y", "output_shapes": "1,2"}
    body = {
        "platform": "onnx", "model_file_path": "m.onnx", "model_sha256_checksum": "0" * 64,
        "subgraphs": [{**subgraph, **(graph or {})}], "runtime": "gpu",
    }  # fmt: skip
    base = {"library_name": "lib", "target_abis": ["host"], "models": {"net": {**body, **(model or {})}}}
    return {**base, **top}


def read(raw: dict[str, Any]) -> ReadDeployment:
    return check_source(parse_source(yaml.safe_dump(raw, sort_keys=False).encode(), Path("d.yml"), {}))


def errors(raw: dict[str, Any]) -> str:
    with pytest.raises(UsageError) as error:
        read(raw)
    return str(error.value)


def test_a_plain_file_passes() -> None:
    builds, warnings = builds_of(read(deployment()))
    assert not warnings
    assert builds[0].inputs[0].shape == (1, 4, 4, 3)
    assert builds[0].location == "m.onnx"


@pytest.mark.parametrize(
    ("keys", "place"), [(TOP, "top"), (MODEL, "model"), (SUBGRAPH, "graph")], ids=["top", "model", "subgraph"]
)
def test_every_key_of_mace_is_known(keys: str, place: str) -> None:
    for key in keys.split():
        raw = {"top": deployment(), "model": deployment(), "graph": deployment()}[place]
        target = raw if place == "top" else raw["models"]["net"]
        target = target["subgraphs"][0] if place == "graph" else target
        target.setdefault(key, None)
        message = ""
        try:
            read(raw)
        except UsageError as error:
            message = str(error)
        assert "is no key" not in message, key


@pytest.mark.parametrize(
    "model",
    [
        {"quantize": 0}, {"quantize": "0"}, {"obfuscate": 0}, {"nnlib_graph_mode": 0}, {"winograd": 4}, {"winograd": 0},
        {"limit_opencl_kernel_time": 0}, {"opencl_queue_window_size": 0}, {"weight_file_path": ""}, {"micro": None},
        {"quantize_schema": ""}, {"data_type": "fp32_fp32"}, {"runtime": "cpu+gpu"}, {"runtime": "cpu"},
        {"backend": "tensorflow"},
        {"validation_threshold": {"CPU": 0.99, "HEXAGON": 0.9}},
    ],
)  # fmt: skip
def test_defaults_written_out_are_accepted_in_silence(model: dict[str, Any]) -> None:
    found = read(deployment(model))
    assert not found.warnings
    assert not builds_of(found)[1]


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        ({"platform": "caffe"}, "affe models are not read"),
        ({"platform": "keras"}, "export the model"),
        ({"platform": "mxnet"}, "known are tensorflow, onnx, tflite"),
        ({"runtime": "dsp"}, "dsp is no OpenCL device"),
        ({"runtime": "hexagon"}, "no OpenCL device"),
        ({"quantize": 1}, "quantised arithmetic is not built"),
        ({"quantize_large_weights": 1}, "quantised weights"),
        ({"micro": {"backend": "cmsis"}}, "micro-controllers"),
        ({"data_type": "fp16_fp16"}, "half precision is not built"),
        ({"graph_optimize_options": ["FOLD_CONV_AND_BN"]}, "MACE's own rules"),
        ({"weight_file_path": "w.caffemodel"}, "separate weight file"),
        ({"winograd": 3}, "input should be 0, 2 or 4"),
        ({"model_sha256_checksum": "abc"}, "64 hexadecimal digits"),
        ({"validation_threshold": {"APU": 0.9}}, "APU"),
        ({"limit_opencl_kernel_time": 2}, "neither 0 nor 1"),
    ],
)
def test_what_is_refused_by_name(model: dict[str, Any], reason: str) -> None:
    text = errors(deployment(model))
    assert reason in text
    assert "line " in text


@pytest.mark.parametrize(
    ("model", "word"),
    [
        ({"obfuscate": 1}, "obfuscate"), ({"nnlib_graph_mode": 1}, "nnlib_graph_mode"),
        ({"cl_mem_type": "image"}, "cl_mem_type"),
        ({"data_type": "fp16_fp32"}, "float32"), ({"limit_opencl_kernel_time": 1}, "stretches"),
        ({"opencl_queue_window_size": 8}, "stretches"), ({"docker_image_tag": "x"}, "Docker"),
    ],
)  # fmt: skip
def test_keys_without_meaning_warn_once(model: dict[str, Any], word: str) -> None:
    found = read(deployment(model))
    warnings = [*found.warnings, *builds_of(found)[1]]
    assert len(warnings) == 1
    assert word in warnings[0]


def test_all_errors_come_at_once_with_the_nearest_key() -> None:
    text = errors(deployment({"runtme": "gpu", "quantize": 1}, {"input_rangs": "-1,1"}, libary="x"))
    assert text.startswith("d.yml: 4 errors")
    for near in ("runtime", "input_ranges", "library_name"):
        assert f"did you mean {near!r}" in text


@pytest.mark.parametrize("missing", ["platform", "model_file_path", "model_sha256_checksum", "subgraphs"])
def test_a_missing_key_is_named(missing: str) -> None:
    raw = deployment()
    del raw["models"]["net"][missing]
    assert f"{missing!r} is missing" in errors(raw)


@pytest.mark.parametrize("name", ["9net", "class", "a-b", ""])
def test_names_of_models(name: str) -> None:
    raw = deployment()
    raw["models"] = {name: raw["models"]["net"]}
    assert "error" in errors(raw)


def test_lists_and_single_strings_mean_the_same() -> None:
    single = builds_of(read(deployment()))[0]
    graph = {"input_tensors": ["x"], "input_shapes": ["1,4,4,3"], "output_tensors": ["y"], "output_shapes": [[1, 2]]}
    assert builds_of(read(deployment(graph=graph)))[0] == single


def test_several_models_and_subgraphs_in_their_order() -> None:
    raw = deployment()
    graph = raw["models"]["net"]["subgraphs"][0]
    raw["models"]["net"]["subgraphs"] = {
        "second": {**graph, "order": 2},
        "first": {**graph, "order": 1, "runtime": "cpu"},
    }
    raw["models"]["other"] = deployment()["models"]["net"]
    builds, _ = builds_of(read(raw))
    assert [b.name for b in builds] == ["net.first", "net.second", "other"]
    assert [b.runtime for b in builds] == ["cpu", "gpu", "gpu"]


def test_lists_of_different_length_are_an_error() -> None:
    graph = {"input_data_formats": ["NHWC", "NCHW"], "validation_inputs_data": ["a", "b"]}
    with pytest.raises(UsageError, match="2 errors"):
        builds_of(read(deployment(graph=graph)))


def test_winograd_zero_keeps_the_compiler_from_it() -> None:
    assert builds_of(read(deployment({"winograd": 0})))[0][0].without == ("winograd",)
    assert builds_of(read(deployment()))[0][0].without == ()
