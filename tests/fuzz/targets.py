"""What hostile input is given to: every reader, and what it must do. Each answers with the kind of what happened."""

from __future__ import annotations

import io
import random
import re
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from fim_private import Ledger, Universe
from fim_private.errors import FimPrivateError
from fim_private.ledger import chain
from fim_private.ledger.decision import decide
from fim_private.plan import Plan
from fim_private.transactions.reading import read_transactions
from fim_private.transactions.restriction import read_item_names
from tests.asking import planned
from tests.fuzz.inputs import (
    CANARY,
    LONG,
    NAMES,
    SETTINGS,
    TEXTS,
    parquet_files,
    spoilt,
    spoilt_condition,
    spoilt_release,
)
from tests.ledger.charging import with_events
from tests.transactions.reading import as_sets

Target = Callable[[random.Random], str]
VARIES = re.compile(r"'[^']*'|[0-9][0-9,]*|/[^ ]*")
"""Numbers, names and paths in a message."""


class PromiseBrokenError(Exception):
    """Something other than an answer or a refusal in our words."""


def outcome(attempt: Callable[[], object], *, may_quote: str = "nothing") -> str:
    """ "read", or the words of the refusal without what varies; anything else is raised.

    Args:
        attempt: what is tried.
        may_quote: words of a message that quotes names on purpose, which are no data.

    Raises:
        PromiseBrokenError: a message shows data.
    """
    try:
        attempt()
    except FimPrivateError as error:
        told: BaseException | None = error
        while told is not None:  # whatever a traceback would show
            if CANARY in str(told) and may_quote not in str(told):
                raise PromiseBrokenError(f"data is shown: {told}") from None
            told = told.__cause__ or (None if told.__suppress_context__ else told.__context__)
        return f"{type(error).__name__}: {VARIES.sub('_', error.what)}"
    return "read"


def reading(name: str) -> Target:
    make, choices = TEXTS[name]

    def attempt(randomness: random.Random) -> str:
        data = make(randomness)
        options: dict[str, Any] = {key: randomness.choice(values) for key, values in choices.items()}
        options = {key: value for key, value in options.items() if value is not None}
        options["drop_rows_without_unit"] = "unit_column" in options and randomness.random() < 0.5
        return outcome(lambda: as_sets(read_transactions(io.BytesIO(data), **options)))

    return attempt


def condition(randomness: random.Random) -> str:
    """A condition on whole tables, as text and as Parquet."""
    where, data = spoilt_condition(randomness), randomness.choice((*LONG, *LONG, parquet_files()[0]))
    return outcome(lambda: as_sets(read_transactions(io.BytesIO(data), format="long", where=where)))


def names(randomness: random.Random) -> str:
    data = spoilt(randomness, NAMES)
    return outcome(lambda: read_item_names(io.BytesIO(data)))


def settings(randomness: random.Random) -> str:
    """The TOML file of `mine --config`, up to what would be run."""
    import typer

    from fim_private.cli.app import app

    data = spoilt(randomness, SETTINGS)
    with tempfile.NamedTemporaryFile(suffix=".toml") as file:
        Path(file.name).write_bytes(data)
        command = _mine(app)
        try:
            return outcome(
                lambda: command.make_context("mine", ["--config", file.name]), may_quote="has unknown settings"
            )
        except Exception as error:
            # A value that does not fit its option: refused by Typer, in words that quote what stands in the settings.
            if any(kind.__name__ == "ClickException" for kind in type(error).__mro__) or isinstance(error, typer.Exit):
                return type(error).__name__
            raise


@cache
def _mine(app: Any) -> Any:
    import typer

    return typer.main.get_command(app).commands["mine"]


def release(randomness: random.Random) -> str:
    """A release that is read must be of use: written, tabulated, shown."""
    from fim_private.release import Release
    from fim_private.report.tables import release_table

    text = spoilt_release(randomness).decode(errors="replace")

    def attempt() -> None:
        read = Release.from_json(text)
        again = Release.from_json(read.to_json())
        if again != read:
            raise PromiseBrokenError("a release changes when it is written and read")
        read.to_polars()
        release_table(read)

    return outcome(attempt)


@cache
def _ledger() -> tuple[bytes, Plan]:
    plan = planned(top=1, epsilon="1/100", delta="0", universe=Universe(items=9, listed=True), mechanism="exponential")
    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger.create(Path(folder) / "shop.ledger", epsilon="3", delta="1e-5", dataset=CANARY)
        for _ in range(3):
            ledger.deliver(ledger.charge(plan, command=f"fim-private mine {CANARY}"))
        ledger.charge(plan)
        return ledger.path.read_bytes(), plan


def ledger(randomness: random.Random) -> str:
    """A ledger with changed bytes, or with changed events, is used or refused; it never says less in two breaths."""
    whole, plan = _ledger()
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
        path = Path(folder) / "shop.ledger"
        change = _changed_bytes if randomness.random() < 0.5 else _change_an_event
        path.write_bytes(change(randomness, whole))

        def attempt() -> None:
            found = Ledger(path)
            state = found.state()
            if len([entry for entry in found.history() if entry.what == "release"]) != state.releases:
                raise PromiseBrokenError("the history and the state differ")
            decide(state, plan, search=False)
            name = found.charge(plan)
            found.deliver(name)
            if found.state().spent.epsilon < state.spent.epsilon:
                raise PromiseBrokenError("a charge makes room")

        return outcome(attempt, may_quote="This ledger holds releases that protect the units of column")


def _changed_bytes(randomness: random.Random, whole: bytes) -> bytes:
    data = bytearray(whole)
    if randomness.random() < 0.1:
        return bytes(data[: randomness.randrange(len(data))])
    first = randomness.choice((100, len(data)))
    for _ in range(randomness.choice((0, 1, 2, 8, 60))):
        data[randomness.randrange(first)] = randomness.randrange(256)
    return bytes(data)


def _change_an_event(randomness: random.Random, whole: bytes) -> bytes:
    """Another value somewhere, or another order; every hash as it has to be, as a forger makes them."""
    odd: tuple[Any, ...] = (
        *("", "1/0", "x", CANARY, None, -1, 10**18, 1e300, "1e999999999", "9" * 6000, "-1/2", "{", [], {}, [[]] * 9),
        *("created", "total", "charged", "delivered", True, "1/2", "99"),
    )
    events = chain.read(whole).events
    match randomness.randrange(5):
        case 0:
            randomness.shuffle(events)
        case 1:
            events.insert(randomness.randrange(len(events)), randomness.choice(events))
        case 2:
            del events[randomness.randrange(len(events))]
        case _:
            event = randomness.choice(events)
            part = randomness.choice([event, *(value for value in event.values() if isinstance(value, dict))])
            part[randomness.choice(list(part))] = randomness.choice(odd)
            if randomness.random() < 0.2:
                part.pop(randomness.choice(list(part)))
    return with_events(events)


TARGETS: dict[str, tuple[Target, int]] = {
    **{name: (reading(name), 1 if name in {"Parquet", "workbook"} else 12) for name in TEXTS},
    "condition": (condition, 12),
    "universe file": (names, 6),
    "settings": (settings, 3),
    "release": (release, 4),
    "ledger": (ledger, 3),
}
"""What each is called, what it does, and its share of the inputs. Parquet and workbooks are tried in a process first: a
third of a second."""
