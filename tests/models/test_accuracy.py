"""Compiled networks against the float64 reference, on noise and on what they were made for, on every CPU runtime."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from accuracy import LIMIT, Case, cases, distance, ours, peer
from mace_cl.compiler import CompileOptions, compile_model
from mace_cl.graph import Graph
from mace_cl.graph.ops import Conv
from mace_cl.importers import ImportOptions, import_model
from mace_cl.runtime.session import Session
from support.runtimes import device_of
from zoo import ZOO, Network

SLOW = ("ResNet-18", "text detector 640x640", "text detector 736x480", "text recogniser 48x320")
"""Networks whose reference takes several seconds: run on one runtime by default."""

NETWORKS = {network.label: network for network in ZOO}
_CASES: dict[str, list[Case]] = {}


def cases_of(network: Network) -> list[Case]:
    """Inputs and references, computed once."""
    if network.label not in _CASES:
        _CASES[network.label] = cases(network)
    return _CASES[network.label]


@pytest.mark.models
@pytest.mark.parametrize("vendor", ["intel-cpu", "pocl"])
@pytest.mark.parametrize("label", NETWORKS)
def test_distance_to_the_reference(label: str, vendor: str) -> None:
    device = device_of(vendor)
    if label in SLOW and vendor == "pocl":
        pytest.skip("a large network: benchmarks/accuracy.py measures it on every runtime")
    network = NETWORKS[label]
    made = cases_of(network)
    distances = ours(network, str(device.index), made)
    beyond = [i for i, found in enumerate(distances) if found > LIMIT]
    if beyond:
        # One output of the pose network is a small difference of large numbers: float32 itself misses the limit there.
        # The established engine on the same input says by how much; we may not be further off than that.
        name, theirs = peer(network, made)
        for i in beyond:
            assert distances[i] <= theirs[i], f"{made[i].kind}: {distances[i]:.2e}, {name} {theirs[i]:.2e}"


@pytest.mark.models
@pytest.mark.parametrize("fault", ["scaled", "no bias"])
@pytest.mark.parametrize("label", ["MobileNetV2", "face detector, short range", "text classifier 48x192"])
def test_a_wrong_layer_is_seen(label: str, fault: str, tmp_path: Path) -> None:
    """The limit is tight enough to see one convolution's weights scaled by 1.01, or its bias dropped."""
    network = NETWORKS[label]

    def importer(path: Path) -> Graph:
        graph = import_model(path, ImportOptions(input_shapes=network.shapes))
        hosts = [n for n in graph.nodes if isinstance(n.op, Conv) and n.input(1).is_constant]
        with_bias = [n for n in hosts if len(n.inputs) > 2 and n.inputs[2] is not None]
        node = (with_bias or hosts)[len(with_bias or hosts) // 2]
        index = 1 if fault == "scaled" or not with_bias else 2
        array = node.input(index).data
        assert array is not None
        wrong = array * np.float32(1.01) if index == 1 else np.zeros_like(array)
        node.set_input(index, graph.constant(wrong, "wrong"))
        return graph

    path = tmp_path / "wrong.bin"
    compile_model(network.path(), path, CompileOptions(selftest=False, importer=importer))
    with Session.load(path) as session:
        found = [distance(session.run(dict(c.feeds)), c.reference) for c in cases_of(network)]
    assert max(found) > LIMIT
