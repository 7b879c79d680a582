"""Damaged files end in a value or in a FormatError: never in another exception, a hang, or much memory."""

from __future__ import annotations

import contextlib
import random
import signal
import struct
import zlib

import pytest

from mace_cl.errors import FormatError
from mace_cl.program.container import HEAD
from mace_cl.program.describe import describe_file
from mace_cl.program.dump_info import dump_info
from mace_cl.program.macefile.files import make_mace_file
from mace_cl.program.open import open_program
from mace_cl.program.plan import Plan
from mace_cl.program.verify import verify_container
from mace_cl.program.writer import to_bytes
from support.mace_protobuf import write_version2
from support.program_files import small_file, small_plan

resource = pytest.importorskip("resource")

COUNT = 100_000
DESCRIBE_EVERY = 20
SECONDS = 10
MEMORY = 64 << 20

STORE = {
    "conv_2d_3x3 -DBIAS -Dconv_2d_3x3=c44CimylqKs": bytes(range(200)),
    "mace_opencl_precompiled_platform_info_key": b"ARM Platform, FULL_PROFILE, OpenCL 2.0 v1.r14p0, v1.1.1-0-gdeadbee",
    "mace_opencl_precompiled_device_name_key": b"Mali-G72",
    "program_hash_ conv_2d_3x3 -DBIAS": b"0123456789abcdef0123",
    "softmax_opencl_kernel_1_1_1_1000": [16, 16, 4],
}


@contextlib.contextmanager
def bounded(seconds: int, memory: int):
    """Every step inside has so many seconds (re-armed by `step`) and so much more memory than now."""

    def late(*_):
        raise TimeoutError(f"took longer than {seconds} s")

    with open("/proc/self/statm", encoding="ascii") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    old_limit = resource.getrlimit(resource.RLIMIT_AS)
    old_handler = signal.signal(signal.SIGALRM, late)
    resource.setrlimit(resource.RLIMIT_AS, (used + memory, old_limit[1]))
    try:
        yield lambda: signal.setitimer(signal.ITIMER_REAL, seconds)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old_handler)
        resource.setrlimit(resource.RLIMIT_AS, old_limit)


def mutate(rng: random.Random, data: bytes) -> bytes:
    """One to eight changed bytes, runs of one value, or bytes cut out, doubled or moved."""
    made = bytearray(data)
    kind = rng.randrange(10)
    if kind < 5:
        made[rng.randrange(len(made))] = rng.choice((0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)))
    elif kind < 8:
        for _ in range(rng.randrange(2, 9)):
            made[rng.randrange(len(made))] = rng.randrange(256)
    else:
        start = rng.randrange(len(made))
        end = min(len(made), start + rng.choice((1, 2, 4, 8, 64)))
        if kind == 8:
            made[start:end] = bytes([rng.choice((0, 0xFF))]) * (end - start)
        else:
            made[start:end] = made[start:end] * rng.choice((0, 2))
    return bytes(made)


def repaired_version2(rng: random.Random, data: bytes) -> bytes:
    """Half of the mutations get a right checksum, so that they reach what lies behind it."""
    made = mutate(rng, data[:-4])
    return made + (struct.pack("<I", zlib.crc32(made)) if rng.random() < 0.5 else data[-4:])


def repaired_version3(rng: random.Random, data: bytes) -> bytes:
    """Mutations of the header with a right checksum and length, of the 32 bytes before it, of the rest."""
    (n,) = struct.unpack_from("<I", data, 12)
    kind = rng.randrange(10)
    if kind == 0:
        return mutate(rng, data[: HEAD.size]) + data[HEAD.size :]
    if kind == 1:
        return mutate(rng, data)
    raw = mutate(rng, data[HEAD.size : HEAD.size + n])
    raw = raw[:n].ljust(n)
    return data[:24] + struct.pack("<I", zlib.crc32(raw)) + data[28 : HEAD.size] + raw + data[HEAD.size + n :]


def use(data: bytes, deep: bool) -> bool:
    """Read everything; whether it was readable."""
    try:
        opened = open_program(data)
        if opened.container is not None:
            verify_container(opened.container)
        if deep:
            describe_file(memoryview(data), "file")
            dump_info(memoryview(data), "file")
    except FormatError:
        return False
    return True


FILES = {
    1: (make_mace_file(1, [(k.encode(), v) for k, v in STORE.items()]), mutate),
    2: (write_version2(STORE), repaired_version2),
    3: (to_bytes(small_file()), repaired_version3),
}


@pytest.mark.slow
@pytest.mark.parametrize("version", FILES)
def test_mutations(version):
    data, change = FILES[version]
    assert use(data, True)
    rng = random.Random(version)
    readable = 0
    with bounded(SECONDS, MEMORY) as step:
        for i in range(COUNT):
            step()
            readable += use(change(rng, data), i % DESCRIBE_EVERY == 0)
    # Both ends are reached: some mutations are harmless, most are not.
    assert COUNT // 100 < readable < COUNT


@pytest.mark.parametrize("version", FILES)
def test_every_truncation(version):
    data, _ = FILES[version]
    with bounded(SECONDS, MEMORY) as step:
        for size in range(len(data) if version < 3 else 4000):
            step()
            use(data[:size], size % DESCRIBE_EVERY == 0)


def test_mutations_of_plans():
    data = small_plan().to_bytes()
    rng = random.Random(4)
    with bounded(SECONDS, MEMORY) as step:
        for _ in range(5000):
            step()
            with contextlib.suppress(FormatError):
                Plan.from_bytes(mutate(rng, data))


@pytest.mark.parametrize(
    "data",
    [
        struct.pack("<q", 2**62) + bytes(64),
        struct.pack("<q", 2**31) + b"\xff\xff\xff\x7f" * 4,
        struct.pack("<qi", 1, -1) + bytes(64),
        b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f" + bytes(4),
        b"\x0a" * 100000,
        HEAD.pack(b"\x89MACECL\n", 3, 16 << 20, 2**63 - 1, 0, 0),
        HEAD.pack(b"\x89MACECL\n", 3, 2**32 - 1, 2**64 - 1, 0, 0),
    ],
)
def test_lengths_that_lie(data):
    with bounded(SECONDS, MEMORY) as step:
        step()
        assert not use(data, True)
