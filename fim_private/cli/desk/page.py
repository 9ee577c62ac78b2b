"""The page: the cells of all steps. marimo runs a cell again when something changes that it takes."""

import marimo

app = marimo.App(width="compact", app_title="fim-private desk", css_file="page.css")

with app.setup:
    import marimo as mo

    from fim_private.cli.desk import answer, budget, data, keep, question, unit
    from fim_private.cli.desk.command import tried, words_of
    from fim_private.release.files import read_release


@app.cell
def _():
    settled, set_settled = mo.state({})
    made, set_made = mo.state("")
    asked, set_asked = mo.state("")
    written, set_written = mo.state("")
    data_form, question_form, budget_form = data.form(answer.started["files"]), question.form(), budget.form()
    head = mo.md(
        "# From a file to a published page\n\nFind what is bought together, and publish it without exposing any "
        "customer. Everything stays on this machine. Nothing is spent before you confirm it in step 5."
    )
    mo.vstack([head, data_form])


@app.cell
def _(data_form, set_settled, settled):
    data_choice = data.choices(data_form.value, settled())
    data_words = words_of("inspect", data_choice)
    baskets, doubts, columns = tried(lambda: data.read(data_words))
    answers = data.answers(doubts, lambda answer: set_settled({**data_choice, **answer}))
    data_view = data.view(baskets, doubts, answers, data_words)
    mo.stop(doubts, data_view)
    data_view


@app.cell
def _(columns):
    unit_form = unit.form(columns)
    unit_form


@app.cell
def _(data_choice, unit_form):
    unit_choice = unit.choices(unit_form.value)
    mo.stop(unit_choice is None, mo.md("**Choose who is protected, to go on.**"))
    unit_words = unit.inspected(data_choice, unit_choice)
    unit.view(tried(lambda: data.read(unit_words))[0], unit_words)


@app.cell
def _(question_form, unit_choice):
    question_form if unit_choice else None


@app.cell
def _(budget_form, question_form, unit_choice):
    question_choice = question.choices(question_form.value)
    plan_words = words_of("plan", question_choice, budget.choices(budget_form.value), unit.promised(unit_choice))
    plan = tried(lambda: question.planned(plan_words))
    question.view(plan, plan_words)


@app.cell
def _(budget_form, plan):
    budget_form if plan else None


@app.cell
def _(asked, budget_form, made, plan, plan_words, set_made):
    asked()
    ledger = budget_form.value["ledger"].strip()
    make_words = budget.made(budget_form.value)
    make = budget.maker(make_words, set_made)
    tried(lambda: mo.vstack([budget.view(plan, plan_words), *budget.ledger_view(ledger, make, make_words, made())]))


@app.cell
def _(asked, budget_form, data_choice, ledger, plan, question_choice, unit_choice):
    asked()
    output, paid = answer.next_answer(), budget.spent(budget_form.value)
    mine_words = words_of("mine", data_choice, unit_choice, question_choice, paid, {"ledger": ledger, "output": output})
    agreed = mo.ui.checkbox(label="I have read this, and want to spend it")
    answer.confirmation(tried(lambda: budget.cost(plan, ledger)), output, agreed, mine_words)


@app.cell
def _(agreed):
    go = mo.ui.run_button(label="Spend it, and compute the answer", kind="warn", disabled=not agreed.value)
    go


@app.cell
def _(go, mine_words, output, set_asked):
    if go.value:
        tried(lambda: answer.ask(mine_words, output))
        set_asked(str(output))


@app.cell
def _(asked):
    asked()
    chosen = answer.choice()
    mo.vstack([*answer.failures(), *([chosen] if chosen.options else [])])


@app.cell
def _(chosen):
    mo.stop(chosen.value is None)
    release = tried(lambda: read_release(chosen.value))
    title = mo.ui.text(label="The title of the page; may stay empty", full_width=True)
    mo.vstack([answer.view(release, chosen.value), mo.md("## 6. What to keep"), title])


@app.cell
def _(chosen, ledger, release, set_written, title, written):
    commands = keep.commands(chosen.value, release, title.value)
    buttons = keep.buttons(commands, set_written)
    tried(lambda: keep.view(commands, buttons, written(), ledger))
