"""The lesson pac-bounds: `marimo edit notebooks/pac-bounds.py`. The package holds words and computation."""

import marimo

app = marimo.App(width="medium", app_title="What a theorem promises, and when")


@app.cell
def _():
    from fim_private.demos.lessons.pac_learning import promises
    from fim_private.demos.notebook import code_of, controls_of, head_of, result_of

    lesson = promises.DEMO
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
