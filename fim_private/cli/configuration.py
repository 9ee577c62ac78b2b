"""What a comparison is to run, from a TOML file and from what was typed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from fim_private.cli.replay import read_settings
from fim_private.errors import UsageError
from fim_private.privacy import NeighbouringRelation

if TYPE_CHECKING:
    from fim_private.comparison.settings import Settings

DEFAULTS: dict[str, Any] = {
    "files": [],
    "sizes": [1, 2, 3],
    "tops": [1, 5, 10, 20, 50, 100],
    "long_tops": [],
    "epsilons": ["0.1", "0.25", "0.5", "1", "2"],
    "delta": "1e-6",
    "trials": 50,
    "mechanisms": [],
    "universe_items": "occurring",
    "max_items": 10,
    "neighbours": "add-remove",
    "unit_column": None,
    "seed": None,
    "title": None,
    "defaults_table": None,
    "output": None,
    "format": "auto",
    "separator": None,
    "transaction_column": None,
    "item_column": None,
    "drop_rows_without_unit": False,
}
"""What a configuration file may set; options of the command line go before it."""

WORDS = (
    "unit_column",
    "title",
    "defaults_table",
    "output",
    "format",
    "separator",
    "transaction_column",
    "item_column",
    "neighbours",
)
FLAGS = ("drop_rows_without_unit",)


def configured(path: Path | None) -> dict[str, Any]:
    """The settings of a TOML file; none without a file.

    Raises:
        InputError: it cannot be read.
        UsageError: a setting does not exist or is of the wrong kind.
    """
    if path is None:
        return {}
    found = read_settings(path, DEFAULTS.keys())
    for name, value in found.items():
        if name in WORDS and not isinstance(value, str):
            raise UsageError(f"In {path}, {name} is not text.", f'Write {name} = "..." with quotes.')
        if name in FLAGS and not isinstance(value, bool):
            raise UsageError(f"In {path}, {name} is neither true nor false.", f"Write {name} = true or false.")
    return found


def settings_of(chosen: dict[str, Any], folder: Path) -> Settings:
    """The settings as a value; the seed is that of the folder, or drawn, where none was given.

    Raises:
        UsageError: a setting is out of range.
    """
    from fim_private.comparison.settings import Settings
    from fim_private.comparison.store import Store
    from fim_private.mechanisms.registry import AUTO, REGISTRY
    from fim_private.randomness import SecureRandomness

    universe = chosen["universe_items"]
    seed = chosen["seed"]
    if seed is None:
        seed = Store.seed_of(folder)
    if seed is None:
        seed = SecureRandomness().bits(32)
    return Settings(
        sizes=_whole(chosen["sizes"], "sizes"),
        tops=_whole(chosen["tops"], "tops"),
        long_tops=_whole(chosen["long_tops"], "long-tops"),
        epsilons=tuple(str(epsilon) for epsilon in listed(chosen["epsilons"])),
        delta=str(chosen["delta"]),
        trials=_whole([chosen["trials"]], "trials")[0],
        mechanisms=tuple(map(str, listed(chosen["mechanisms"]))) or (AUTO, *REGISTRY),
        universe_items=None if universe == "occurring" else _whole([universe], "universe-items")[0],
        max_items=_whole([chosen["max_items"]], "max-items")[0],
        relation=NeighbouringRelation.of(chosen["neighbours"]),
        unit_column=chosen["unit_column"],
        seed=_whole([seed], "seed")[0],
    )


def listed(value: Any) -> list[Any]:
    """A value as a list of one, a list as it is."""
    return value if isinstance(value, list) else [value]


def _whole(values: Any, what: str) -> tuple[int, ...]:
    try:
        numbers = tuple(int(str(value)) for value in listed(values))
    except ValueError:
        numbers = (-1,)
    if any(number < 0 for number in numbers):
        raise UsageError(f"{what} has to be of whole numbers.", f"Write --{what} as in 1 or 1,2,3.")
    return numbers
