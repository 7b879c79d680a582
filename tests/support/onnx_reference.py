"""ONNX's own reference evaluator, for one operator at a time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from onnx import helper
from onnx.reference import ReferenceEvaluator


def run_onnx(
    op_type: str, inputs: Sequence[np.ndarray | None], *, opset: int = 21, n_outputs: int = 1, **attributes: object
) -> list[np.ndarray]:
    """Evaluate one ONNX operator on arrays; None is an absent input."""
    names = [f"x{i}" if a is not None else "" for i, a in enumerate(inputs)]
    outputs = [f"y{i}" for i in range(n_outputs)]
    node = helper.make_node(op_type, names, outputs, **attributes)
    infos = [
        helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
        for n, a in zip(names, inputs, strict=True)
        if a is not None
    ]
    result_infos = [helper.make_empty_tensor_value_info(n) for n in outputs]
    graph = helper.make_graph([node], "one", infos, result_infos)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    feeds = {n: a for n, a in zip(names, inputs, strict=True) if a is not None}
    with np.errstate(all="ignore"):
        return list(ReferenceEvaluator(model).run(None, feeds))
