"""`fim-private demo`: the main job on the data set that ships, explained step by step."""

from __future__ import annotations

import typer

from fim_private.cli import options

SIZE, TOP, EPSILON, DELTA = 2, 5, "1", "1e-6"


def demo(quiet: options.Quiet = False) -> None:
    """Mine the data set that ships: 4,372 customers' purchase lists, privately, with every step explained.

    Example: fim-private demo
    """
    from fim_private.catalogue import path_of
    from fim_private.cli.progress import phases, say
    from fim_private.counting import top_itemsets
    from fim_private.mining.mine import mine_as_planned
    from fim_private.plan import make_plan
    from fim_private.privacy import Budget, PrivacyUnit
    from fim_private.report.statement import plan_text, promise
    from fim_private.report.tables import JOINT, printable, release_table, table
    from fim_private.transactions import read_transactions

    path = path_of("online-retail-customers")
    plan = make_plan(size=SIZE, top=TOP, budget=Budget(EPSILON, DELTA), unit=PrivacyUnit())
    say(
        "A UK web shop's customers over one year: one line a customer, with all he or she bought\n"
        "(Chen 2015, UCI Online Retail, CC BY 4.0). A transaction here is a whole customer.\n\n"
        f"Question: which {TOP} pairs of goods do most customers buy?\n"
        "No single customer may show in the answer.\n\n"
        f"The plan, made before the data is read:\n{plan_text(plan)}\n",
        quiet=quiet,
    )
    with phases(quiet=quiet) as progress:
        progress("reading and counting")
        transactions = read_transactions(path)
        release = mine_as_planned(transactions, plan)
        itemsets, counts = top_itemsets(transactions, SIZE, TOP).reveal_to_curator()
    typer.echo(release_table(release))
    say(f"\n{promise(plan, seeded=False)}\n", quiet=quiet)
    truth = [tuple(transactions.vocabulary[code] for code in itemset) for itemset in itemsets.tolist()]
    hits = len(set(truth) & {itemset.items for itemset in release.itemsets})
    rows = [
        [f"{count:,}", JOINT.join(map(printable, items))] for items, count in zip(truth, counts.tolist(), strict=True)
    ]
    say(
        f"This data set is public, so here we may look behind the curtain:\n{hits} of the {TOP} above are among the "
        f"true top {TOP}. The truth, which must not be shown of private data:\n"
        + table(["customers", "pair"], rows, right=[True, False])
        + "\n\nRun it again: the list changes a little each time (with private data each run costs anew).\n"
        "The same with your own data:\n"
        f"  fim-private mine FILE --size {SIZE} --top {TOP} --epsilon {EPSILON} --delta {DELTA} --unit transaction",
        quiet=quiet,
    )
