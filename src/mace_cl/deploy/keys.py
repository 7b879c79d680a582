"""Every key of MACE's deployment file: what stands behind it and what we do about it.

Source: MACE's converter (tools/python/utils/config_parser.py and tools/common.py at 0fc55a54).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Ignored:
    """A key without meaning here: one warning, unless it holds its default.

    Attributes:
        defaults: Values that mean nothing, written out or not.
        reason: Why it has no meaning.
    """

    defaults: tuple[Any, ...]
    reason: str


@dataclass(frozen=True)
class Refused:
    """A key that asks for what is not built: an error, unless it holds its default.

    Attributes:
        defaults: Values that ask for nothing.
        reason: Why it is not done.
    """

    defaults: tuple[Any, ...]
    reason: str


PLATFORMS = ("tensorflow", "onnx", "tflite")
REFUSED_PLATFORMS = {
    "caffe": "Caffe models are not read; convert the model to ONNX",
    "megengine": "MegEngine models are not read; export the model to ONNX",
    "keras": "Keras .h5 files are not read; export the model to TFLite or ONNX",
    "pytorch": "PyTorch files are not read; export the model with torch.onnx",
}
RUNTIMES = ("cpu", "gpu", "cpu+gpu")
REFUSED_RUNTIMES = {
    name: f"{name} is no OpenCL device; only cpu, gpu and cpu+gpu are built"
    for name in ("dsp", "hexagon", "hta", "apu", "htp")
}
DATA_TYPES = ("fp32_fp32", "fp16_fp32")
REFUSED_DATA_TYPES = {
    "fp16_fp16": "arithmetic in half precision is not built",
    "bf16_fp32": "bfloat16 weights are not built",
    "uint8": "quantised arithmetic is not built",
}
ABIS = ("armeabi-v7a", "arm64-v8a", "arm64", "armhf", "host")

TOP_IGNORED = {
    "target_socs": Ignored(([], None), "files are compiled for the devices given with --device, not for chips by name"),
    "model_graph_format": Ignored(("file", None), "one file holds plan, programs and weights"),
    "model_data_format": Ignored(("file", None), "one file holds plan, programs and weights"),
    "apu_version_with_no_device": Ignored((-1, "-1", None), "APUs are not built"),
}
MODEL_REFUSED = {
    "weight_file_path": Refused(("", None), "a separate weight file belongs to Caffe, which is not read"),
    "weight_sha256_checksum": Refused(("", None), "a separate weight file belongs to Caffe, which is not read"),
    "quantize": Refused((0, False, "0", None), "quantised arithmetic is not built"),
    "quantize_schema": Refused(("", None), "quantised arithmetic is not built"),
    "quantize_large_weights": Refused((0, False, "0", None), "quantised weights are not built"),
    "quantize_range_file": Refused(("", None), "quantised arithmetic is not built"),
    "quantize_stat": Refused((0, False, "0", None), "ranges are not collected"),
    "change_concat_ranges": Refused((0, False, "0", None), "quantised arithmetic is not built"),
    "accelerator_api": Refused(("", None), "accelerators other than OpenCL devices are not built"),
    "micro": Refused((None, {}), "micro-controllers have no OpenCL"),
    "graph_optimize_options": Refused((None, []), "these are names of MACE's own rules; the passes here are others"),
    "accuracy_validation_script": Refused((None, "", []), "scripts for MACE's Python interface do not run here"),
}
MODEL_IGNORED = {
    "obfuscate": Ignored((0, False, "0", None), "names are kept, so that files can be inspected"),
    "nnlib_graph_mode": Ignored((0, False, "0", None), "it belongs to Hexagon"),
    "dsp_mode": Ignored((0, False, "0", None), "it belongs to Hexagon"),
    "cl_mem_type": Ignored(("buffer", None), "tensors lie in buffers; images are not used"),
    "backend": Ignored(("tensorflow", None), "`mace validate` compares with its own reference"),
    "docker_image_tag": Ignored((None, ""), "nothing runs in Docker"),
    "dockerfile_path": Ignored((None, ""), "nothing runs in Docker"),
    "dockerfile_sha256_checksum": Ignored((None, ""), "nothing runs in Docker"),
    "check_tensors": Ignored((None, [], ""), "`mace validate` checks the outputs"),
    "check_shapes": Ignored((None, [], ""), "`mace validate` checks the outputs"),
}
