"""Problems with the system: letters that standard output cannot show, arguments that are no text, output and paths."""

from __future__ import annotations

import codecs
import io
import os
import sys
from contextlib import suppress
from pathlib import Path

from fim_private.errors import InputError, UsageError

_ESCAPE = "fim_private.escape"
_WRITTEN_BEFORE = (
    "Files and ledgers are written before anything is printed. Look at them before you run the command again."
)
LEAST_MEMORY = 3 << 29
"""Bytes of address space. The libraries take over a gibibyte; with less, they end the process without a message."""


def check_surroundings() -> None:
    """Refuse surroundings in which the run would fail later, or without saying why.

    Raises:
        UsageError: standard output is closed, or the current folder is gone.
        InputError: the process may use less memory than the libraries need.
    """
    if sys.stdout is None:
        raise UsageError("Standard output is closed: nothing can be printed.", "Redirect it, as in > /dev/null.")
    try:
        Path.cwd()
    except OSError:
        raise UsageError(
            "The current folder is gone, or may not be entered.", "Change to a folder that exists, and run it there."
        ) from None
    with suppress(ImportError):  # not on every system
        import resource

        for what, flag in ((resource.RLIMIT_AS, "-v"), (resource.RLIMIT_DATA, "-d")):
            allowed, _ = resource.getrlimit(what)
            if allowed != resource.RLIM_INFINITY and allowed < LEAST_MEMORY:
                raise InputError(
                    f"This process may use {allowed >> 20:,} MiB of memory, but its libraries need "
                    f"{LEAST_MEMORY >> 20:,} MiB.",
                    f"Raise the limit: ulimit {flag} {LEAST_MEMORY >> 10}, or unlimited.",
                )


def escape_what_cannot_be_shown() -> None:
    r"""Let standard output and error show letters that their encoding lacks as \uXXXX, as JSON does.

    Names of items may hold any letter, and a paid release must not be lost because of a terminal's encoding.
    """
    codecs.register_error(_ESCAPE, _escaped)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_ESCAPE)


def _escaped(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    units = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4)), error.end


def refuse_arguments_that_are_no_text(arguments: list[str]) -> None:
    """Refuse arguments with bytes that the system's encoding does not have.

    Raises:
        UsageError: there is one; it could neither be shown nor recorded.
    """
    for argument in arguments:
        try:
            argument.encode()
        except UnicodeEncodeError:
            raise UsageError(
                "An argument or a file's name is not text in this system's encoding.",
                "Rename the file, or choose a UTF-8 locale, as in LC_ALL=C.UTF-8.",
            ) from None


def unusable(error: OSError) -> InputError:
    """The error for a path that the system refuses in an unforeseen way. It hides the path, which may be data."""
    return InputError(f"A file or folder cannot be used: {error.strerror}.", "Check the paths in the command.")


def unwritable(error: OSError, what: str = "answer", then: str = _WRITTEN_BEFORE) -> InputError:
    """The error for a standard output that cannot be written to."""
    # Python would try again at its end, and print its own error.
    sys.stdout = None
    return InputError(f"The {what} could not be printed to standard output: {error.strerror}.", then)


def goes_nowhere() -> bool:
    """Whether standard output is the null device: nobody receives what is printed there."""
    try:
        return os.path.samestat(os.fstat(1), os.stat(os.devnull))  # noqa: PTH116 - a device
    except OSError:
        return False


def print_release(text: str, *, written: bool) -> None:
    """Print a paid release, or say plainly that it could not be printed.

    Raises:
        InputError: it could not be printed.
    """
    try:
        if sys.stdout is None:
            raise OSError(0, "it is closed")
        print(text, flush=True)
    except BrokenPipeError:
        raise
    except OSError as error:
        then = "It is in the output file." if written else "The release is lost, and its cost is spent."
        raise unwritable(error, "release", then) from None
