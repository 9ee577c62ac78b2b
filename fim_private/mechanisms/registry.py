"""Every mechanism that has a name. Its row here holds everything that the rest of the program looks up by that name.

Rows name modules instead of importing them, so that shell completion of a mechanism's name is fast.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING

from fim_private.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from fim_private.mechanisms.protocol import CalibratedMechanism, Request
    from fim_private.mechanisms.twins.twin import Twin


_ANONYMOUS_NAMES = "fim_private.mechanisms.anonymous_names"


@dataclass(frozen=True, kw_only=True)
class Row:
    """What the rest of the program needs to know about a mechanism.

    Args:
        name: as typed after --mechanism.
        summary: one line for people.
        source: the publication it comes from. Pages for the public show it, so it names no file of the program.
        module: the module whose `calibrate` makes it.
        options: further arguments of `calibrate`.
        twins_at: "module:name" of its `Twin`s, the broken versions that the audit must catch.
        family: figures draw all mechanisms of a family in one colour. It is named after one of them, if not after this.
        audited_by_units_in: the module whose `largest_deltas` finds the neighbours that the audit compares, where these
            are data sets with one unit more; None if they are vectors of counts.
        loose: why its claim may be loose, from its proof; None if the claim is tight.
        study: for study, not for use; the comparison report folds it away.
        lowered: lower values of public caps that only end a search. They make an exact law fast to compute.
        both_relations: the proof also holds for `replace`; otherwise group privacy serves that relation.
        needs_universe: it chooses from a declared universe.
        serves_list: --mechanism auto may take it with a public list of items.
        needs_cap: it needs a cap on the items per transaction.
        in_bins: it puts each transaction into bins by the items it holds. So it sees more than counts, and cannot count
            units by basket.
        weighs: it weighs every itemset that occurs by how many others a transaction holds. So it sees more than counts,
            and takes so long that it is compared only if it is named.
        finds_items: it finds the universe itself. A declared universe only restricts it.
        reads_counts: it can select by noisy counts (--select, --min-count).
        automatic: --mechanism auto may choose it; the others are for comparison.
        most_names: it can serve at most this many different items; None for any number.
        instead_of: --mechanism auto leaves these out where it may choose this one, which decides between them.
        long_lists: it names hundreds of itemsets in little time.
    """

    name: str
    summary: str
    source: str
    module: str
    options: Mapping[str, bool | str] = field(default_factory=dict)
    twins_at: str
    family: str = ""
    audited_by_units_in: str | None = None
    loose: str | None = None
    study: bool = False
    lowered: Mapping[str, int] = field(default_factory=dict)
    both_relations: bool = False
    needs_universe: bool = False
    serves_list: bool = True
    needs_cap: bool = False
    in_bins: bool = False
    weighs: bool = False
    finds_items: bool = False
    reads_counts: bool = False
    automatic: bool = False
    most_names: int | None = None
    instead_of: tuple[str, ...] = ()
    long_lists: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "family", self.family or self.name)

    @property
    def sees_counts_only(self) -> bool:
        """Whether the itemsets' counts alone decide what it does, whatever the transactions are."""
        return not (self.needs_cap or self.finds_items or self.in_bins or self.weighs or self.name == AUTO)

    @property
    def chooses_from_list(self) -> bool:
        """Whether it chooses from all itemsets of a list by their counts, and needs them all."""
        return self.needs_universe and self.sees_counts_only

    def calibrate(self, request: Request) -> CalibratedMechanism:
        """The mechanism for this request, and what is proved of it."""
        calibrated: CalibratedMechanism = import_module(self.module).calibrate(request, **self.options)
        if not (request.anonymous and self.needs_universe):
            return calibrated
        certified: CalibratedMechanism = import_module(_ANONYMOUS_NAMES).certify(
            calibrated.mechanism, request, general=self.both_relations
        )
        return certified

    @property
    def twins(self) -> tuple[Twin, ...]:
        """The mechanism's broken versions."""
        module, _, name = self.twins_at.partition(":")
        twins: tuple[Twin, ...] = getattr(import_module(module), name)
        return twins


