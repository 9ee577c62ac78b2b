"""Teaching: short lessons with a question each, told in the terminal, in a notebook and on a page by the same words.

A lesson is one file: its text, its controls and its computation, pure functions from the settings of the controls to
parts of a document (`demo.py`). How these are shown is not its business (`terminal.py`, `page.py`, `notebook.py`).
"""
