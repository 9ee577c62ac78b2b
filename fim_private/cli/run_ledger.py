"""How a run uses its ledger, if it has one."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from fim_private.cli.interruption import InterruptedByUser, stop_if_heard
from fim_private.cli.progress import say
from fim_private.errors import InputError

if TYPE_CHECKING:
    from fim_private.accounting.cost import Priced
    from fim_private.ledger import Ledger
    from fim_private.transactions.layout import Layout


def opened(path: Path, *, quiet: bool) -> Ledger:
    """The ledger of this file. Unless it is to be quiet, it says on standard error when it waits for others."""
    from fim_private.ledger import Ledger
    from fim_private.ledger.store import PATIENCE

    def on_wait() -> None:
        say(f"Another process uses the ledger {path}. Waiting up to {PATIENCE:g} seconds.", quiet=quiet)

    return Ledger(path, on_wait=on_wait)


class RunLedger:
    """The ledger of one run: checked before the data is read, charged once, and told once of the delivery.

    It is a context manager: if the run ends without a delivery after a charge, it says so, even in a quiet run. Without
    a ledger it does nothing.
    """

    def __init__(self, path: Path | None, plan: Priced, command: str, *, quiet: bool = False) -> None:
        self._plan, self._command = plan, command
        self._ledger: Ledger | None = None
        self._charged: str | None = None
        self._delivered = False
        if path is not None:
            self._ledger = opened(path, quiet=quiet)
            self._ledger.check(plan)

    def charge(self, layout: Layout) -> str:
        """Charge the release, and return its id.

        Raises:
            BudgetError: the release does not fit any more.
            InputError: the ledger cannot be written to.
        """
        if self._ledger is None:
            raise AssertionError("there is no ledger to charge")
        stop_if_heard()
        try:
            self._charged = self._ledger.charge(self._plan, command=self._command, layout=layout)
        except InterruptedByUser:
            say("The run ended while it charged the ledger: `fim-private budget history` shows whether it was charged.")
            raise
        return self._charged

    def deliver(self) -> None:
        """Note that the release was handed over.

        Raises:
            InputError: the ledger cannot be written to.
        """
        if self._ledger is not None and self._charged is not None and not self._delivered:
            try:
                self._ledger.deliver(self._charged)
            except InputError:
                self._delivered = True  # it was handed over, and the error says what the ledger lacks
                raise
            self._delivered = True

    def remaining(self) -> str:
        """What is left in the ledger, in words."""
        from fim_private.ledger.refusal import amount, remaining

        if self._ledger is None:
            raise AssertionError("there is no ledger")
        state = self._ledger.state()
        rule = state.rule()
        left, bound = remaining(rule, state.spent), rule.bound
        words = f"epsilon {amount(left.epsilon)}, delta {amount(left.delta)} remain if costs are added up"
        if bound is not None and rule.pays(state.spent):
            unused = max(Fraction(0), 1 - rule.renyi_share(state.spent))
            words += f"; by Renyi composition, for many small releases, {amount(100 * unused)} % remain"
        return f"Charged to the ledger as {self._charged}: {words}."

    def __enter__(self) -> RunLedger:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._charged is not None and not self._delivered:
            # Without an error, only the null device keeps a release from being delivered.
            why = "Nobody received the release, because standard output is the null device. " if kind is None else ""
            say(f"{why}The ledger was charged: its history shows {self._charged} as charged, not delivered.")
