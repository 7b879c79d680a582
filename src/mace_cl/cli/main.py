"""`mace`: all verbs. Each command's module is imported when the command is used, and no sooner."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

import click

from mace_cl.cli.failures import run_command

COMMANDS = {
    "compile": "Compile a model for one or more devices into one file.",
    "run": "Run a compiled file or a model.",
    "inspect": "Describe a compiled file, or a driver's binary.",
    "check": "Say whether a file runs here without compiling, and if not, why.",
    "verify": "Check every hash, bound and signature of a file.",
    "sign": "Sign a file.",
    "merge": "Join the entries of files of one network.",
    "prune": "Keep some entries of a file.",
    "diff": "Compare two files.",
    "extract": "Write a file's parts into a folder.",
    "validate": "Compare a compiled file with its model's reference results.",
    "init": "Write a deployment file for a model.",
    "explain": "Show what the compiler makes of a model, step by step.",
    "devices": "List OpenCL devices.",
    "targets": "List targets and what each needs.",
    "cache": "List, measure or clear the cache.",
}
"""Every command with its line of help; module `mace_cl.cli.<name>` holds it as `command`."""


class LazyGroup(click.Group):
    """A group whose commands are imported when they are used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in order of use."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"mace_cl.cli.{module_name(cmd_name)}")
        found: click.Command = module.command
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands, without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """An unknown command is answered with the nearest name."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            near = get_close_matches(args[0], COMMANDS, 1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise click.UsageError(f"There is no command {args[0]!r}.{hint}", ctx)
        return super().resolve_command(ctx, args)


def module_name(command: str) -> str:
    """Module of a command; Python's own words get an underscore."""
    return {"compile": "compile_", "init": "init_"}.get(command, command)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="mace-cl", prog_name="mace")
def group(**_: Any) -> None:
    """Compile neural networks to OpenCL, ship them in one file, start in milliseconds."""


def main(argv: Sequence[str] | None = None) -> None:
    """Entry point of `mace`."""
    run_command(group, "mace", sys.argv[1:] if argv is None else list(argv))
