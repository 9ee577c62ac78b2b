"""A plan as a page: what it needs of the data, what it would promise and what it would cost. No data is read for it."""

from __future__ import annotations

from collections.abc import Sequence

from fim_private.mechanisms.registry import find
from fim_private.plan import Plan, Question
from fim_private.plan.advice import Advice
from fim_private.printable import printable
from fim_private.report.advice_text import HEAD, RIGHT, SOURCE, advice_rows, advice_words, declared
from fim_private.report.document import Bullets, Cell, Document, Paragraph, Part, Section, Table
from fim_private.report.document.text import stated
from fim_private.report.plan_text import COUNTED_TWICE
from fim_private.report.promise_text import promise_paragraphs


def plan_document(
    asked: str,
    plan: Plan,
    others: Sequence[Plan] = (),
    refused: Sequence[tuple[str, str]] = (),
    *,
    advice: Advice | None = None,
) -> Document:
    """The page.

    Args:
        asked: the question in words, for the title.
        plan: the plan that would be carried out.
        others: plans of other mechanisms for the same question, to compare.
        refused: mechanisms that cannot answer the question, and why.
        advice: how many itemsets to ask for, if that was asked.
    """
    promised = Bullets(items=tuple(promise_paragraphs(plan, options=False)))
    sections = [
        Section(anchor="needs", title="What it needs from the data", parts=tuple(needs_parts(plan))),
        Section(anchor="promise", title="What would be promised", parts=(promised,)),
        Section(anchor="cost", title="What it would cost", parts=tuple(cost_parts(plan))),
    ]
    if advice is not None:
        sections.insert(0, Section(anchor="advice", title="How many to ask for", parts=tuple(advised_parts(advice))))
    if others or refused:
        sections.append(Section(anchor="others", title="Other mechanisms", parts=tuple(_others(plan, others, refused))))
    epsilon, delta = stated(plan.budget.epsilon), stated(plan.budget.delta)
    introduction = [f"The answer would come from **{plan.mechanism_name}**: {find(plan.mechanism_name).summary}."]
    if plan.why:
        introduction.append(f"It was {plan.why}.")
    return Document(
        title=asked,
        banner=f"A plan: epsilon {epsilon}, delta {delta}. No data was read, and nothing is spent.",
        introduction=tuple(Paragraph(text=text) for text in introduction),
        sections=tuple(sections),
        footer="Made by `fim-private plan` from the question alone. `fim-private mine` with the same options carries "
        "it out.",
    )


def question_in_words(question: Question, *, top: int | None) -> str:
    """The question in words; with the top only if it was typed."""
    *smaller, largest = question.sizes
    what = f"size {largest}"
    if smaller:
        listed = f"{', '.join(map(str, smaller))} and {largest}"
        what = f"each of the sizes {listed}" if question.per_size else f"sizes {listed} together"
    which = f"Itemsets of {what}"
    if top is not None:
        which = f"The top {'itemset' if top == 1 else f'{top:,} itemsets'} of {what}"
    if question.by != "count":
        which += f" by {question.by}"
    if question.min_count is not None:
        which += f" with a noisy count above {question.min_count:,}"
    return f"{which} {printable(question.constraints.describe())}".rstrip()


def advised_parts(advice: Advice) -> list[Part]:
    """How many itemsets to ask for."""
    rows = tuple(advice_rows(advice))
    caption = f"With {declared(advice)}, declared and not read. {RIGHT}"
    return [
        *(Paragraph(text=text) for text in advice_words(advice, options=False)),
        Table(name="advice", head=HEAD, rows=rows, caption=caption),
        Paragraph(text=SOURCE),
    ]


def needs_parts(plan: Plan) -> list[Part]:
    """What the data must show for an answer."""
    rows = tuple((f"about {margin.counts:,}", margin.words) for margin in plan.mechanism.margins)
    counted = plan.question.counted
    of_size = " of a size" if plan.question.per_size else ""
    caption = f"The lead, in {counted}, with which the whole list{of_size} is named in 19 of 20 runs."
    parts: list[Part] = [Table(name="margins", head=(counted, "where"), rows=rows, caption=caption)]
    if len(rows) > 1:
        parts.append(Paragraph(text="One of these leads is enough."))
    return [
        *parts,
        Paragraph(
            text="If the data has no such lead, the answer is shorter, empty or mostly wrong, and the budget is spent "
            "anyway. A smaller lead is enough with a larger epsilon, with fewer itemsets or with smaller ones. More "
            "data has larger leads."
        ),
    ]


def cost_parts(plan: Plan) -> list[Part]:
    """How the budget would be spent."""
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            line.what,
            None if line.epsilon is None else float(line.epsilon),
            None if line.rho is None else float(line.rho),
            line.times,
        )
        for line in plan.spending
    )
    table = Table(
        name="spending",
        head=("what is paid for", "epsilon each", "rho each", "times"),
        rows=rows,
        caption="How the budget would be spent. Rho is what a step costs as Gaussian noise.",
        digits=6,
    )
    proved = plan.guarantee
    texts = [f"{COUNTED_TWICE.capitalize()}."] if plan.question.by_group_privacy(find(plan.mechanism_name)) else []
    texts += [
        f"Together this provably costs at most epsilon {stated(proved.epsilon, digits=4)} and delta "
        f"{stated(proved.delta, digits=4)} ({proved.composition.capitalize()} composition; neighbouring data sets: "
        f"{plan.relation})."
    ]
    if plan.failure:
        failure = stated(plan.failure, digits=4)
        texts.append(f"A name is revealed wrongly with probability at most {failure}. Delta covers this.")
    return [table, *(Paragraph(text=text) for text in texts)]


def _others(plan: Plan, others: Sequence[Plan], refused: Sequence[tuple[str, str]]) -> list[Part]:
    rows = tuple((other.mechanism_name, other.lead, other.near_lead) for other in others)
    parts: list[Part] = []
    if rows:
        parts.append(
            Table(
                name="others",
                head=("mechanism", "lead over the bulk", "lead over the next place"),
                rows=rows,
                caption=f"The lead, in {plan.question.counted}, that each mechanism needs to name the whole list in 19 "
                f"of 20 runs. The plan uses {plan.mechanism_name}. The bulk means itemsets that do not occur, or "
                "a place far down the ranking.",
            )
        )
    if refused:
        parts.append(
            Table(
                name="refused",
                head=("mechanism", "why it cannot be used"),
                rows=tuple(refused),
                caption="Not possible.",
            )
        )
    return parts
