"""Teaching: short lessons, each with a question. The terminal, a notebook and a page show the same words.

A lesson is one file with its text, its controls and its computation. The computation is a pure function from the
settings of the controls to parts of a document (`demo.py`). `terminal.py`, `page.py` and `notebook.py` show the parts.
"""
