"""The promise in a few lines and in a shop's words: customers and baskets. `promise_text` says all of it."""

from __future__ import annotations

from fim_private.plan import Plan
from fim_private.plan.record import plan_record
from fim_private.printable import printable
from fim_private.privacy import NeighbouringRelation
from fim_private.release import Layout, Release
from fim_private.release.release import SEEDED_NOTE
from fim_private.release.terms import PlanTerms, Promise, Terms, privacy_record
from fim_private.report.document.text import stated, wrapped
from fim_private.report.promise_text import exchanged, promised, share_right

BASKET, CUSTOMER = "a basket", "a customer"
LONGEST_NAME = 16
"""Letters of a column's name at most, so that the lines stay few."""


def statement(release: Release, *, in_full: bool = False) -> str:
    """What is protected, how well, and what is not, in full or in five lines; a warning if nothing is promised."""
    if in_full or release.terms.privacy.promise is None:
        return wrapped(*map(printable, promised(release)))
    warning = [f"WARNING: {SEEDED_NOTE}. This output is NOT private."] if release.seeded else []
    return wrapped(*warning, printable(" ".join(_sentences(release.terms, seeded=release.seeded))))


def promise_briefly(plan: Plan) -> str:
    """Whom a plan protects, how well and from what, for readers who have no command line; not wrapped."""
    return printable(" ".join(_sentences(Terms.of(privacy_record(plan), plan_record(plan)), seeded=False)[:2]))


def promised_briefly(release: Release) -> list[str]:
    """Whom a release protects, how well and from what, for readers who have no command line; not wrapped."""
    if release.terms.privacy.promise is None or release.seeded:
        return []
    return [printable(" ".join(_sentences(release.terms, seeded=False)[:2]))]


def _sentences(terms: Terms, *, seeded: bool) -> list[str]:
    privacy, plan = terms.privacy, terms.plan
    if privacy.promise is None:
        raise AssertionError("a plan always promises something")
    every, one = protected_by(privacy.promise, plan, privacy.layout)
    there, holds = ("they are", "it says about them") if one == CUSTOMER else ("it is", "it holds")
    epsilon, delta = privacy.promise.epsilon, privacy.promise.delta
    much = f"(epsilon {stated(epsilon)}, delta {stated(delta)})"
    if privacy.neighbours == NeighbouringRelation.ADD_REMOVE:
        twice, failing = exchanged(epsilon, delta)
        held = f"epsilon {stated(twice)}" + (f", delta {stated(failing, digits=4)}" if delta else "")
        event = f"whether {there} in the data {much}, and what {holds} ({held})"
        guess = f"whether {one} is in the data"
    else:
        event, guess = f"what {holds}, not whether {there} in the data {much}", f"which of two contents {one} has"
    protects, then, right = ("would protect", "Then", "would be") if seeded else ("protects", "With it,", "is")
    return [
        f"{'Without its seed this answer' if seeded else 'This answer'} {protects} {every}: {event}.",
        f"{then} a 50:50 guess {guess} {right} right in at most {share_right(epsilon, delta)} % of cases.",
        "Another answer from this data adds to the risk"
        + (", as do more baskets of one customer (--unit-column)." if one == BASKET else "."),
        *_public(terms),
        "--explain says more.",
    ]


def protected_by(promise: Promise, plan: PlanTerms, layout: Layout | None) -> tuple[str, str]:
    """Whom the promise protects: all of them, and one of them. A release that says it in its own words keeps them."""
    if promise.unit.startswith("one transaction"):
        return f"every basket{f' ({layout.transaction})' if layout and layout.format != 'long' else ''}", BASKET
    if plan.unit_column is None:
        return promise.unit, "it"
    column = plan.unit_column if len(plan.unit_column) <= LONGEST_NAME else plan.unit_column[:LONGEST_NAME] + "..."
    return f"every customer (column {column!r})", CUSTOMER


def _public(terms: Terms) -> list[str]:
    """What the promise takes as public, as one short sentence."""
    privacy, plan, facts = terms.privacy, terms.plan, []
    if privacy.layout is not None and privacy.layout.kind != "memory":
        facts.append(f"the layout{' (guessed)' if privacy.layout.guessed else ''}")
    if plan.must_contain or plan.exclude:
        facts.append("the items you named")
    if terms.listed_items is not None:
        facts.append("the list of items")
    if privacy.public_transactions is not None:
        facts.append(f"the number of {'customers' if plan.unit_column else 'baskets'}")
    if privacy.names_are_public:
        facts.append("which items occur")
    if privacy.most_items is not None:
        facts.append(f"a limit of {privacy.most_items:,} items")
    if privacy.layout is not None and privacy.layout.query is not None:
        person = "customer" if plan.unit_column else "basket"
        facts.append(f"that each row of the query, and whether it is there, depends on one {person} alone")
    if not facts:
        return []
    *most, last = facts
    return [f"It takes as public {', '.join(most)}{' and ' if most else ''}{last}."]
