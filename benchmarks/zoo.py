"""The networks that benchmarks and accuracy tests use, with the input shapes that are fixed."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from models import write_model
from packages import FOLDER, fetch

SYNTHETIC = ("mobilenet_v1", "mobilenet_v2", "resnet18")


@dataclass(frozen=True)
class Network:
    """A network of the zoo.

    Attributes:
        label: Name in tables.
        asset: Key of `packages.ASSETS`, or one of SYNTHETIC.
        shapes: Shapes of open inputs.
    """

    label: str
    asset: str
    shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)

    def path(self) -> Path:
        """The model file, downloaded or written where it is not there yet."""
        if self.asset not in SYNTHETIC:
            return fetch(self.asset)
        path = FOLDER / "synthetic" / f"{self.asset}.onnx"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary = path.with_suffix(".tmp")
            write_model(self.asset, temporary)
            temporary.replace(path)
        return path


ZOO = (
    Network("MobileNetV1", "mobilenet_v1"),
    Network("MobileNetV2", "mobilenet_v2"),
    Network("ResNet-18", "resnet18"),
    Network("text detector 640x640", "text_detector", {"x": (1, 3, 640, 640)}),
    Network("text detector 736x480", "text_detector", {"x": (1, 3, 736, 480)}),
    Network("text recogniser 48x320", "text_recogniser", {"x": (1, 3, 48, 320)}),
    Network("text classifier 48x192", "text_classifier", {"x": (1, 3, 48, 192)}),
    Network("face detector, short range", "face_detection_short_range"),
    Network("face detector, full range sparse", "face_detection_full_range_sparse"),
    Network("face landmarks", "face_landmark"),
    Network("hand landmarks, full", "hand_landmark_full"),
    Network("palm detector, full", "palm_detection_full"),
    Network("pose landmarks, full", "pose_landmark_full"),
    Network("selfie segmentation", "selfie_segmentation"),
)
