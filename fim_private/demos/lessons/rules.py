"""What a published page of rules may say: intervals from released counts, and nothing looked up in the data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from statistics import median

from fim_private.demos import shop
from fim_private.demos.chart import Chart, lines_over
from fim_private.demos.demo import Control, Demo, Question, Settings, Shown
from fim_private.demos.plans import pairs_plan
from fim_private.mining.mine import mine_as_planned
from fim_private.plan import Plan
from fim_private.report.document import Bullets, Paragraph, Table
from fim_private.rules import association_rules

DIAL = ("0.5", "1", "2", "4", "8", "16")
TOPS = ("5", "10", "20")
COUNT_SHARE, SEED = "0.5", 1
SHOWN = 6
NARROW = 0.2
"""Twenty points of confidence from end to end."""


@dataclass(frozen=True, kw_only=True)
class PageRule:
    """A rule as the page shows it, and the truth, which only public data lets us see.

    Args:
        antecedent: the item before the arrow.
        consequent: the item behind it.
        low: the lower end of the interval of the confidence.
        high: its upper end.
        both: the exact number of customers who bought both items.
        buyers: the exact number of customers who bought the antecedent.
    """

    antecedent: str
    consequent: str
    low: float
    high: float
    both: int
    buyers: int

    @property
    def words(self) -> str:
        """The rule with its arrow."""
        return f"{self.antecedent} → {self.consequent}"

    @property
    def truth(self) -> float:
        """The exact confidence."""
        return self.both / self.buyers

    @property
    def holds(self) -> bool:
        """Whether the interval holds the exact confidence."""
        return self.low <= self.truth <= self.high


@cache
def plan_at(epsilon: str, k: str) -> Plan:
    """The release behind the page: the top pairs, with the counts of the pairs and of their items."""
    return pairs_plan("items-first", top=int(k), epsilon=epsilon, count_share=COUNT_SHARE, with_subsets=True)


@cache
def page_rules(epsilon: str, k: str) -> tuple[PageRule, ...]:
    """All rules of a seeded release, those first whose confidence is surely high."""
    release = mine_as_planned(shop.baskets(), plan_at(epsilon, k), seed=SEED)
    found = []
    for rule in association_rules(release, min_confidence=0).rules:
        interval = rule.intervals["confidence"]
        if interval is None:
            continue
        (antecedent,), (consequent,) = rule.antecedents, rule.consequents
        buyers = shop.holders(antecedent)
        found.append(
            PageRule(
                antecedent=antecedent, consequent=consequent, low=interval[0], high=interval[1],
                both=len(buyers & shop.holders(consequent)), buyers=len(buyers),
            )
        )  # fmt: skip
    return tuple(sorted(found, key=lambda rule: (-rule.low, rule.words)))


def width(epsilon: str, k: str) -> float:
    """The median width of the intervals; 1 if the release names nothing."""
    return median([rule.high - rule.low for rule in page_rules(epsilon, k)] or [1.0])


def show(settings: Settings) -> tuple[Shown, ...]:
    """Show the page's rules beside the truth, what may be said of the first, and the widths of intervals."""
    epsilon, k = settings["epsilon"], settings["k"]
    rules = page_rules(epsilon, k)
    holding = sum(rule.holds for rule in rules)
    return (
        Table(
            name="rules",
            head=("rule", "the page says", "the truth"),
            rows=tuple((rule.words, _between(rule), f"{100 * rule.truth:.0f} %") for rule in rules[:SHOWN]),
            caption=f"**The first {min(SHOWN, len(rules))} of {len(rules)} rules** from the top {k} pairs, released "
            f"with counts at epsilon {epsilon}. The second column is the share of the buyers of the first item who "
            f"also bought the second: an interval that holds the true share with probability 95 %. {holding} of the "
            f"{len(rules)} intervals hold it here. The truth can be shown only because this data is public."
            if rules
            else f"**No rules:** at epsilon {epsilon} this release names none of the pairs, so the page stays empty.",
        ),
        *((_may_say(rules[0]),) if rules else ()),
        Chart(
            name="widths",
            caption="**How wide the intervals are**: the median over all rules of a release, by epsilon. If nothing is "
            f"named, the curve shows 1. Here {k} pairs and their items share the budget; with fewer, each count has "
            "less noise.",
            alt="The width of the intervals falls with epsilon",
            x="epsilon",
            y="width of the interval",
            lines=lines_over(DIAL, {f"top {k}": [width(place, k) for place in DIAL]}),
            log_x=True,
            here=float(epsilon),
        ),
        Paragraph(
            text="**What the page tells about you.** Whoever knows that you bought one item of a rule may guess the "
            "other. They can do so whether you are in the data or not, because the rule is about people in general. "
            "Privacy does not hide what holds of people in general. It hides what your own basket adds."
        ),
    )


def _between(rule: PageRule) -> str:
    # Rounded outwards, so that the interval holds the truth as often as it says.
    return f"{math.floor(100 * rule.low)} to {math.ceil(100 * rule.high)} %"


def _may_say(rule: PageRule) -> Bullets:
    gone = rule.both / (rule.buyers - 1)
    return Bullets(
        items=(
            f"**May be said:** {_between(rule)} of those who bought "
            f"{rule.antecedent} also bought {rule.consequent}. This is computed from released counts alone, so it "
            "costs no more privacy. The same goes for sorting, filtering and leaving rules out, by released numbers.",
            f"**May not be said:** {100 * rule.truth:.2f} %. That is looked up in the data. If one buyer of the first "
            f"item alone leaves, the exact figure becomes {100 * gone:.2f} %, and the difference shows the customer.",
            "**May not be said:** these are the rules with the highest confidence in the data. They are rules of the "
            "pairs that were named. To look for others in the data is another question, with another price.",
            "**May not be said:** nobody buys a pair that is not on the page. It may have been missed.",
        )
    )


DEMO = Demo(
    name="rules",
    title="What a published page of rules may say",
    summary="association rules from released counts: what costs nothing more, and what must not be looked up",
    minutes=7,
    introduction=(
        Paragraph(
            text="A shop releases its most frequent pairs privately, with noisy counts of the pairs and of their "
            "items. From these it makes a page of **rules**: those who buy one item tend to buy another. The "
            "**confidence** of a rule is the share of the buyers of the first item who also bought the second."
        ),
        Paragraph(
            text="Whatever is computed from a release costs no more privacy. But a page is written by people who have "
            "the data at hand, and who want exact figures on it. What may the page say?"
        ),
    ),
    controls=(
        Control(name="epsilon", what="the epsilon of the release", choices=DIAL, start="2"),
        Control(name="k", what="how many pairs are released", choices=TOPS, start="10"),
    ),
    show=show,
    question=Question(
        text="From which epsilon on are at least half of the intervals at most 20 points wide? And with fewer pairs, "
        "or more?",
        happens=lambda settings: width(settings["epsilon"], settings["k"]) <= NARROW,
        yes="yes: at least half of the intervals are at most 20 points wide.",
        no="no: most intervals are wider, or nothing is named.",
    ),
)
