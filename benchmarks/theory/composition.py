"""How much composition theorems and better constants save."""

from __future__ import annotations

from fim_private.accounting.range_composition import MOST_PICKS
from fim_private.demos.lessons.composition import pick_epsilons
from fim_private.plan import make_plan
from fim_private.privacy import Budget, PrivacyUnit
from fim_private.report.document import Paragraph, Section
from fim_private.report.drawing import Pictures, logarithmic, look, new_figure

TOPS = (1, 2, 5, 10, 20, 50, 100, 200, 500)
STYLES = {"basic": ("#7a7a7a", "o", ":"), "optimal": ("#000000", "s", "--"), "bounded range": ("#00805c", "^", "-")}
LEADS = {
    "lmm-paper": "lmm-paper",
    "lmm, first test": "lmm",
    "lmm, last test": "lmm-no-fallback",
    "limited-domain": "limited-domain",
}


def margins(budget: Budget, top: int) -> dict[str, int]:
    """The leads that the published search, the calibrated search (first and last test) and the fallback need."""

    def leads(name: str) -> list[int]:
        plan = make_plan(size=2, top=top, budget=budget, unit=PrivacyUnit(), mechanism=name)
        return [margin.counts for margin in plan.mechanism.margins]

    calibrated = leads("lmm")
    return {
        "lmm-paper": leads("lmm-paper")[0],
        "lmm, first test": calibrated[0],
        "lmm, last test": calibrated[1],
        "limited-domain": leads("limited-domain")[0],
    }


def section(pictures: Pictures) -> Section:
    """Draw the epsilon of one pick, and the margins that mechanisms need, against k."""
    budget = Budget("1", "1e-6")
    picks = {top: pick_epsilons(budget, top) for top in TOPS}
    leads = {top: margins(budget, top) for top in TOPS}
    figure, (left, right) = new_figure(1, 2, height=3.2, same_y=False)
    for name, (color, marker, dashes) in STYLES.items():
        left.plot(TOPS, [picks[top][name] for top in TOPS], label=name, color=color, marker=marker, linestyle=dashes)
    left.set_title("epsilon of one of k picks")
    left.set_ylabel("epsilon of one pick (log scale)")
    left.legend()
    for name, mechanism in LEADS.items():
        right.plot(TOPS, [leads[top][name] for top in TOPS], **{**look(mechanism), "label": name})
    right.set_title("lead that is needed")
    right.set_ylabel("transactions (log scale)")
    right.legend()
    for panel in (left, right):
        logarithmic(panel, y=True)
        panel.set_xlabel("k, number of picks (log scale)")
    hundred, ten = picks[100], leads[10]
    drawn = pictures.finish(
        figure,
        name="composition",
        alt="Epsilon of one pick and margins against the number of picks",
        caption=(
            f"**What composition buys at epsilon 1, delta 1e-6.** First panel: each of k = 100 picks may spend "
            f"{hundred['basic']:.3g} if epsilons add up, and {hundred['optimal']:.3g} by the best theorem for any "
            "picks. The theorem for picks of bounded range, such as those of the exponential mechanism, allows "
            f"{hundred['bounded range']:.3g}. This is {hundred['bounded range'] / hundred['basic']:.1f} times what "
            "adding up allows. Second panel: for k = 10 the published large margin mechanism needs a lead of "
            f"{ten['lmm-paper']:,} transactions in each round. The calibrated mechanism needs a lead once: "
            f"{ten['lmm, first test']:,} at place k + 1, up to {ten['lmm, last test']:,} far down. The limited domain "
            f"needs a lead of {ten['limited-domain']:,} over place 1,000 k."
        ),
    )
    return Section(
        anchor="composition",
        title="What composition buys",
        parts=(
            Paragraph(
                text="Naming k itemsets takes k picks, and each costs privacy. A theorem says how the costs add up. A "
                "sharper theorem allows every pick a larger epsilon, and the noise gets smaller. **Basic**: epsilons "
                "add up. **Optimal** (Kairouz, Oh, Viswanath 2015): the best theorem that holds for any private picks. "
                "**Bounded range** (Durfee and Rogers 2019): a still better theorem that holds for picks by the "
                f"exponential mechanism. Up to {MOST_PICKS} of them are composed by their own optimal theorem (Dong, "
                "Durfee, Rogers 2020). For more, the Rényi divergences of the worst pairs are added up."
            ),
            drawn,
        ),
    )
