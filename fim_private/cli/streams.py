"""What the system refuses: letters that standard output lacks, arguments that are no text, output, paths."""

from __future__ import annotations

import codecs
import io
import os
import sys

from fim_private.errors import InputError, UsageError

_ESCAPE = "fim_private.escape"
_WRITTEN_BEFORE = (
    "Files and ledgers are written before anything is printed: look at them before you run the command again."
)


def escape_what_cannot_be_shown() -> None:
    r"""Let standard output and error show what their encoding lacks as \uXXXX, which is also how JSON writes it.

    Names of items may hold anything, and a release that was paid for may not be lost to a terminal's encoding.
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
    """Refuse bytes that the system's encoding does not have.

    Raises:
        UsageError: there are some; they could neither be shown nor recorded.
    """
    for argument in arguments:
        try:
            argument.encode()
        except UnicodeEncodeError:
            raise UsageError(
                "An argument, or a file's name, is no text in this system's encoding.",
                "Rename the file, or choose a locale of UTF-8, as in LC_ALL=C.UTF-8.",
            ) from None


def unusable(error: OSError) -> InputError:
    """What to say where the system refuses a path in a way that nobody foresaw. The path may come from the data."""
    return InputError(f"A file or folder cannot be used: {error.strerror}.", "Check the paths that were given.")


def unwritable(error: OSError, what: str = "answer", then: str = _WRITTEN_BEFORE) -> InputError:
    """What to say where standard output took nothing more."""
    # Python tries once more at its end, and would complain in its own words.
    sys.stdout = None
    return InputError(f"The {what} could not be printed to standard output: {error.strerror}.", then)


def goes_nowhere() -> bool:
    """Whether standard output is the null device: what is printed there is in nobody's hands."""
    try:
        return os.path.samestat(os.fstat(1), os.stat(os.devnull))  # noqa: PTH116 - a device
    except OSError:
        return False


def print_release(text: str, *, written: bool) -> None:
    """Print what was paid for, or say plainly that it could not be printed.

    Args:
        text: what to print.
        written: whether it is in a file already.

    Raises:
        InputError: it could not.
    """
    try:
        if sys.stdout is None:
            raise OSError(0, "it is closed")
        print(text, flush=True)
    except BrokenPipeError:
        raise
    except OSError as error:
        then = "It is in the file all the same." if written else "It is lost, and its cost is spent."
        raise unwritable(error, "release", then) from None
