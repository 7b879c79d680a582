"""How commands end: errors become one message and an exit code, never a traceback."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from typing import NoReturn

import click

from mace_cl.errors import MaceError

EXIT_FAILURE = 1
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130


def run_command(command: click.Command, name: str, argv: Sequence[str]) -> NoReturn:
    """Run a command line and exit with its code.

    Errors of the project and of the operating system end in one message. A fault of ours ends in one as well; with
    MACE_TRACEBACK=1 its traceback is shown.
    """
    try:
        result = command.main(args=list(argv), prog_name=name, standalone_mode=False)
        sys.stdout.flush()
        sys.exit(result if isinstance(result, int) else 0)
    except click.exceptions.Exit as error:
        sys.exit(error.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(EXIT_USAGE if isinstance(error, click.UsageError) else EXIT_FAILURE)
    except (KeyboardInterrupt, click.Abort):
        fail(name, "interrupted", EXIT_INTERRUPTED)
    except BrokenPipeError:
        # The reader went away (a pager, head); nothing more can be said to it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(EXIT_FAILURE)
    except MaceError as error:
        fail(name, str(error), error.exit_code)
    except MemoryError:
        fail(name, "not enough memory", EXIT_FAILURE)
    except OSError as error:
        fail(name, os_message(error), EXIT_FAILURE)
    except Exception as error:  # the last door: a fault of ours, said in one line
        if os.environ.get("MACE_TRACEBACK") == "1":
            traceback.print_exc()
        place = traceback.extract_tb(error.__traceback__)[-1]
        fail(
            name,
            f"internal error: {type(error).__name__}: {error} ({os.path.basename(place.filename)}:{place.lineno}); "
            "please report it; MACE_TRACEBACK=1 shows where it came from",
            EXIT_FAILURE,
        )


def os_message(error: OSError) -> str:
    """The file and the system's reason."""
    reason = error.strerror or str(error)
    return f"{error.filename}: {reason}" if error.filename else reason


def fail(name: str, message: str, code: int) -> NoReturn:
    """Say what is wrong on standard error and exit."""
    click.echo(f"{name}: error: {message}", err=True)
    sys.exit(code)
