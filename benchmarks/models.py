"""Classification networks with seeded random weights, written as exporters write them: Conv, BatchNormalization, Relu.

    python benchmarks/models.py FOLDER

The weights are chosen so that numbers neither vanish nor overflow on the way: variances are kept (He), the batch
normalisations' statistics are close to those of the data, and the logits of random input spread by more than 1.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17
IR_VERSION = 8
CLASSES = 1000
INPUT_SHAPE = (1, 3, 224, 224)


class Builder:
    """A network under construction; each method adds nodes and returns the name of their result."""

    def __init__(self, name: str, seed: int) -> None:
        self.name = name
        self._rng = np.random.default_rng(seed)
        self._nodes: list[onnx.NodeProto] = []
        self._weights: list[onnx.TensorProto] = []

    def node(self, op: str, *inputs: str, **attributes: object) -> str:
        """Add a node with one result."""
        result = f"/{op.lower()}_{len(self._nodes)}"
        self._nodes.append(helper.make_node(op, list(inputs), [result], name=f"{result}/{op}", **attributes))
        return result

    def weight(self, name: str, array: np.ndarray) -> str:
        """Add an initialiser."""
        self._weights.append(numpy_helper.from_array(np.asarray(array, np.float32), name))
        return name

    def conv(self, x: str, c_in: int, c_out: int, kernel: int, stride: int = 1, groups: int = 1) -> str:
        """A convolution without bias and its batch normalisation."""
        place = f"layer{len(self._nodes)}"
        fan_in = c_in // groups * kernel * kernel
        weights = self._rng.normal(0, np.sqrt(2 / fan_in), (c_out, c_in // groups, kernel, kernel))
        pad = (kernel - 1) // 2
        y = self.node(
            "Conv",
            x,
            self.weight(f"{place}.conv.weight", weights),
            dilations=[1, 1],
            group=groups,
            kernel_shape=[kernel, kernel],
            pads=[pad] * 4,
            strides=[stride, stride],
        )
        return self._batch_norm(y, c_out, place)

    def _batch_norm(self, x: str, channels: int, place: str) -> str:
        uniform = self._rng.uniform
        parameters = {
            "weight": uniform(0.8, 1.2, channels),
            "bias": uniform(-0.2, 0.2, channels),
            "running_mean": uniform(-0.2, 0.2, channels),
            "running_var": uniform(0.8, 1.2, channels),
        }
        names = [self.weight(f"{place}.bn.{n}", a) for n, a in parameters.items()]
        return self.node("BatchNormalization", x, *names, epsilon=1e-5, momentum=0.9)

    def relu(self, x: str) -> str:
        """max(x, 0)."""
        return self.node("Relu", x)

    def relu6(self, x: str) -> str:
        """x limited to 0 and 6, as Clip with limits that are inputs."""
        limits = {n: numpy_helper.from_array(np.float32(v), f"relu6.{n}") for n, v in (("min", 0), ("max", 6))}
        if not any(w.name == "relu6.min" for w in self._weights):
            self._weights.extend(limits.values())
        return self.node("Clip", x, "relu6.min", "relu6.max")

    def classify(self, x: str, channels: int, gain: float) -> onnx.ModelProto:
        """Global average, a fully connected layer whose weights are spread by `gain`, and the finished model."""
        weights = self._rng.normal(0, gain / np.sqrt(channels), (CLASSES, channels))
        flat = self.node("Flatten", self.node("GlobalAveragePool", x), axis=1)
        w = self.weight("classifier.weight", weights)
        b = self.weight("classifier.bias", self._rng.uniform(-0.2, 0.2, CLASSES))
        self._nodes.append(
            helper.make_node("Gemm", [flat, w, b], ["logits"], "/classifier/Gemm", alpha=1.0, beta=1.0, transB=1)
        )
        graph = helper.make_graph(
            self._nodes,
            self.name,
            [helper.make_tensor_value_info("input", TensorProto.FLOAT, INPUT_SHAPE)],
            [helper.make_tensor_value_info("logits", TensorProto.FLOAT, (INPUT_SHAPE[0], CLASSES))],
            self._weights,
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
        onnx.checker.check_model(model, full_check=True)
        return model


def mobilenet_v1() -> onnx.ModelProto:
    """MobileNetV1, width 1."""
    net = Builder("mobilenet_v1", seed=1)
    x, channels = net.relu(net.conv("input", 3, 32, 3, 2)), 32
    plan = [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *[(512, 1)] * 5, (1024, 2), (1024, 1)]
    for c_out, stride in plan:
        x = net.relu(net.conv(x, channels, channels, 3, stride, channels))
        x = net.relu(net.conv(x, channels, c_out, 1))
        channels = c_out
    return net.classify(x, channels, gain=3.0)


def mobilenet_v2() -> onnx.ModelProto:
    """MobileNetV2, width 1."""
    net = Builder("mobilenet_v2", seed=2)
    x, channels = net.relu6(net.conv("input", 3, 32, 3, 2)), 32
    plan = [
        (1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1),
    ]  # fmt: skip
    for expand, c_out, repeats, first_stride in plan:
        for i in range(repeats):
            x = _inverted_residual(net, x, channels, c_out, expand, first_stride if i == 0 else 1)
            channels = c_out
    return net.classify(net.relu6(net.conv(x, channels, 1280, 1)), 1280, gain=3.0)


def _inverted_residual(net: Builder, x: str, c_in: int, c_out: int, expand: int, stride: int) -> str:
    inner, y = c_in * expand, x
    if expand != 1:
        y = net.relu6(net.conv(y, c_in, inner, 1))
    y = net.relu6(net.conv(y, inner, inner, 3, stride, inner))
    y = net.conv(y, inner, c_out, 1)
    return net.node("Add", x, y) if stride == 1 and c_in == c_out else y


def resnet18() -> onnx.ModelProto:
    """ResNet-18."""
    net = Builder("resnet18", seed=3)
    x, channels = net.relu(net.conv("input", 3, 64, 7, 2)), 64
    x = net.node("MaxPool", x, kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 2])
    for c_out, first_stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        for stride in (first_stride, 1):
            y = net.relu(net.conv(x, channels, c_out, 3, stride))
            y = net.conv(y, c_out, c_out, 3)
            shortcut = x if stride == 1 and channels == c_out else net.conv(x, channels, c_out, 1, stride)
            x, channels = net.relu(net.node("Add", y, shortcut)), c_out
    return net.classify(x, channels, gain=0.25)


MODELS: dict[str, Callable[[], onnx.ModelProto]] = {
    "mobilenet_v1": mobilenet_v1,
    "mobilenet_v2": mobilenet_v2,
    "resnet18": resnet18,
}


def write_model(name: str, path: Path | str) -> None:
    """Write one of MODELS to a file.

    Raises:
        KeyError: There is no such model.
    """
    onnx.save(MODELS[name](), str(path))


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, help="where the .onnx files go; made if it is missing")
    folder: Path = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    for name in MODELS:
        path = folder / f"{name}.onnx"
        write_model(name, path)
        print(f"{path}: {path.stat().st_size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
