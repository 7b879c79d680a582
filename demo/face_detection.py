"""The demo: compile the face detector, start it in a new process, box the face, and time it all beside LiteRT."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from blazeface import INPUT_SIZE, Face, decode, overlap, prepare
from PIL import Image, ImageDraw
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "benchmarks"))
from packages import fetch

HERE = Path(__file__).resolve().parent
STEADY_RUNS = 200
MIN_IOU = 0.95
MAX_SCORE_DIFFERENCE = 1e-3


def main() -> int:
    """Run the demo; exit code 0 if the boxes agree with LiteRT's."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("demo-output"), help="folder for the files it writes")
    folder: Path = parser.parse_args().output
    folder.mkdir(parents=True, exist_ok=True)

    print("1. the model and the pictures, by package")
    model, face, no_face = (fetch(n, say=True) for n in ("face_detection_short_range", "astronaut", "coffee"))

    compiled = folder / "mace-cl-compiled-program.bin"
    print(f"2. compiling {model.name} -> {compiled}")
    start = time.perf_counter()
    run([sys.executable, "-m", "mace_cl", "compile", str(model), "-o", str(compiled)])
    cold = time.perf_counter() - start

    print("3. running it in a new process, without the compiler")
    pictures = {"face": square(face), "no_face": square(no_face)}
    np.savez(folder / "inputs.npz", **{n: prepare(p) for n, p in pictures.items()})
    ours = engine("mace", compiled, folder)
    print("4. running the model in LiteRT, in a new process")
    theirs = engine("litert", model, folder)

    print("5. boxes")
    good = agree(folder, pictures["face"])
    print_table(cold, ours, theirs)
    return 0 if good else 1


def run(command: list[str]) -> str:
    """Run a command and give its standard output; a failure ends the demo with what it said."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def engine(name: str, model: Path, folder: Path) -> dict[str, Any]:
    """Times of an engine in a process of its own; its outputs land in `<name>.npz`."""
    start = time.perf_counter()
    out = run([sys.executable, str(HERE / "engine.py"), name, str(model), str(folder), str(STEADY_RUNS)])
    report: dict[str, Any] = json.loads(out)
    report["process_ms"] = 1e3 * (time.perf_counter() - start) - report["steady_total_ms"]
    return report


def square(path: Path) -> np.ndarray:
    """The middle square of a picture, at the network's size."""
    with Image.open(path) as image:
        rgb = image.convert("RGB")
        side = min(rgb.size)
        left, top = (rgb.width - side) // 2, (rgb.height - side) // 2
        cut = rgb.crop((left, top, left + side, top + side))
        return np.asarray(cut.resize((INPUT_SIZE, INPUT_SIZE), Image.Resampling.BILINEAR))


def agree(folder: Path, picture: np.ndarray) -> bool:
    """Decode both engines' outputs, draw our box, and compare."""
    found: dict[str, dict[str, list[Face]]] = {}
    for name in ("mace", "litert"):
        with np.load(folder / f"{name}.npz") as arrays:
            found[name] = {
                p: decode(arrays[f"{p}.regressors"], arrays[f"{p}.classificators"]) for p in ("face", "no_face")
            }
    ours, theirs = found["mace"], found["litert"]
    draw(folder / "faces.png", ours["face"])
    print(f"   {len(ours['face'])} face(s) in the portrait, {len(ours['no_face'])} in the picture without one")
    print(f"   picture with the box: {folder / 'faces.png'}")
    if len(ours["face"]) != len(theirs["face"]) or not ours["face"] or ours["no_face"]:
        print("   the number of faces is wrong")
        return False
    good = True
    for mine, other in zip(ours["face"], theirs["face"], strict=True):
        iou, difference = overlap(mine, other), abs(mine.score - other.score)
        print(f"   against LiteRT: IoU {iou:.6f}, score {mine.score:.4f}, differs by {difference:.1e}")
        good &= iou >= MIN_IOU and difference <= MAX_SCORE_DIFFERENCE
    return good


def draw(path: Path, faces: list[Face]) -> None:
    """The portrait with its boxes, as a PNG."""
    with Image.open(fetch("astronaut")) as image:
        portrait = image.convert("RGB")
    side = min(portrait.size)
    left, top = (portrait.width - side) // 2, (portrait.height - side) // 2
    pen = ImageDraw.Draw(portrait)
    for face in faces:
        x0, y0, x1, y1 = (v * side for v in face.box)
        pen.rectangle((left + x0, top + y0, left + x1, top + y1), outline=(0, 255, 0), width=3)
    portrait.save(path)


def print_table(cold_s: float, ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    """Both engines side by side, in milliseconds."""
    table = Table(title="face_detection_short_range, milliseconds, two processes on this machine")
    for column in ("", "mace-cl", "LiteRT"):
        table.add_column(column, justify="left" if not column else "right")
    table.add_row("cold compile, once", f"{1e3 * cold_s:.0f}", "-")
    for key in ("import", "load", "first"):
        table.add_row({"import": "imports", "load": "load", "first": "first run"}[key], ms(ours, key), ms(theirs, key))
    for part, value in ours["parts"].items():
        table.add_row(f"  load: {part}", f"{value:.1f}", "")
    table.add_row("whole process to first result", ms(ours, "process"), ms(theirs, "process"))
    table.add_row("steady run, median", ms(ours, "steady", 3), ms(theirs, "steady", 3))
    Console().print(table)


def ms(report: dict[str, Any], key: str, digits: int = 1) -> str:
    """A time of a report."""
    return f"{report[f'{key}_ms']:.{digits}f}"


if __name__ == "__main__":
    sys.exit(main())
