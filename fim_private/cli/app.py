"""`fim-private`: all commands, and how each error is reported.

Exit codes: 0 done (even if no itemset could be named), 1 a fault of the program, 2 a wrong call, 3 the data,
another file or the output, 4 the budget, 130 interrupted (143 by SIGTERM, 129 by SIGHUP). No traceback is ever shown,
because it could print data.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from fim_private.cli.commands import budget, datasets
from fim_private.cli.commands.audit import audit
from fim_private.cli.commands.compare import compare
from fim_private.cli.commands.demo import demo
from fim_private.cli.commands.desk import desk
from fim_private.cli.commands.inspect import inspect
from fim_private.cli.commands.law import law
from fim_private.cli.commands.mine import mine
from fim_private.cli.commands.plan import plan
from fim_private.cli.commands.rules import rules
from fim_private.cli.commands.show import show
from fim_private.cli.commands.tune import tune
from fim_private.cli.help import Commands
from fim_private.cli.interruption import InterruptedByUser, listen, listen_no_more
from fim_private.cli.options import WithShare
from fim_private.cli.progress import say
from fim_private.cli.streams import (
    check_surroundings,
    escape_what_cannot_be_shown,
    refuse_arguments_that_are_no_text,
    unusable,
    unwritable,
)
from fim_private.errors import FimPrivateError
from fim_private.version import __version__

app = Commands(name="fim-private")
app.command(cls=WithShare)(mine)
app.command(cls=WithShare)(plan)
app.command()(tune)
app.command()(show)
app.command()(rules)
app.command()(compare)
app.command()(inspect)
app.command()(audit)
app.command()(law)
app.command()(desk)
app.command()(demo)
app.add_typer(budget.app, name="budget")
app.add_typer(datasets.app, name="datasets")


@app.callback(invoke_without_command=True)
def main(
    version: Annotated[bool, typer.Option("--version", help="Print the version.", is_eager=True)] = False,
) -> None:
    """Find items that are often bought together, and publish them without exposing any customer.

    To try it: fim-private demo
    """
    if version:
        typer.echo(__version__)
        raise typer.Exit


def run() -> NoReturn:
    """Run the command line and exit with the code that fits what happened."""
    # What Python cannot raise, such as a signal's exception in a compiler's callback, it would show with a traceback.
    sys.unraisablehook = lambda _: None
    listen()
    escape_what_cannot_be_shown()
    try:
        check_surroundings()
        refuse_arguments_that_are_no_text(sys.argv[1:])
        app(prog_name="fim-private")
    except FimPrivateError as error:
        _refuse(error)
    except (InterruptedByUser, KeyboardInterrupt) as heard:
        _end("Interrupted. What was not printed was not released.", getattr(heard, "exit_code", 130))
    except BrokenPipeError:
        # The reader of our output has closed it. Keep the interpreter from complaining about that at its end.
        if sys.stdout is not None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        # Files are opened by name, so an error without a name is about a stream.
        _refuse(unwritable(error) if error.filename is None else unusable(error))
    except MemoryError:
        _end("Error: This machine does not have enough memory.\nKeep fewer items with --max-items.", 3)
    except SystemExit:
        raise
    except BaseException as error:
        # This also catches panics of polars, which are no Exception. The error's text and traceback may hold data.
        _end(f"Error: this program has a fault ({fault(error)}).\nPlease report it with the command.", 1)
    finally:
        # Nothing below catches what a signal raises.
        listen_no_more()
    sys.exit(0)


def _refuse(error: FimPrivateError) -> NoReturn:
    _end(f"Error: {error.what}\n{error.next_step}", error.exit_code)


def _end(message: str, code: int) -> NoReturn:
    say(message)
    sys.exit(code)


def fault(error: BaseException) -> str:
    """The kind of the error and the line of the program where it arose; nothing of the data."""
    trace = error.__traceback__
    place = ""
    while trace is not None:
        code = trace.tb_frame.f_code
        if "fim_private" in code.co_filename:
            place = f" at {Path(code.co_filename).name}:{trace.tb_lineno}"
        trace = trace.tb_next
    return f"{type(error).__name__}{place}"
