"""`mace init`, `mace compile --config` and `mace validate`, as a user calls them."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml

DATA = Path(__file__).resolve().parents[1] / "data"
MODEL = DATA / "mobilenet_v1_025_128.pb"


def mace(*args: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mace_cl", *map(str, args)], capture_output=True, text=True, cwd=cwd, check=False
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("deploy")
    (made / "net.pb").write_bytes(MODEL.read_bytes())
    assert mace("init", "net.pb", cwd=made).returncode == 0
    return made


def rewrite(folder: Path, name: str, **model: object) -> Path:
    raw = yaml.safe_load((folder / "net.yml").read_text())
    graph = raw["models"]["net"]["subgraphs"][0]
    for key, value in model.items():
        (graph if key in graph or key.startswith(("validation", "input_al", "output_al")) else raw["models"]["net"])[
            key
        ] = value
    path = folder / name
    path.write_text(yaml.safe_dump(raw))
    return path


def test_init_fills_in_what_the_model_says(folder: Path) -> None:
    raw = yaml.safe_load((folder / "net.yml").read_text())
    model = raw["models"]["net"]
    assert model["model_sha256_checksum"] == hashlib.sha256(MODEL.read_bytes()).hexdigest()
    assert model["subgraphs"][0]["input_shapes"] == ["1,128,128,3"]
    assert mace("init", "net.pb", cwd=folder).returncode == 2


def test_compile_and_validate(folder: Path) -> None:
    dry = mace("compile", "--config", "net.yml", "--dry-run", cwd=folder)
    assert dry.returncode == 0
    assert "1x128x128x3" in dry.stdout
    assert not list(folder.glob("*.bin"))
    done = mace("compile", "--config", "net.yml", "-o", "out", cwd=folder)
    assert done.returncode == 0, done.stderr
    good = mace("validate", "net.yml", "--compiled", "out", cwd=folder)
    assert good.returncode == 0, good.stderr
    assert "passes 0.999" in good.stdout
    with np.load(DATA / "mobilenet_v1_025_128.in.npz") as arrays:
        np.save(folder / "in.npy", arrays[arrays.files[0]])
    with np.load(DATA / "mobilenet_v1_025_128.out.npz") as arrays:
        wanted = arrays[arrays.files[0]]
    np.save(folder / "out.npy", wanted)
    np.save(folder / "wrong.npy", np.roll(wanted, 1, axis=-1))
    for name, code in (("out", 0), ("wrong", 1)):
        config = rewrite(folder, f"{name}.yml", validation_inputs_data="in.npy", validation_outputs_data=f"{name}.npy")
        found = mace("validate", config, "--compiled", "out", cwd=folder)
        assert found.returncode == code, found.stdout + found.stderr


def test_another_layout_and_other_names(folder: Path) -> None:
    config = rewrite(
        folder, "nchw.yml", input_shapes="1,3,128,128", input_data_formats="NCHW", input_aliases="image",
        output_aliases="scores",
    )  # fmt: skip
    assert mace("compile", "--config", config, "-o", "nchw", cwd=folder).returncode == 0
    with np.load(DATA / "mobilenet_v1_025_128.in.npz") as arrays:
        np.save(folder / "image.npy", arrays[arrays.files[0]].transpose(0, 3, 1, 2))
    (compiled,) = (folder / "nchw").glob("*.bin")
    run = mace("run", compiled, "-i", "image=image.npy", "-o", "scores.npz", cwd=folder)
    assert run.returncode == 0, run.stderr
    with np.load(folder / "scores.npz") as got, np.load(DATA / "mobilenet_v1_025_128.out.npz") as wanted:
        reference = wanted[wanted.files[0]]
        assert np.abs(got["scores"] - reference).max() <= 2e-4 * np.abs(reference).max()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"platform": "onnx"}, "platform says onnx"),
        ({"model_sha256_checksum": "0" * 64}, "SHA-256"),
        ({"output_tensors": "Identty"}, "Identity"),
        ({"output_shapes": "1,7"}, "output_shapes says"),
        ({"input_data_types": "int32"}, "input_data_types says int32"),
        ({"model_file_path": "absent.pb"}, "no such file"),
    ],
)
def test_a_file_that_does_not_fit_its_model(folder: Path, change: dict[str, object], message: str) -> None:
    config = rewrite(folder, "odd.yml", **change)
    done = mace("compile", "--config", config, "-o", "odd", cwd=folder)
    assert done.returncode in (1, 2)
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not list((folder / "odd").glob("*"))