AUTO = "auto"
"""Stands for the mechanism that the planner chooses."""

_TWINS = "fim_private.mechanisms.twins"

REGISTRY: dict[str, Row] = {
    row.name: row
    for row in (
        Row(
            name="lmm",
            summary="large margin mechanism, calibrated: one margin search for all picks, limited domain as fallback",
            source="Chaudhuri, Hsu, Song 2014; calibration of this project",
            module="fim_private.mechanisms.lmm",
            twins_at=f"{_TWINS}.large_margin:ONE_SEARCH",
            loose=(
                "for several picks, half of delta pays for composition, and the share of the thresholds is divided by "
                "1 + e^epsilon"
            ),
            automatic=True,
            long_lists=True,
        ),
        Row(
            name="items-first",
            summary="counts items without names, picks or counts itemsets of frequent ones, and tests unlisted names",
            source="after Durfee and Rogers 2019; construction of this project",
            module="fim_private.mechanisms.items_first",
            twins_at=f"{_TWINS}.certificates:ITEMS_FIRST",
            audited_by_units_in="fim_private.audit.items_first_cases",
            loose=(
                "zCDP holds for all steps at their worst together, and rounding hides part of the loss of picks and "
                "tests; most of delta pays for composition. Without a delta, all steps hardly ever lose most at once"
            ),
            finds_items=True,
            # Every name gets noise: some seconds for this many, and minutes if epsilon is below 1/50.
            most_names=10**7,
            reads_counts=True,
            automatic=True,
            long_lists=True,
        ),
        Row(
            name="lmm-no-fallback",
            summary="lmm without the fallback, for teaching: it names nothing if it certifies no margin",
            source="as lmm",
            family="lmm",
            module="fim_private.mechanisms.lmm",
            options={"fallback": False},
            twins_at=f"{_TWINS}.large_margin:ONE_SEARCH",
            study=True,
            loose="as lmm",
        ),
        Row(
            name="lmm-repeat",
            summary="calibrated large margin mechanism, one margin search for each pick",
            source="as lmm",
            family="lmm",
            module="fim_private.mechanisms.lmm_repeat",
            twins_at=f"{_TWINS}.large_margin:REPEATED",
            study=True,
            loose="the search and the pick of a round are each charged in full, but they rarely lose most on the same "
            "data",
        ),
        Row(
            name="lmm-paper",
            summary="large margin mechanism as published, repeated under composition",
            source="Chaudhuri, Hsu, Song 2014, Algorithm 1",
            module="fim_private.mechanisms.lmm_paper",
            twins_at=f"{_TWINS}.large_margin:PUBLISHED",
            loose="the thresholds are the paper's tail bounds: each is a union bound over three noises, with the "
            "exponent eps/6",
            lowered={"max_candidates": 32},
            both_relations=True,
        ),
        Row(
            name="limited-domain",
            summary="picks from the most frequent candidates and a stop symbol",
            source="Durfee and Rogers 2019",
            module="fim_private.mechanisms.limited_domain",
            twins_at=f"{_TWINS}.picks:LIMITED_DOMAIN",
            loose="half of delta pays for composition, and the share of the stop symbol is divided by 1 + e^epsilon",
            automatic=True,
            long_lists=True,
        ),
        Row(
            name="certified-domain",
            summary="picks from the most frequent candidates, and names those that a noisy test finds to have support",
            source="after Durfee and Rogers 2019; construction of this project",
            family="limited-domain",
            module="fim_private.mechanisms.certified_domain",
            twins_at=f"{_TWINS}.certificates:CERTIFIED_DOMAIN",
            loose="most of delta pays for composition, and the share of the test is divided by 1 + e^epsilon",
            serves_list=False,
            automatic=True,
            long_lists=True,
        ),
        Row(
            name="look-first",
            summary="looks with noise at how clear the ranking is, then picks from its top, or finds the items first",
            source="construction of this project",
            module="fim_private.mechanisms.look_first",
            twins_at=f"{_TWINS}.looks:LOOK_FIRST",
            loose="as items-first",
            finds_items=True,
            most_names=10**7,
            automatic=True,
            instead_of=("certified-domain", "items-first"),
            long_lists=True,
        ),
        # Before exponential, because auto takes the first of those that need equal leads.
        Row(
            name="permute-and-flip",
            summary="accepts itemsets in random order, frequent ones more likely, over a declared universe",
            source="McKenna and Sheldon 2020",
            module="fim_private.mechanisms.noisy_maxima",
            options={"noise": "exponential"},
            twins_at=f"{_TWINS}.picks:NOISY_MAXIMA",
            needs_universe=True,
            automatic=True,
        ),
        Row(
            name="exponential",
            summary="exponential mechanism over a declared universe",
            source="McSherry and Talwar 2007; bounded range: Durfee and Rogers 2019",
            module="fim_private.mechanisms.exponential",
            twins_at=f"{_TWINS}.picks:EXPONENTIAL",
            needs_universe=True,
            automatic=True,
            long_lists=True,
        ),
        Row(
            name="exponential-textbook",
            summary="exponential mechanism with the textbook's exponent, half as large",
            source="McSherry and Talwar 2007",
            family="exponential",
            module="fim_private.mechanisms.exponential",
            options={"general": True},
            twins_at=f"{_TWINS}.picks:EXPONENTIAL",
            study=True,
            loose="the textbook's exponent is made for exchanged units, and is half of what add-remove allows",
            both_relations=True,
            needs_universe=True,
        ),
        Row(
            name="report-noisy-max",
            summary="largest count plus exponential noise over a declared universe, with each pick's noisy lead",
            source="Dwork and Roth 2014; gap: Ding et al. 2021",
            family="permute-and-flip",
            module="fim_private.mechanisms.noisy_maxima",
            options={"noise": "exponential", "gaps": True},
            twins_at=f"{_TWINS}.picks:NOISY_MAXIMA",
            study=True,
            needs_universe=True,
        ),
        Row(
            name="report-noisy-max-textbook",
            summary="report-noisy-max with the textbook's noise, twice as wide",
            source="Dwork and Roth 2014",
            family="permute-and-flip",
            module="fim_private.mechanisms.noisy_maxima",
            options={"noise": "exponential", "gaps": True, "general": True},
            twins_at=f"{_TWINS}.picks:NOISY_MAXIMA",
            study=True,
            loose="half of epsilon pays for exchanged units, which add-remove does not need",
            both_relations=True,
            needs_universe=True,
        ),
        Row(
            name="max-of-laplaces",
            summary="largest count plus Laplace noise over a declared universe",
            source="Bhaskar et al. 2010",
            module="fim_private.mechanisms.noisy_maxima",
            options={"noise": "laplace"},
            twins_at=f"{_TWINS}.picks:NOISY_MAXIMA",
            needs_universe=True,
        ),
        Row(
            name="max-of-laplaces-textbook",
            summary="max-of-laplaces with the textbook's noise, twice as wide",
            source="Bhaskar et al. 2010",
            family="max-of-laplaces",
            module="fim_private.mechanisms.noisy_maxima",
            options={"noise": "laplace", "general": True},
            twins_at=f"{_TWINS}.picks:NOISY_MAXIMA",
            study=True,
            loose="half of epsilon pays for exchanged units, which add-remove does not need",
            both_relations=True,
            needs_universe=True,
        ),
        Row(
            name="stable-max",
            summary="names the first itemset if it leads the second by enough, over and over",
            source="Smith and Thakurta 2013",
            module="fim_private.mechanisms.stable_max",
            twins_at=f"{_TWINS}.picks:STABLE_MAX",
            study=True,
            loose="optimal composition keeps half of delta for a worst case that cannot happen with gaps",
        ),
        Row(
            name="choosing",
            summary="picks among the occurring itemsets if the top count is large; transactions are capped",
            source="Beimel, Nissim, Stemmer 2013",
            module="fim_private.mechanisms.choosing",
            twins_at=f"{_TWINS}.picks:CHOOSING",
            study=True,
            loose="the comparison and the pick rarely lose most on the same data",
            needs_cap=True,
            automatic=True,
        ),
        Row(
            name="truncated-frequency",
            summary="exponential mechanism on counts lifted to a floor, gamma below the count of place k",
            source="Bhaskar et al. 2010; bounded range: Durfee and Rogers 2019",
            module="fim_private.mechanisms.truncated_frequency",
            twins_at=f"{_TWINS}.picks:TRUNCATED_FREQUENCY",
            needs_universe=True,
        ),
        Row(
            name="truncated-frequency-paper",
            summary="truncated frequencies as published: half the exponent, and the epsilons of the picks are added up",
            source="Bhaskar et al. 2010, Algorithm 1",
            family="truncated-frequency",
            module="fim_private.mechanisms.truncated_frequency",
            options={"published": True},
            twins_at=f"{_TWINS}.picks:TRUNCATED_FREQUENCY",
            study=True,
            loose="the published exponent is made for exchanged units, and is half of what add-remove allows",
            both_relations=True,
            needs_universe=True,
        ),
        Row(
            name="joint-exponential",
            summary="chooses the whole list at once, by how far each place falls short, over a declared universe",
            source="Gillenwater, Joseph, Munoz, Ribero 2022",
            module="fim_private.mechanisms.joint_exponential",
            twins_at=f"{_TWINS}.picks:JOINT_EXPONENTIAL",
            study=True,
            needs_universe=True,
        ),
        Row(
            name="weighted-gaussian",
            summary="weighs all itemsets that occur, with noise, and picks from those that stand out of it",
            source="Gopi, Gulhane, Kulkarni, Shen, Shokouhi, Yekhanin 2020",
            module="fim_private.mechanisms.weighted_gaussian",
            twins_at=f"{_TWINS}.histograms:WEIGHTED_GAUSSIAN",
            audited_by_units_in="fim_private.audit.weighted_gaussian_cases",
            loose=(
                "zCDP holds for histogram and picks at their worst together; half of delta pays for composition; "
                "the threshold takes the transactions of a unit to hold the same itemsets and different ones"
            ),
            serves_list=False,
            weighs=True,
        ),
    )
}


