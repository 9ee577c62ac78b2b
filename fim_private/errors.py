"""What can go wrong: each error says what happened and what to do next, and carries its exit code.

No message holds item names, counts or lines of the data: an error on a release path is seen by people who may not
see the data.
"""

from __future__ import annotations

from collections.abc import Iterable

from fim_private.python_words import in_python


def did_you_mean(word: str, allowed: Iterable[str]) -> str:
    """A question such as "Did you mean lmm? " if `word` looks like an allowed word, else an empty text.

    `allowed` must hold public words only, never names from the data.

    >>> did_you_mean("expnential", ["lmm", "exponential"])
    'Did you mean exponential? '
    """
    from difflib import get_close_matches  # noqa: PLC0415 - wanted only where something went wrong

    by_lower_case = {known.casefold(): known for known in allowed}
    near = [by_lower_case[close] for close in get_close_matches(word.casefold(), by_lower_case, n=2)]
    return f"Did you mean {' or '.join(near)}? " if near else ""


class FimPrivateError(Exception):
    """Any failure that somebody can mend: the user, or whoever runs the machine.

    Both sentences name options of the command line, which prints them. As text, as Python shows an error, it names the
    arguments of Python.

    Args:
        what: what happened, in one sentence.
        next_step: what to do about it, in one sentence.
    """

    exit_code = 1

    def __init__(self, what: str, next_step: str) -> None:
        super().__init__(what, next_step)
        self.what = what
        self.next_step = next_step

    def __str__(self) -> str:
        return in_python(f"{self.what} {self.next_step}")


class UsageError(FimPrivateError):
    """The call itself is not possible: an option is missing, out of range or contradicts another."""

    exit_code = 2


def check_kinds(**given: tuple[object, type]) -> None:
    """Refuse, with a UsageError, arguments of another class than the one that is given beside the value of each."""
    for name, (value, kind) in given.items():
        if not isinstance(value, kind):
            raise UsageError(f"{name} is not a {kind.__name__}.", f"Write {name}={kind.__name__}(...).")


def check_texts(**given: object) -> None:
    """Refuse arguments that are neither texts nor None.

    Raises:
        UsageError: an argument is something else, such as a number or a list.
    """
    for name, value in given.items():
        if not isinstance(value, str | None):
            raise UsageError(
                f"{name} is not a text.",
                f'Write {name}="...". Numbers are written so too, and several columns with commas: "1" or "1,3".',
            )


class InputError(FimPrivateError):
    """The data cannot be read, or is not what the call says it is."""

    exit_code = 3


class BudgetError(FimPrivateError):
    """The privacy budget does not allow the release that was asked for."""

    exit_code = 4
