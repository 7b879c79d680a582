"""Which kernel computes which nodes.

Every family is asked for every node. A family may take several nodes at once (a fused kernel); it is used where its
estimated time is less than that of the best kernels for the nodes one by one. Of fused matches that overlap, the one
that saves most is taken first.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from mace_cl.errors import UnsupportedError
from mace_cl.graph import Graph, Node
from mace_cl.graph.ops import Identity, Reshape
from mace_cl.kernels.base import Config, Family, Match, Refusal
from mace_cl.kernels.registry import families_for
from mace_cl.targets.facts import DeviceFacts

TunedConfig = Callable[[Family, Match], Config | None]


@dataclass(frozen=True)
class Choice:
    """A match, the family that computes it and the parameters.

    Attributes:
        estimate_us: The family's own estimate.
        rejected: Reasons why other families were not taken, for `mace explain`.
    """

    family: Family
    match: Match
    config: Config
    estimate_us: float
    rejected: tuple[str, ...] = ()


def is_alias(node: Node) -> bool:
    """Whether the node moves nothing: its output is its input under another shape."""
    return isinstance(node.op, Reshape | Identity)


def is_empty(node: Node) -> bool:
    """Whether every output has no elements, so that there is nothing to compute."""
    return all(v.type.elements == 0 for v in node.outputs)


def choose(
    graph: Graph, facts: DeviceFacts, tuned: TunedConfig | None = None, without: Collection[str] = ()
) -> list[Choice]:
    """Choices that cover every node that needs a launch, in the order in which they can run.

    Args:
        graph: The network after the passes.
        facts: The device.
        tuned: Parameters found by tuning, if any; the family's default otherwise.
        without: Families that may not be used.

    Raises:
        UnsupportedError: Lists every node that no family takes, with each family's reason.
    """
    tuned = tuned or (lambda family, match: None)
    singles: dict[Node, Choice] = {}
    fused: list[Choice] = []
    problems: list[str] = []
    for node in graph.nodes:
        if is_alias(node) or is_empty(node):
            continue
        found, refusals = _candidates(graph, node, facts, tuned, without)
        alone = [c for c in found if len(c.match.nodes) == 1]
        fused += [c for c in found if len(c.match.nodes) > 1]
        if alone:
            best = min(alone, key=lambda c: c.estimate_us)
            losers = [f"{c.family.name}: {c.estimate_us:.1f} us" for c in alone if c is not best]
            singles[node] = Choice(best.family, best.match, best.config, best.estimate_us, (*losers, *refusals))
        elif not found:
            problems.append(
                f"{node.op.name} (node {node.name!r}): " + ("; ".join(refusals) or "no kernel family has it")
            )
    if problems:
        raise UnsupportedError(
            f"no kernel for {len(problems)} nodes", where=graph.name, items=problems, hint="see docs/operators.md"
        )
    return _in_order(graph, _cover(singles, fused))


def _candidates(
    graph: Graph, node: Node, facts: DeviceFacts, tuned: TunedConfig, without: Collection[str]
) -> tuple[list[Choice], list[str]]:
    found: list[Choice] = []
    refusals: list[str] = []
    for family in families_for(node.op.name):
        if family.name in without:
            refusals.append(f"{family.name}: not to be used")
            continue
        match = family.match(graph, node, facts)
        if isinstance(match, Refusal):
            refusals.append(f"{family.name}: {match.reason}")
            continue
        config = tuned(family, match) or family.default(match, facts)
        found.append(Choice(family, match, config, family.cost(match, config, facts)))
    return found, refusals


def _cover(singles: dict[Node, Choice], fused: Iterable[Choice]) -> list[Choice]:
    """Fused choices that save time, most first, then singles for the rest."""

    def saving(choice: Choice) -> float:
        apart = sum(singles[n].estimate_us if n in singles else float("inf") for n in choice.match.nodes)
        return apart - choice.estimate_us

    taken: list[Choice] = []
    covered: set[Node] = set()
    for choice in sorted(fused, key=saving, reverse=True):
        if saving(choice) > 0 and covered.isdisjoint(choice.match.nodes):
            taken.append(choice)
            covered.update(choice.match.nodes)
    return taken + [c for n, c in singles.items() if n not in covered]


def _in_order(graph: Graph, choices: list[Choice]) -> list[Choice]:
    """By the place of each choice's last node: all that it reads is computed by then."""
    place = {node: i for i, node in enumerate(graph.nodes)}
    return sorted(choices, key=lambda c: max(place[n] for n in c.match.nodes))
