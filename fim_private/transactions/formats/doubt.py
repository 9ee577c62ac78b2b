"""Something that looks odd in data whose format was guessed: a file may be read without error and still be read wrong.

A doubt is for the curator, as every refusal is, and shows no data. A format that was typed settles all doubts: the data
is then read as the format says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NoReturn

from fim_private.errors import InputError
from fim_private.transactions.layout import typed


@dataclass(frozen=True)
class Way:
    """A way to settle a doubt.

    Args:
        said: what to do; with options, the words before them.
        options: what to give, by names with underscores. There are none if the file has to be changed, or if only the
            curator knows what to give.
    """

    said: str
    options: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.said} {typed(self.options)}." if self.options else self.said


@dataclass(frozen=True, kw_only=True)
class Doubt:
    """Something that looks odd, and the options that settle it.

    Args:
        what: what looks odd, without any data.
        instead: what to give if the data means something else than what was read.
        stays: what to give if it was read as it is meant.
    """

    what: str
    instead: Way
    stays: Way

    def __str__(self) -> str:
        return f"{self.what} {self.instead} {self.stays}"


OnDoubt = Callable[[Doubt], None]


def refuse(doubt: Doubt) -> NoReturn:
    """Raise the doubt as an InputError."""
    raise InputError(doubt.what, f"{doubt.instead} {doubt.stays}")


def ask(doubt: Doubt | None, on_doubt: OnDoubt) -> None:
    """Hand a doubt on, if there is one."""
    if doubt is not None:
        on_doubt(doubt)
