"""Every privacy claim verified, as far as a computer can: what `make audit` runs, beside the tests.

    python -m verification    writes the audit report, reports/audit, in a quarter of an hour

Here and not in the package stands what nobody needs who mines: the whole program sampled from file to release, mistakes
made around the mechanisms, the paper's small instances (`hard_instances`), and algorithms of Liu and Talwar (2019) that
no command uses (`private_candidates`). It stands outside the tests because it writes a report.
"""
