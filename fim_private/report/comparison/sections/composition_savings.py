"""What composition saves, and what better constants save."""

from __future__ import annotations

from fim_private.comparison.composition_gain import TOPS, margins, pick_epsilons
from fim_private.privacy import Budget
from fim_private.report.comparison.results import ComparisonResults
from fim_private.report.document import Paragraph, Section
from fim_private.report.drawing import Pictures, logarithmic, look, new_figure

STYLES = {"basic": ("#7a7a7a", "o", ":"), "optimal": ("#000000", "s", "--"), "bounded range": ("#00805c", "^", "-")}
LEADS = {
    "lmm-paper": "lmm-paper",
    "lmm, first test": "lmm",
    "lmm, last test": "lmm-no-fallback",
    "limited-domain": "limited-domain",
}


def section(results: ComparisonResults, pictures: Pictures) -> Section:
    """Epsilon of one pick, and the margins asked for, against k."""
    epsilon, delta = results.settings.middle_epsilon, results.settings.delta
    budget = Budget(epsilon, delta)
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
    right.set_title("lead that is asked for")
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
            f"**What composition buys at epsilon {epsilon}, delta {delta}.** Left: with k = 100 picks each may spend "
            f"{hundred['basic']:.3g} by adding up, {hundred['optimal']:.3g} by the best theorem for any picks, and "
            f"{hundred['bounded range']:.3g} by the one for picks of bounded range, which the exponential mechanism's "
            f"are: {hundred['bounded range'] / hundred['basic']:.1f} times as much. Right: for k = 10 the published "
            "large "
            f"margin mechanism asks for a lead of {ten['lmm-paper']:,} transactions in each round, the calibrated one "
            "for "
            f"{ten['lmm, first test']:,} (at place k + 1) to {ten['lmm, last test']:,} (far down) once, and the "
            "limited domain for "
            f"{ten['limited-domain']:,} over the place 1,000 k down."
        ),
    )
    return Section(
        anchor="composition",
        title="What composition buys",
        parts=(
            Paragraph(
                text="Naming k itemsets takes k picks, and each costs privacy. How the costs add up is a matter of "
                "theorems, "
                "not of noise: a sharper theorem allows every pick more. **Basic**: epsilons add up. **Optimal** "
                "(Kairouz, Oh, "
                "Viswanath 2015): the best that holds for any private picks. **Bounded range** (Durfee and Rogers "
                "2019), added up by Rényi divergence (worst pairs of Dong, Durfee and Rogers 2020): better still, for "
                "picks by the exponential mechanism."
            ),
            drawn,
        ),
    )
