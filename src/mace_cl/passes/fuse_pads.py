"""Padding with zeros goes into the pads of the convolution or average pool behind it.

Must not fire where the padding reaches batch or channels, is negative, is not zero, or has other users that keep it
alive anyway (then the padded tensor exists already, and reading it is as cheap).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from mace_cl.graph import Graph, Node
from mace_cl.graph.ops import AveragePool, Conv, Pad
from mace_cl.passes.base import Pass, Report, sweep


@dataclass(frozen=True)
class FusePads(Pass):
    """Let convolutions pad."""

    name = "fuse-pads"

    def run(self, graph: Graph, report: Report) -> None:
        """Repeat, since one padding may follow another."""

        def visit(node: Node) -> bool:
            op = node.op
            if not isinstance(op, Conv | AveragePool):
                return False
            pad = node.input(0).producer
            if pad is None or not isinstance(pad.op, Pad):
                return False
            reason = _why_not(pad, pad.op, op)
            if reason:
                report.refused(pad, reason)
                return False
            spatial = pad.op.pads[1:-1] if op.channels_last else pad.op.pads[2:]
            pads = tuple((a + c, b + d) for (a, b), (c, d) in zip(op.pads, spatial, strict=True))
            node.op = replace(op, pads=pads)
            node.set_input(0, pad.inputs[0])
            if not pad.output.users and not graph.is_output(pad.output):
                graph.remove(pad)
            report.changed(f"{pad.name} moved into {node.name}")
            return True

        sweep(graph, visit)


def _why_not(pad: Node, op: Pad, user: Conv | AveragePool) -> str | None:
    if op.mode != "constant" or op.value != 0.0:
        return "it does not pad with zeros"
    if any(a < 0 or b < 0 for a, b in op.pads):
        return "it cuts"
    others = (op.pads[0], op.pads[-1]) if user.channels_last else op.pads[:2]
    if any(p != (0, 0) for p in others):
        return "it pads batch or channels"
    if isinstance(user, AveragePool) and not (user.count_include_pad or all(p == (0, 0) for p in user.pads)):
        return f"{pad.output.users[0].name} does not count its own padding"
    if isinstance(user, AveragePool) and (any(user.uncounted) or not user.count_include_pad):
        return "the pool would have to count some padding and not other"
    return None
