"""The passes in order, and the loop that runs them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mace_cl.errors import MaceError
from mace_cl.graph import Graph
from mace_cl.graph.check import check
from mace_cl.passes.base import Pass, Report
from mace_cl.passes.channels_last import ChannelsLast
from mace_cl.passes.decompose import Decompose
from mace_cl.passes.fold_batch_norm import FoldBatchNorm
from mace_cl.passes.fold_constants import FoldConstants
from mace_cl.passes.fold_scales import FoldScales
from mace_cl.passes.fuse_elementwise import FuseElementwise
from mace_cl.passes.fuse_epilogues import FuseEpilogues
from mace_cl.passes.fuse_pads import FusePads
from mace_cl.passes.merge_equal import MergeEqual
from mace_cl.passes.recognise_activations import RecogniseActivations
from mace_cl.passes.remove_dead import RemoveDead
from mace_cl.passes.remove_identities import RemoveIdentities
from mace_cl.passes.sink_transposes import SinkTransposes

DEFAULT_PIPELINE: tuple[Pass, ...] = (
    RemoveDead(),  # nothing below works for nothing
    FoldConstants(),  # float16 weights become constants of the operators that read them
    RemoveIdentities(),  # patterns below need not look through Identity
    MergeEqual(),  # equal branches have one result, so that patterns see it
    RecogniseActivations(),  # before scales are folded away from under the patterns
    Decompose(),  # what has no kernel becomes what has one, and meets the passes below
    FoldBatchNorm(),  # into weights, while convolutions have no epilogue
    FoldScales(),  # likewise for what exporters write as Mul and Add
    ChannelsLast(),  # kernels want channels innermost
    SinkTransposes(),  # the transposes that this needed cancel
    MergeEqual(),  # those that stay are made once
    RemoveIdentities(),  # reshapes that the above left
    FusePads(),  # after layout: pads and convolutions agree on their axes
    FoldScales(),  # scales that a transpose stood in front of
    FuseEpilogues(),  # activations and residuals
    FuseElementwise(),  # what no convolution takes
    FuseEpilogues(),  # expressions that became one operand by the last step
    FoldConstants(),  # constants that the passes made
    RemoveDead(),  # what is left over
)
"""Every pass in order, with the reason for its place."""


@dataclass(frozen=True)
class PassRun:
    """What one pass did.

    Attributes:
        name: The pass.
        report: Its changes and refusals.
        milliseconds: Time it took.
        nodes: Nodes in the graph after it.
    """

    name: str
    report: Report
    milliseconds: float
    nodes: int


def run_passes(
    graph: Graph,
    passes: Sequence[Pass] = DEFAULT_PIPELINE,
    *,
    checked: bool = False,
    after: Callable[[str, Graph], None] | None = None,
) -> list[PassRun]:
    """Run passes on a graph, in place.

    Args:
        graph: The network.
        passes: What to run.
        checked: Check the graph before the first pass and after each one.
        after: Called with a pass's name and the graph after it.

    Raises:
        VerifyError: A pass left a broken graph (only with `checked`).
    """
    if checked:
        check(graph)
    runs = []
    for item in passes:
        start = time.perf_counter()
        report = Report()
        item.run(graph, report)
        runs.append(PassRun(item.name, report, 1e3 * (time.perf_counter() - start), len(graph.nodes)))
        if checked:
            try:
                check(graph)
            except MaceError as error:
                error.where = f"after pass {item.name}: {error.where or graph.name}"
                raise
        if after is not None:
            after(item.name, graph)
    return runs
