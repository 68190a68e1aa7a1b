.DEFAULT_GOAL := help
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
CONFIG ?= configs/breast_cancer.yaml
ROOMS := cli configs datasets experiments methods

$(VENV)/.installed: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "mmc needs Python 3.11 or newer; set PYTHON=/path/to/python"; exit 2; }
	@echo "Setting up $(VENV): the packages of requirements.lock, about 2 GB. This takes a minute or two, in silence."
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -e .
	@touch $@

.PHONY: run test lint bench scaling reproduce-tables reproduce-all check-tables fuzz readme docs lock clean help

run: $(VENV)/.installed  ## set up, then run one experiment (CONFIG=configs/breast_cancer.yaml)
	$(BIN)/mmc run $(CONFIG)

test: lint  ## set up, then lint, check types and run all tests
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto

lint: $(VENV)/.installed  ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@mkdir -p build/types/mmc && cd build/types/mmc && ln -sfn $(foreach d,$(ROOMS),../../../$d) ../../../mmc/*.py* .
	@rm -rf build/imports && mkdir -p build/imports && cp -r mmc build/imports && cp -r $(ROOMS) build/imports/mmc
	cd build/imports && $(abspath $(BIN))/lint-imports --no-logo --no-cache --config ../../pyproject.toml
	MYPYPATH=build/types $(BIN)/mypy -p mmc -p benchmarks

bench: $(VENV)/.installed  ## speed, as ratios to what a user would pick instead
	$(BIN)/python -m benchmarks

scaling: $(VENV)/.installed  ## time and memory over the number of points, to results/scaling (needs mnist)
	$(BIN)/python -m benchmarks scaling

reproduce-tables: $(VENV)/.installed  ## every table of every paper, but those that take more than ten minutes each
	$(BIN)/mmc run --all
	$(BIN)/mmc report --out report.html

reproduce-all: $(VENV)/.installed  ## every table of every paper
	$(BIN)/mmc run --all --long
	$(BIN)/mmc report --out report.html

check-tables: $(VENV)/.installed  ## run every table anew and compare with the committed results
	$(BIN)/mmc check --all

fuzz: $(VENV)/.installed  ## attack configs, files, estimators, stores and running processes, seeded (about an hour)
	$(BIN)/python -m tests.fuzz.configs --count 20000 --seed 0
	$(BIN)/python -m tests.fuzz.files --count 3000 --seed 0
	$(BIN)/python -m tests.fuzz.estimators --count 1650 --fits 7 --seed 0
	$(BIN)/python -m tests.fuzz.stores
	$(BIN)/python -m tests.fuzz.kills

readme: $(VENV)/.installed  ## make the scoreboard of README.md and what docs/ says of results/ anew
	$(BIN)/python -m mmc.experiments.readme

docs: $(VENV)/.installed  ## the documentation as a site, into build/docs; broken links are errors
	$(BIN)/python -m sphinx -q -W --keep-going -b html -d build/doctrees docs build/docs
	@echo "written to build/docs/index.html"

lock: $(VENV)/.installed  ## pin every dependency anew
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --python-version 3.11 --no-emit-index-url --extra dev -o requirements.lock pyproject.toml

clean:  ## remove the virtual environment, caches and your own runs
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache runs

help:  ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 20
