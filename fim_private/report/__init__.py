"""Words, tables, pages and figures for people.

`document` is what a page or a report is made of, and how it is written. `pages` are those of a release and of a plan,
`comparison` is the report of experiments, `audit` the one on the claims of the mechanisms. `statement` and the tables
are for a terminal as well; they are made from releases and plans alone.
"""
