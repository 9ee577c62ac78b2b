"""What the shell offers after the Tab key. It answers within a keystroke: nothing is loaded that knows mechanisms."""

from __future__ import annotations

from collections.abc import Callable

MECHANISMS = (
    "auto",
    "items-first",
    "lmm",
    "lmm-repeat",
    "lmm-no-fallback",
    "limited-domain",
    "lmm-paper",
    "exponential",
    "exponential-textbook",
    "permute-and-flip",
    "report-noisy-max",
    "report-noisy-max-textbook",
    "max-of-laplaces",
    "max-of-laplaces-textbook",
    "stable-max",
    "choosing",
)
FORMATS = ("auto", "fimi", "basket", "long", "lists", "one-hot")
"""The same names as in the registry and in `transactions`; a test holds them together."""


def one_of(*words: str) -> Callable[[str], list[str]]:
    """What completes an option that takes one of these words."""

    def complete(incomplete: str) -> list[str]:
        return [word for word in words if word.startswith(incomplete)]

    return complete


def dataset_names(incomplete: str) -> list[str]:
    """The data sets in the catalogue."""
    from fim_private.catalogue import load_catalogue
    from fim_private.errors import InputError

    try:
        return one_of(*load_catalogue())(incomplete)
    except InputError:
        return []
