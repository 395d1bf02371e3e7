# Two commands do everything on a fresh machine: `make test` and `make train`. Set-up is part of both.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
JOBS ?= 2

.PHONY: help setup browser test lint verify bench libraries golden format clean train

help:
	@echo "make test       set up, lint, type-check and run the tests"
	@echo "make train      set up, then train, export and evaluate an opponent (about five minutes)"
	@echo "make verify     the long checks: 20,000 games against the reference rules, and more"
	@echo "make bench      speed, side by side with other libraries"
	@echo "make libraries  train a little with every supported RL library"
	@echo "make golden     write the golden playthroughs anew (then read the diff)"

setup: $(READY)

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'byzanz_env needs Python 3.11 or newer')"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The tests of the web page drive Debian's chromium; without it they fail and say so.
browser:
	@command -v chromium > /dev/null || \
	  { $$(test "$$(id -u)" = 0 || echo sudo) sh -c 'apt-get update && apt-get install -y --no-install-recommends chromium'; } || \
	  echo "chromium cannot be installed here: the tests of the web page will fail"

test: $(READY) browser lint
	$(BIN)/python -m pytest -n $(JOBS) --dist loadgroup
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -q -m plain -n $(JOBS)

train: $(READY)
	$(BIN)/python -m training configs/quick.toml

# The long checks, one command per line.
verify: $(READY)
	$(BIN)/python -m tests.verify --games 20000 --jobs $(JOBS)
	NUMBA_BOUNDSCHECK=1 $(BIN)/python -m tests.verify --games 400 --jobs $(JOBS)
	NUMBA_BOUNDSCHECK=1 $(BIN)/python -m pytest -q -m plain
	$(BIN)/python -m tests.training.kill_runs 500

golden: $(READY)
	$(BIN)/python -m tests.byzanz.golden

format: $(READY)
	$(BIN)/ruff check --fix --quiet .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) build *.egg-info .pytest_cache .mypy_cache .ruff_cache

BENCH := .venv-bench/bin/python

.venv-bench/.ready: pyproject.toml byzanz_env/bench/peers.txt
	$(PYTHON) -m venv .venv-bench
	$(BENCH) -m pip install --quiet --disable-pip-version-check --editable . matplotlib
	@while read -r peer; do \
	  $(BENCH) -m pip install --quiet --disable-pip-version-check "$$peer" || echo "$$peer cannot be installed here: not measured"; \
	done < byzanz_env/bench/peers.txt
	@touch $@

bench: .venv-bench/.ready
	$(BENCH) -W ignore -m byzanz_env.bench --peers --out byzanz_env/bench/results

.venv-%/.ready: training/libraries/requirements/%.txt pyproject.toml
	$(PYTHON) -m venv .venv-$*
	.venv-$*/bin/python -m pip install --quiet --disable-pip-version-check --requirement $< --editable .
	@touch $@

libraries: $(READY) .venv-libraries/.ready .venv-rllib/.ready .venv-agilerl/.ready
	$(BIN)/python -m training.libraries
