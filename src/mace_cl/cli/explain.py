"""`mace explain`."""

from __future__ import annotations

from pathlib import Path

import click
import numpy as np

from mace_cl.cli.inputs import PictureOptions, read_inputs
from mace_cl.cli.parameters import parse_shapes
from mace_cl.cli.run import write_npz
from mace_cl.errors import UsageError
from mace_cl.graph import Graph
from mace_cl.graph.evaluate import evaluate_graph
from mace_cl.graph.text import to_text
from mace_cl.importers import ImportOptions, import_model
from mace_cl.lowering.lower import lower
from mace_cl.lowering.select import Choice
from mace_cl.opencl.devices import select_device
from mace_cl.passes.pipeline import DEFAULT_PIPELINE, PassRun, run_passes


@click.command("explain")
@click.argument("model", type=click.Path(path_type=Path))
@click.option("--input-shape", "shapes", multiple=True, metavar="NAME=1,3,640,640", help="Fix an input's shape.")
@click.option("--output-name", "output_names", multiple=True, help="Outputs, where they are not the model's own.")
@click.option("-d", "--device", help="Index, name or part of one.")
@click.option(
    "--print-after", "after", multiple=True, metavar="PASS", help="Print the graph after a pass; `import` too."
)
@click.option(
    "--oracle", "inputs", multiple=True, metavar="[NAME=]FILE", help="Compute the references on these inputs."
)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="With --oracle: write the results, .npz by name.")
def command(
    model: Path,
    shapes: tuple[str, ...],
    output_names: tuple[str, ...],
    device: str | None,
    after: tuple[str, ...],
    inputs: tuple[str, ...],
    output: Path | None,
) -> None:
    """Show what the compiler makes of MODEL: passes, refusals, and the kernel that each part gets."""
    known = {"import", *(p.name for p in DEFAULT_PIPELINE)}
    if odd := [a for a in after if a not in known]:
        raise UsageError(f"there is no pass {odd[0]!r}", hint=f"known are {', '.join(sorted(known))}")
    graph = import_model(model, ImportOptions(input_shapes=parse_shapes(shapes), output_names=output_names))
    if inputs:
        _oracle(graph, inputs, output)
        return
    _print_graph(graph, "import", after)
    for run in run_passes(graph, after=lambda name, g: _print_graph(g, name, after)):
        _print_pass(run)
    chosen = select_device(device)
    click.echo(f"\nkernels for {chosen.label}")
    for choice in lower(graph, chosen.facts).choices:
        _print_choice(choice)


def _oracle(graph: Graph, inputs: tuple[str, ...], output: Path | None) -> None:
    """The whole network by the operators' references, in float64."""
    feeds = read_inputs(inputs, {n: v.type for n, v in graph.inputs.items()}, PictureOptions())
    results = evaluate_graph(graph, feeds)
    for name, array in results.items():
        peak = float(np.abs(array).max(initial=0.0)) if array.dtype.kind == "f" else array.max(initial=0)
        click.echo(f"{name}: {array.dtype} {list(array.shape)}, largest magnitude {peak:.6g}")
    if output is not None:
        write_npz(output, results)


def _print_graph(graph: Graph, name: str, wanted: tuple[str, ...]) -> None:
    if name in wanted:
        click.echo(f"\n== after {name}\n{to_text(graph)}")


def _print_pass(run: PassRun) -> None:
    click.echo(f"{run.name:24} {run.nodes:5} nodes  {len(run.report.changes):4} changes  {run.milliseconds:7.1f} ms")
    for node, reason in dict.fromkeys(run.report.refusals):
        click.echo(f"    {node}: no, {reason}")


def _print_choice(choice: Choice) -> None:
    names = ", ".join(f"{n.name} ({n.op.name})" for n in choice.match.nodes)
    config = " ".join(f"{k}={v}" for k, v in choice.config.items())
    click.echo(f"{choice.family.name:12} {choice.estimate_us:9.1f} us  {names}  {config}".rstrip())
    for reason in choice.rejected:
        click.echo(f"    not {reason}")
