"""Every mechanism that can be asked for by name: one row each, read by the planner, the command line and the tests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fim_private.errors import UsageError, did_you_mean
from fim_private.mechanisms import (
    choosing,
    exponential,
    items_first,
    limited_domain,
    lmm,
    lmm_paper,
    lmm_repeat,
    max_of_laplaces,
    permute_and_flip,
    report_noisy_max,
    stable_max,
)
from fim_private.mechanisms.protocol import Calibrated, Request


@dataclass(frozen=True, kw_only=True)
class Row:
    """What the rest of the program needs to know of a mechanism.

    Args:
        name: as typed after --mechanism.
        summary: one line for people.
        source: where it comes from.
        calibrate: from a request to parameters and what was proved of them.
        both_relations: the proof holds for `replace` as it stands; otherwise group privacy serves it.
        needs_universe: it chooses from a declared universe.
        needs_cap: it has to know how many items a transaction has at most.
        finds_items: it finds the universe itself and takes nothing from a declared one but the restriction to it.
        automatic: --mechanism auto may choose it; the others are for comparison.
        long_lists: it names hundreds of itemsets in little time.
    """

    name: str
    summary: str
    source: str
    calibrate: Callable[[Request], Calibrated]
    both_relations: bool = False
    needs_universe: bool = False
    needs_cap: bool = False
    finds_items: bool = False
    automatic: bool = False
    long_lists: bool = False

    @property
    def sees_counts_only(self) -> bool:
        """Whether the counts of the itemsets, whatever the transactions, say what it does."""
        return not (self.needs_cap or self.finds_items or self.name == AUTO)


AUTO = "auto"
"""Stands for the mechanism that the planner chooses."""


REGISTRY: dict[str, Row] = {
    row.name: row
    for row in (
        Row(
            name="lmm",
            summary="large margin mechanism, calibrated: one margin search for all picks, else the limited domain",
            source="Chaudhuri, Hsu, Song 2014; calibration and proof in mechanisms/lmm.py",
            calibrate=lmm.calibrate,
            automatic=True,
            long_lists=True,
        ),
        Row(
            name="items-first",
            summary="finds the frequent items first, then picks or counts itemsets of these alone",
            source="after Durfee and Rogers 2019; construction and proof in mechanisms/items_first.py",
            calibrate=items_first.calibrate,
            finds_items=True,
            automatic=True,
            long_lists=True,
        ),
        Row(
            name="lmm-no-fallback",
            summary="lmm that answers nothing where no margin is certified, for teaching",
            source="as lmm",
            calibrate=lambda request: lmm.calibrate(request, fallback=False),
        ),
        Row(
            name="lmm-repeat",
            summary="calibrated large margin mechanism, one margin search for each pick",
            source="as lmm",
            calibrate=lmm_repeat.calibrate,
        ),
        Row(
            name="lmm-paper",
            summary="large margin mechanism as published, repeated under composition",
            source="Chaudhuri, Hsu, Song 2014, Algorithm 1",
            calibrate=lmm_paper.calibrate,
            both_relations=True,
        ),
        Row(
            name="limited-domain",
            summary="picks from the most frequent candidates and a stop symbol",
            source="Durfee and Rogers 2019",
            calibrate=limited_domain.calibrate,
            automatic=True,
            long_lists=True,
        ),
        Row(
            name="exponential",
            summary="exponential mechanism over a declared universe",
            source="McSherry and Talwar 2007; bounded range: Durfee and Rogers 2019",
            calibrate=exponential.calibrate,
            needs_universe=True,
            automatic=True,
            long_lists=True,
        ),
        Row(
            name="exponential-textbook",
            summary="exponential mechanism with the textbook's exponent, half as large",
            source="McSherry and Talwar 2007",
            calibrate=lambda request: exponential.calibrate(request, general=True),
            both_relations=True,
            needs_universe=True,
        ),
        Row(
            name="permute-and-flip",
            summary="accepts itemsets in random order, the frequent ones likelier, over a declared universe",
            source="McKenna and Sheldon 2020",
            calibrate=permute_and_flip.calibrate,
            needs_universe=True,
            automatic=True,
        ),
        Row(
            name="report-noisy-max",
            summary="largest count plus exponential noise over a declared universe, with each pick's noisy lead",
            source="Dwork and Roth 2014; gap: Ding et al. 2021",
            calibrate=report_noisy_max.calibrate,
            needs_universe=True,
        ),
        Row(
            name="report-noisy-max-textbook",
            summary="the same with the textbook's noise, twice as wide",
            source="Dwork and Roth 2014",
            calibrate=lambda request: report_noisy_max.calibrate(request, general=True),
            both_relations=True,
            needs_universe=True,
        ),
        Row(
            name="max-of-laplaces",
            summary="largest count plus Laplace noise over a declared universe",
            source="Bhaskar et al. 2010",
            calibrate=max_of_laplaces.calibrate,
            needs_universe=True,
        ),
        Row(
            name="max-of-laplaces-textbook",
            summary="the same with the textbook's noise, twice as wide",
            source="Bhaskar et al. 2010",
            calibrate=lambda request: max_of_laplaces.calibrate(request, general=True),
            both_relations=True,
            needs_universe=True,
        ),
        Row(
            name="stable-max",
            summary="names the first itemset if it leads the second by enough, over and over",
            source="Smith and Thakurta 2013",
            calibrate=stable_max.calibrate,
        ),
        Row(
            name="choosing",
            summary="picks among the occurring itemsets if the top count is large; transactions are capped",
            source="Beimel, Nissim, Stemmer 2013",
            calibrate=choosing.calibrate,
            needs_cap=True,
            automatic=True,
        ),
    )
}


def _undecided(_request: Request) -> Calibrated:
    raise AssertionError("the planner decides which mechanism is calibrated")


AUTOMATIC = Row(
    name=AUTO,
    summary="whichever needs the smallest lead over the bulk, for this k, size and budget",
    source="plan/choice.py",
    calibrate=_undecided,
    long_lists=True,
)


def find(name: str) -> Row:
    """The row of this name; `AUTOMATIC` for "auto".

    Raises:
        UsageError: there is none.
    """
    if name == AUTO:
        return AUTOMATIC
    if name not in REGISTRY:
        names = (AUTO, *REGISTRY)
        raise UsageError(
            "There is no mechanism of that name.", f"{did_you_mean(name, names)}Choose one of: {', '.join(names)}."
        )
    return REGISTRY[name]
