"""The page: the cells of all steps. marimo runs a cell again when something changes that it takes."""

import marimo

app = marimo.App(width="compact", app_title="fim-private desk", css_file="page.css")

with app.setup:
    from datetime import datetime

    import marimo as mo

    from fim_private.cli.desk import answer, budget, command, data, keep, question, unit
    from fim_private.cli.desk.command import tried
    from fim_private.cli.question_options import Question
    from fim_private.cli.words import Run, group_of, understood, words_of
    from fim_private.plan import plan_for
    from fim_private.release.files import read_release


@app.cell
def _():
    settled, set_settled = mo.state({}, allow_self_loops=True)
    said, set_said = mo.state("", allow_self_loops=True)
    asked, set_asked = mo.state("")
    data_edited, edit_data = mo.state(None)
    unit_edited, edit_unit = mo.state(None)
    plan_edited, edit_plan = mo.state(None)
    data_form = data.form(answer.started["files"], edit_data)
    question_form, budget_form = question.form(edit_plan), budget.form(edit_plan)
    data_form


@app.cell
def _(data_edited, data_form, set_settled, settled):
    data_edited()
    data_choice = data.choices(data_form.value, settled())
    data_words = words_of("inspect", data_choice)
    mo.stop(not data_choice["file"], mo.md("**Write the path of your file, to go on.**"))
    baskets, doubts, columns = tried(lambda: data.read(data_words))
    answers = data.answers(doubts, lambda settling: set_settled({**data_choice, **settling}))
    mo.stop(doubts, data.view(baskets, doubts, answers, data_words))
    data.view(baskets, doubts, answers, data_words)


@app.cell
def _(columns, edit_unit):
    unit_form = unit.form(columns, edit_unit)
    unit_form


@app.cell
def _(baskets, data_choice, data_words, unit_edited, unit_form):
    unit_edited()
    unit_choice = unit.choices(unit_form.value)
    mo.stop(unit_choice is None, mo.md("**Choose who is protected (for customers, their column too), to go on.**"))
    unit_words = words_of("inspect", data_choice, unit_choice)
    unit.view(baskets if unit_words == data_words else tried(lambda: data.read(unit_words))[0], unit_words)


@app.cell
def _(budget_form, plan_edited, question_form, unit_choice):
    plan_edited()
    choices = {**unit_choice, **question.choices(question_form.value), **budget.choices(budget_form.value)}
    plan_words = words_of("plan", choices)
    mo.vstack([question_form, command.shown(plan_words)])


@app.cell
def _(budget_form, unit_choice):
    budget_form if unit_choice else None


@app.cell
def _(budget_form, choices, chosen, plan_words, said, set_said):
    _ = chosen  # comes after runs, which charge the ledger
    plan = tried(lambda: plan_for(group_of(Question, understood(plan_words)).asked()))
    make_words = words_of("budget create", {"file": [choices["ledger"]]}, budget.choices(budget_form.value, "total_"))
    make = command.buttons({"Make this ledger": make_words}, set_said)
    shown_ledger = tried(lambda: budget.ledger_view(choices["ledger"], make["Make this ledger"], make_words, said()))
    mo.vstack([tried(lambda: budget.view(plan, plan_words)), *shown_ledger])


@app.cell
def _(choices, data_choice, plan):
    output = answer.started["folder"] / f"answer-{datetime.now().astimezone():%Y-%m-%d-%H%M%S-%f}.json"
    agreed = answer.confirmation(output.stem)
    mine_words = words_of("mine", data_choice, choices, {"output": output})
    cost = tried(lambda: budget.cost(plan, choices["ledger"])) + f" The answer is written to {output}, then shown."
    mo.vstack([mo.md("## 5. The answer"), command.note(cost, "warn"), command.shown(mine_words), agreed])


@app.cell
def _(agreed, mine_words, output, set_asked):
    if agreed.value == {output.stem: True} and output not in answer.runs:
        answer.runs[output] = Run(mine_words)
        set_asked(str(output))


@app.cell
def _(asked):
    asked()
    chosen, failed = answer.choice()
    mo.vstack([*failed, *([chosen] if chosen.options else [])])


@app.cell
def _(chosen):
    mo.stop(chosen.value is None)
    release = tried(lambda: read_release(chosen.value))
    title = mo.ui.text(label="The title of the page; may stay empty", full_width=True)
    mo.vstack([answer.view(release, chosen.value), mo.md("## 6. What to keep"), title])


@app.cell
def _(budget_form, chosen, release, said, set_said, title):
    keep_words = keep.commands(chosen.value, release, title.value)
    keep_buttons = command.buttons(keep_words, set_said)
    tried(lambda: keep.view(keep_words, keep_buttons, said(), budget_form.value["ledger"].strip()))
