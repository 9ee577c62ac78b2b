"""Every lesson: `marimo edit notebooks/lesson.py -- --lesson margin`. The package holds words and computation."""

import marimo

app = marimo.App(width="medium", app_title="Lessons")


@app.cell
def _():
    import marimo as mo

    from fim_private.demos.course import DEMOS, find_demo
    from fim_private.demos.notebook import code_of, controls_of, head_of, result_of

    first = find_demo(mo.cli_args().get("lesson") or DEMOS[0].name)
    chosen = mo.ui.dropdown({demo.title: demo for demo in DEMOS}, value=first.title, label="Lesson")
    chosen
    return chosen, code_of, controls_of, head_of, result_of


@app.cell
def _(chosen, controls_of, head_of):
    lesson = chosen.value
    controls = controls_of(lesson)
    head_of(lesson)
    return controls, lesson


@app.cell
def _(controls):
    controls.vstack()


@app.cell
def _(controls, lesson, result_of):
    result_of(lesson, controls.value)


@app.cell
def _(code_of, lesson):
    code_of(lesson)


if __name__ == "__main__":
    app.run()
