"""The lessons as a notebook: `make notebooks`. Words and computation are in `fim_private/demos/`, a file a lesson."""

import marimo

app = marimo.App(width="medium", app_title="Private selection: lessons")


@app.cell
def _():
    import marimo as mo

    from fim_private.demos.course import DEMOS
    from fim_private.demos.demo import find_demo
    from fim_private.demos.notebook import controls_of, head_of, result_of

    return DEMOS, controls_of, find_demo, head_of, mo, result_of


@app.cell
def _(DEMOS, mo):
    # A lesson can be named after "--": marimo run notebooks/lessons.py -- --lesson margin
    asked = mo.cli_args().get("lesson") or DEMOS[0].name
    titles = {each.name: each.title for each in DEMOS}
    lesson = mo.ui.dropdown({title: name for name, title in titles.items()}, value=titles[asked], label="Lesson")
    lesson
    return (lesson,)


@app.cell
def _(DEMOS, controls_of, find_demo, head_of, lesson, mo):
    demo = find_demo(DEMOS, lesson.value)
    controls = controls_of(demo)
    mo.vstack([head_of(demo), controls.vstack()])
    return controls, demo


@app.cell
def _(controls, demo, result_of):
    result_of(demo, controls.value)


if __name__ == "__main__":
    app.run()
