"""What the shell offers after the Tab key. The answer must come at once, so nothing slow is loaded here."""

from __future__ import annotations

from collections.abc import Callable


def one_of(*words: str) -> Callable[[str], list[str]]:
    """A function that completes an option which takes one of these words."""
    return lambda incomplete: [word for word in words if word.startswith(incomplete)]


def mechanism_names(*more: str, audited: bool = False) -> Callable[[str], list[str]]:
    """A function that completes the name of a mechanism, or one of these words."""

    def complete(incomplete: str) -> list[str]:
        from fim_private.mechanisms.registry import COMPARATORS, REGISTRY

        return one_of(*more, *REGISTRY, *(() if audited else COMPARATORS))(incomplete)

    return complete


def dataset_names(incomplete: str) -> list[str]:
    """The data sets in the catalogue."""
    from fim_private.catalogue.entries import load_catalogue
    from fim_private.errors import InputError

    try:
        return one_of(*load_catalogue())(incomplete)
    except InputError:
        return []
