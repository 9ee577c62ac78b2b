"""What data a plan admits: read with the units that it protects, with no more items than it covers, over its list."""

from __future__ import annotations

from fim_private.counting import TransactionDatabase
from fim_private.errors import InputError, UsageError
from fim_private.mechanisms.protocol import Stepwise
from fim_private.plan import Plan


def check_unit(database: TransactionDatabase, plan: Plan) -> None:
    """Refuse data that was not read with the units that the plan promises to protect.

    Raises:
        UsageError: it was read without units, with units although the plan protects transactions, or with those of
            another column. Units given in memory have no column, and fit every plan that protects units.
    """
    layout = database.notes.layout
    read, promised = layout.unit_column, plan.unit.column
    if promised is None:
        if database.has_units:
            # Steps that look at one set of items per unit would look at customers, and are proved for transactions.
            raise UsageError(
                "The data was read with units, but the plan protects one transaction.",
                "Read it without units, or name their column: PrivacyUnit(column=...).",
            )
    elif layout.kind != "memory" and (read is None or read.strip().casefold() != promised.strip().casefold()):
        raise UsageError(
            f"The plan protects the units of column {promised!r}, but the data was read "
            + ("without units." if read is None else f"with the units of column {read!r}."),
            "Give the same unit_column to read_transactions and to PrivacyUnit.",
        )
    elif not database.has_units:
        raise UsageError(
            "The privacy unit is a column, and the data was read without it.",
            "Name the column when reading: --unit-column.",
        )


def check_universe(database: TransactionDatabase, plan: Plan) -> None:
    """Refuse data that holds more items than can exist by declaration, before a ledger is charged.

    Privacy: the promise is for data with at most the declared number of items. The refusal itself is not protected:
    repeated with other numbers, it tells how many items occur. Items that the constraints name are not counted, because
    the data was bounded without them. With a list of names (`--universe-file`) nothing is refused, because all other
    items were left out before.

    Raises:
        InputError: the data holds more items than were declared.
        UsageError: the plan is for a list of items that it does not hold.
    """
    universe = plan.universe
    if universe.listed:
        raise UsageError(
            "The plan is for a public list of items, but does not have the names.",
            "Plan with the names: --universe-file.",
        )
    if plan.most_items is not None and plan.most_items < len(database.vocabulary):
        raise InputError(
            f"The data holds more different items than {plan.most_items:,}, the most that this plan covers.",
            "Give a larger --universe-items from public knowledge, or the names themselves with --universe-file. "
            "Nothing was spent. (This message is for the holder of the data: it tells something about the number of "
            "items that occur.)",
        )


def check_list(database: TransactionDatabase, mechanism: Stepwise) -> None:
    """Check that the data's vocabulary is the public list, if the mechanism has one.

    An itemset of a listed name that nobody has is named like any other. So which names are in the vocabulary must not
    depend on the data.

    Raises:
        AssertionError: it is not.
    """
    if mechanism.public_names is not None and len(database.vocabulary) != mechanism.public_names:
        raise AssertionError("the vocabulary is not the public list")
