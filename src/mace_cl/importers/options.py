"""What a user can say about a model when it is imported."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from mace_cl.types import Shape


@dataclass(frozen=True)
class ImportOptions:
    """Choices for an import.

    Attributes:
        input_shapes: Input name to its static shape; replaces open (dynamic) and fixed dimensions alike.
        fixed_inputs: Input name to a value that makes it a constant (an input that decides a shape, say).
        input_names: The graph's inputs, where they are not to be found by the importer (TensorFlow; elsewhere a cut
            of the graph at these tensors); empty for the model's own.
        output_names: The graph's outputs; empty for the model's own.
    """

    input_shapes: Mapping[str, Shape] = field(default_factory=dict)
    fixed_inputs: Mapping[str, np.ndarray] = field(default_factory=dict)
    input_names: tuple[str, ...] = ()
    output_names: tuple[str, ...] = ()
