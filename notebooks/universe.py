"""The lesson universe: `marimo edit notebooks/universe.py`. The package holds words and computation."""

import marimo

app = marimo.App(width="medium", app_title="Too many pairs that nobody bought")


@app.cell
def _():
    from fim_private.demos.lessons import universe
    from fim_private.demos.notebook import code_of, controls_of, head_of, result_of

    lesson = universe.DEMO
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