COMPARATORS: dict[str, Row] = {
    row.name: row
    for row in (
        Row(
            name="privbasis",
            summary="noisy counts of all subsets of a few small sets of items, for itemsets of several sizes",
            source="Li, Qardaji, Su, Cao 2012",
            module="fim_private.mechanisms.privbasis",
            twins_at="",
            needs_universe=True,
            in_bins=True,
        ),
        Row(
            name="privbasis-gaussian",
            summary="noisy counts of all subsets of a few small sets of items, with Gaussian noise, for several sizes",
            source="Li, Qardaji, Su, Cao 2012; accounting of this project",
            family="privbasis",
            module="fim_private.mechanisms.privbasis",
            options={"gaussian": True},
            twins_at="",
            needs_universe=True,
            in_bins=True,
        ),
    )
}
"""Mechanisms to compare with that count step by step, so that no exact law over lists can be computed.

`--mechanism` knows them. `auto`, the list of all plans and the audit do not. Exact tests of their steps, with broken
twins, are in `tests/mechanisms/test_privbasis.py`.
"""

AUTOMATIC = Row(
    name=AUTO,
    summary="of the mechanisms that it considers, the one likely to need the least lead, for this k, size and budget",
    source="this project",
    module="",
    twins_at="",
    long_lists=True,
)
"""This row has neither `calibrate` nor twins. The mechanism that the planner chooses has them."""


def find(name: str) -> Row:
    """The row with this name; `AUTOMATIC` for "auto".

    Raises:
        UsageError: there is no such row.
    """
    if name == AUTO:
        return AUTOMATIC
    rows = REGISTRY | COMPARATORS
    if name not in rows:
        names = (AUTO, *rows)
        raise UsageError(
            "There is no mechanism of that name.", f"{did_you_mean(name, names)}Choose one of: {', '.join(names)}."
        )
    return rows[name]
