"""Every mechanism that can be asked for by name: one row each, read by the planner, the command line and the tests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fim_private.errors import UsageError
from fim_private.mechanisms import exponential, limited_domain, lmm, lmm_paper, lmm_repeat
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
    """

    name: str
    summary: str
    source: str
    calibrate: Callable[[Request], Calibrated]
    both_relations: bool = False
    needs_universe: bool = False


REGISTRY: dict[str, Row] = {
    row.name: row
    for row in (
        Row(
            name="lmm",
            summary="large margin mechanism, calibrated: one margin search for all picks, else the limited domain",
            source="Chaudhuri, Hsu, Song 2014; calibration and proof in mechanisms/lmm.py",
            calibrate=lmm.calibrate,
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
        ),
        Row(
            name="exponential",
            summary="exponential mechanism over a declared universe",
            source="McSherry and Talwar 2007; bounded range: Durfee and Rogers 2019",
            calibrate=exponential.calibrate,
            needs_universe=True,
        ),
    )
}


def find(name: str) -> Row:
    """The row of this name.

    Raises:
        UsageError: there is none.
    """
    if name not in REGISTRY:
        raise UsageError("There is no mechanism of that name.", f"Choose one of: {', '.join(REGISTRY)}.")
    return REGISTRY[name]
