# Two commands do everything on a fresh machine with Python >= 3.11 (with venv) and make:
#   make demo    set up .venv and run the main job on the data that ships
#   make test    set up .venv and run the test-suite
# Also: make slow (the tests that take seconds each), make spark (those of the engine on Spark; needs Java), make lowest
# (tests with the lowest versions that pyproject.toml allows), make audit (every privacy claim, half an hour),
# make mutants (would the tests notice? hours), make reports (all reports; an hour from nothing, minutes from kept
# results), make bench (how fast, beside others; half an hour), make reliability (the ledger under fire), make fuzz (a
# million hostile files, two hours), make notebooks (the lessons, with all controls), make check, make clean
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3; do \
	$$p -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
BIN := .venv/bin
# Bytecode is kept even where the machine is told not to: tests start hundreds of processes, a quarter of a second each.
export PYTHONDONTWRITEBYTECODE =

.PHONY: demo test lowest slow spark check audit mutants reports reliability fuzz bench notebooks lessons clean

demo: .venv/.demo
	$(BIN)/fim-private demo

test: .venv/.test
	$(BIN)/python -m pytest -n auto --dist worksteal

# What takes seconds each: whole reports, browsers, samplers of lists, twins that are caught by sampling.
slow: .venv/.test
	$(BIN)/python -m pytest -n auto --dist worksteal -m 'slow and not long'

# The engine on Spark, with two tasks at a time on this machine; needs Java 17 or newer.
spark: .venv/.test
	$(BIN)/python -m pytest -m 'spark and not long'

# The lowest versions that pyproject.toml allows, of the program's dependencies and of those of its tests. LOWEST=tests for
# all tests but those of Spark and browsers. Compiled code is kept apart, since each numba throws away what another one kept.
LOWEST ?= tests/test_packaging.py tests/cli/commands/test_compare.py tests/release tests/transactions/sources/test_frames.py
lowest: .venv-lowest/.test
	NUMBA_CACHE_DIR=$(CURDIR)/.venv-lowest/compiled .venv-lowest/bin/python -m pytest -n auto $(LOWEST)

check: .venv/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Long statistical tests with fresh seeds and against other libraries, then the audit report: reports/audit.
audit: .venv/.oracles
	$(BIN)/python -m pytest -n auto -m long
	$(BIN)/python -m verification

mutants: .venv/.test  # FILES=... for some of the files
	$(BIN)/python -m tests.mutants $(FILES)

# The comparison reports. Data sets that are not here are fetched, or looked for in DATA.
DATA ?= ../shared/data
reports: .venv/.demo
	$(BIN)/fim-private compare --config reports/online-retail-customers.toml
	$(BIN)/fim-private compare $(call found,groceries,groceries.csv.gz) --config reports/groceries.toml
	$(BIN)/fim-private compare $(call found,retail,retail.dat.gz) --config reports/retail.toml
	$(BIN)/python -m benchmarks.overview
	$(BIN)/python -m benchmarks.leverage_figure
	$(BIN)/python -m benchmarks.theory

found = $(or $(wildcard $(DATA)/$(2)),$$($(BIN)/fim-private datasets path $(1) || $(BIN)/fim-private datasets fetch $(1)))

# How fast it counts, beside its peers: reports/speed.md. QUICK=1: two minutes, into .bench/quick. LARGE=1: also 100 M
# baskets, which takes 8 GB of memory and 8 GB of disk.
bench: .venv/.bench
	$(BIN)/python -m benchmarks --data $(DATA) $(if $(QUICK),--quick) $(if $(LARGE),--large)

# The ledger with fifty processes at once and a thousand killed ones, in half an hour: reports/reliability.md.
reliability: .venv/.demo
	$(BIN)/python -m benchmarks.reliability

# A million hostile files in all, in two hours; its part of reports/reliability.md. INPUTS=10000 for fewer.
fuzz: .venv/.test
	$(BIN)/python -m tests.fuzz $(if $(INPUTS),--inputs $(INPUTS))

# The lessons as a notebook in a browser; and as the pages of reports/demos.
notebooks: .venv/.demos
	$(BIN)/marimo edit notebooks/lesson.py

lessons: .venv/.demo
	$(BIN)/fim-private demo all --output reports/demos --overwrite

.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer with venv is needed (Debian: apt-get install python3-venv)."; exit 1; }
	$(PYTHON) -m venv .venv

.venv/.demo: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

.venv/.test: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	@touch $@ .venv/.demo

# Without what only checks, drives a browser or is Spark: the tests of these are left out.
.venv-lowest/.test: pyproject.toml tests/lowest.py
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer with venv is needed (Debian: apt-get install python3-venv)."; exit 1; }
	$(PYTHON) -m venv .venv-lowest
	.venv-lowest/bin/python -m tests.lowest > .venv-lowest/lowest.txt
	grep -vE '^(mypy|ruff|pyspark|selenium)=' .venv-lowest/lowest.txt > .venv-lowest/wanted.txt
	.venv-lowest/bin/python -m pip install --quiet --disable-pip-version-check \
		--constraint .venv-lowest/lowest.txt --requirement .venv-lowest/wanted.txt --editable .
	@touch $@

.venv/.oracles: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test,oracles]'
	@touch $@ .venv/.test .venv/.demo

.venv/.demos: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[demos]'
	@touch $@ .venv/.demo

.venv/.bench: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	@touch $@ .venv/.demo

clean:
	rm -rf .venv .venv-lowest
