"""The lesson rules: `marimo edit notebooks/rules.py`. The package holds words and computation."""

import marimo

app = marimo.App(width="medium", app_title="What a published page of rules may say")


@app.cell
def _():
    from fim_private.demos.lessons import rules
    from fim_private.demos.notebook import code_of, controls_of, head_of, result_of

    lesson = rules.DEMO
    head_of(lesson)
    return code_of, controls_of, lesson, result_of


@app.cell
def _(controls_of, lesson):
    controls = controls_of(lesson)
    controls.vstack()
    return (controls,)


@app.cell
def _(controls, lesson, result_of):
    result_of(lesson, controls.value)


@app.cell
def _(code_of, lesson):
    code_of(lesson)


if __name__ == "__main__":
    app.run()
