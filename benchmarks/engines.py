"""The engines that benchmarks compare, each with the settings that its makers recommend for two threads and float32.

An engine is loaded in a worker process of its own (`worker.py`), so that no engine's threads disturb another's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

THREADS = 2

Feeds = Mapping[str, np.ndarray]
Run = Callable[[Feeds], Mapping[str, np.ndarray]]
Shapes = Mapping[str, tuple[int, ...]]


def mace(model: Path, shapes: Shapes) -> Run:
    """mace-cl: `model` is a compiled file."""
    import mace_cl

    session = mace_cl.load(model)
    return lambda feeds: session.run(dict(feeds))


def onnxruntime(model: Path, shapes: Shapes) -> Run:
    """ONNX Runtime, CPU provider, all graph optimisations."""
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads = THREADS
    options.inter_op_num_threads = 1
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
    session = ort.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    names = [o.name for o in session.get_outputs()]
    return lambda feeds: dict(zip(names, session.run(names, dict(feeds)), strict=True))


def openvino(model: Path, shapes: Shapes, cache: Path | None = None) -> Run:
    """OpenVINO on the CPU, for latency, in float32."""
    import openvino as ov

    core = ov.Core()
    if cache is not None:
        core.set_property({"CACHE_DIR": str(cache)})
    network = core.read_model(str(model))
    if shapes:
        network.reshape({n: list(s) for n, s in shapes.items()})
    config = {
        "PERFORMANCE_HINT": "LATENCY",
        "INFERENCE_NUM_THREADS": str(THREADS),
        "INFERENCE_PRECISION_HINT": "f32",
    }
    compiled = core.compile_model(network, "CPU", config)
    request = compiled.create_infer_request()
    names = [o.get_any_name() for o in compiled.outputs]

    def run(feeds: Feeds) -> dict[str, np.ndarray]:
        results = request.infer(dict(feeds), share_inputs=True, share_outputs=False)
        return {n: results[i] for i, n in enumerate(names)}

    return run


def litert(model: Path, shapes: Shapes) -> Run:
    """LiteRT with XNNPACK (its default)."""
    from ai_edge_litert.interpreter import Interpreter

    interpreter = Interpreter(model_path=str(model), num_threads=THREADS)
    interpreter.allocate_tensors()
    inputs = {d["name"]: d["index"] for d in interpreter.get_input_details()}
    outputs = {d["name"]: d["index"] for d in interpreter.get_output_details()}

    def run(feeds: Feeds) -> dict[str, np.ndarray]:
        for name, array in feeds.items():
            interpreter.set_tensor(inputs[name], array)
        interpreter.invoke()
        return {n: interpreter.get_tensor(i) for n, i in outputs.items()}

    return run


ENGINES: dict[str, Callable[[Path, Shapes], Run]] = {
    "mace-cl": mace,
    "ONNX Runtime": onnxruntime,
    "OpenVINO": openvino,
    "LiteRT": litert,
}
READS = {"ONNX Runtime": (".onnx",), "OpenVINO": (".onnx", ".tflite"), "LiteRT": (".tflite",)}
"""The model formats that each peer reads."""
