"""What a run has to do with its ledger, if it has one."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from fim_private.cli.interruption import stop_if_heard
from fim_private.cli.progress import say

if TYPE_CHECKING:
    from fim_private.accounting.cost import Priced
    from fim_private.ledger import Ledger
    from fim_private.transactions.layout import Layout


class Books:
    """The ledger of one run: asked before anything is read, charged once, told of the delivery once.

    As a context it says, where the run ends early, that the cost is spent. Without a ledger it does nothing.
    """

    def __init__(self, path: Path | None, plan: Priced, command: str) -> None:
        self._plan, self._command = plan, command
        self._ledger: Ledger | None = None
        self._charged: str | None = None
        self._delivered = False
        if path is not None:
            from fim_private.ledger import Ledger

            self._ledger = Ledger(path)
            self._ledger.check(plan)

    def charge(self, layout: Layout) -> str:
        """Charge the release; its id.

        Args:
            layout: of the data.

        Raises:
            BudgetError: it does not fit any more.
            InputError: the ledger cannot be written to.
        """
        if self._ledger is None:
            raise AssertionError("there is no ledger to charge")
        stop_if_heard()
        self._charged = self._ledger.charge(self._plan, command=self._command, layout=layout)
        return self._charged

    def deliver(self) -> None:
        """Note that the release was handed over.

        Raises:
            InputError: the ledger cannot be written to.
        """
        if self._ledger is not None and self._charged is not None and not self._delivered:
            self._ledger.deliver(self._charged)
            self._delivered = True

    def remaining(self) -> str:
        """What the ledger has left, in words."""
        from fim_private.ledger.refusal import amount, remaining

        if self._ledger is None:
            raise AssertionError("there is no ledger")
        state = self._ledger.state()
        rule = state.rule()
        left, bound = remaining(rule, state.spent), rule.bound
        words = f"adding guarantees up leaves epsilon {amount(left.epsilon)}, delta {amount(left.delta)}"
        if bound is not None and rule.pays(state.spent):
            unused = max(Fraction(0), 1 - rule.renyi_share(state.spent))
            words += f"; Renyi composition leaves {amount(100 * unused)} %"
        return f"Charged to the ledger as {self._charged}: {words}."

    def __enter__(self) -> Books:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and self._charged is not None and not self._delivered:
            say(f"The ledger was charged; its history shows {self._charged} as charged, not delivered.")
