"""Damaged files end in an error of ours: never in a traceback, a hang or a huge allocation."""

from __future__ import annotations

import contextlib
import time
import tracemalloc

import numpy as np
import pytest

from mace_cl.errors import ImportModelError, MaceError
from mace_cl.importers.tflite.reader import read_model
from support.tflite_builder import Level, ModelBuilder, Sparse
from support.tflite_cases import floats, ints
from support.tflite_run import import_bytes


def sample(external: bool) -> bytes:
    """A network with padding, sparse and quantised weights, shape operands, a custom operator and several types."""
    m = ModelBuilder(external_buffers=external)
    x = m.tensor("input", (1, 8, 8, 3))
    t = [m.tensor(f"t{i}", s) for i, s in enumerate([(1, 10, 10, 3), (1, 5, 5, 4), (1, 25, 4), (1, 100), (1, 4)])]
    y, up, idx = m.tensor("y", (1, 4)), m.tensor("up", (1, 10, 10, 2)), m.tensor("index", (1,), "INT64")
    pads = m.constant("pads", ints([0, 0], [1, 1], [1, 1], [0, 0]))
    w = m.constant("w", floats(4, 3, 3, 3))
    b = m.constant("b", floats(4))
    m.operator("PAD", [x, pads], [t[0]], "PadOptions")
    m.operator("CONV_2D", [t[0], w, b], [t[1]], "Conv2DOptions", StrideH=2, StrideW=2, FusedActivationFunction=3)
    m.operator("RESHAPE", [t[1], m.constant("s0", ints(1, -1, 4))], [t[2]], "ReshapeOptions", NewShape=[1, 25, 4])
    m.operator("RESHAPE", [t[2], m.constant("s1", ints(1, 100))], [t[3]])
    levels = [Level(4), Level(0, np.asarray([0, 1, 2, 3, 4], np.uint8), np.asarray([3, 99, 0, 50], np.uint16))]
    sparse = m.tensor(
        "sparse", (4, 100), "FLOAT16", data=np.ones(4, np.float16).tobytes(), sparse=Sparse([0, 1], levels)
    )
    plain, wide = m.tensor("plain", (4, 100), "FLOAT16"), m.tensor("wide", (4, 100))
    m.operator("DENSIFY", [sparse], [plain], "DensifyOptions")
    m.operator("DEQUANTIZE", [plain], [wide], "DequantizeOptions")
    m.operator("FULLY_CONNECTED", [t[3], wide, -1], [t[4]], "FullyConnectedOptions")
    scales = m.constant("scales", np.asarray([[1, 2, 3, 4]], np.int8), scale=[0.5], zero_point=[1])
    m.operator("MUL", [t[4], scales], [y], "MulOptions")
    m.operator("ARG_MAX", [y, m.constant("axis", ints(-1))], [idx], "ArgMaxOptions", OutputType=4)
    up_w, up_b = m.constant("up_w", floats(2, 2, 2, 4)), m.constant("up_b", floats(2))
    options = np.asarray([1, 2, 2], "<i4").tobytes()
    m.operator("CUSTOM", [t[1], up_w, up_b], [up], custom="Convolution2DTransposeBias", custom_options=options)
    return m.build([x], [y, up, idx])


SAMPLES = [sample(False), sample(True)]


def survive(data: bytes) -> bool:
    """Whether the file could still be read; anything but an error of ours fails the test."""
    try:
        import_bytes(data)
    except MaceError:
        return False
    return True


@pytest.mark.parametrize("data", SAMPLES, ids=["inside", "external"])
def test_the_sample_itself_is_sound(data: bytes) -> None:
    assert survive(data)


@pytest.mark.parametrize("data", SAMPLES, ids=["inside", "external"])
def test_truncated_files(data: bytes) -> None:
    for length in np.random.default_rng(0).integers(0, len(data), 150):
        survive(data[:length])
    # Cut within the first half, something that is needed is always gone.
    with pytest.raises(ImportModelError):
        import_bytes(data[: len(data) // 2])


@pytest.mark.parametrize("data", SAMPLES, ids=["inside", "external"])
@pytest.mark.parametrize("seed", range(4))
def test_mutated_files(data: bytes, seed: int) -> None:
    rng = np.random.default_rng(seed)
    refused = 0
    for _ in range(100):
        damaged = bytearray(data)
        for place in rng.integers(0, len(data), rng.integers(1, 9)):
            damaged[place] = rng.choice([0, 1, 127, 128, 255, rng.integers(256)])
        refused += not survive(bytes(damaged))
    assert 0 < refused < 100


@pytest.mark.parametrize("seed", range(2))
def test_mutated_words(seed: int) -> None:
    """Offsets and lengths are words; set them to the values that hurt."""
    rng = np.random.default_rng(seed)
    words = [0, 1, 2**31 - 1, 2**31, 2**32 - 1, 2**24, len(SAMPLES[0])]
    for _ in range(150):
        damaged = bytearray(SAMPLES[0])
        place = int(rng.integers(0, len(damaged) // 4)) * 4
        damaged[place : place + 4] = int(rng.choice(words)).to_bytes(4, "little")
        survive(bytes(damaged))


def test_no_damage_allocates_much_or_takes_long() -> None:
    rng = np.random.default_rng(7)
    tracemalloc.start()
    begin = time.perf_counter()
    for _ in range(60):
        damaged = bytearray(SAMPLES[0])
        place = int(rng.integers(0, len(damaged) // 4)) * 4
        damaged[place : place + 4] = int(rng.integers(2**32)).to_bytes(4, "little")
        with contextlib.suppress(MaceError):
            read_model(bytes(damaged), "model.tflite")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 64 * 2**20
    assert time.perf_counter() - begin < 60


def test_a_vector_shared_by_all_tables_does_not_multiply() -> None:
    """Many operators that share one long vector would make a small file endless work."""
    m = ModelBuilder(operator_repeats=5000)
    x, y = m.tensor("x", (1,)), m.tensor("y", (1,))
    m.operator("ADD_N", [x] * 5000, [y])
    with pytest.raises(ImportModelError, match="far more than the file holds"):
        import_bytes(m.build([x], [y]))


@pytest.mark.parametrize("data", [b"", b"\0" * 7, b"\x10\0\0\0TFL3", b"\xff\xff\xff\xffTFL3" + bytes(64)])
def test_files_that_are_hardly_there(data: bytes) -> None:
    with pytest.raises(ImportModelError):
        import_bytes(data)
