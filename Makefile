# Two commands matter: `make demo` shows the whole thing working, `make test` proves it. Both set up what they need.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.ONESHELL:
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.set-up

.PHONY: help setup demo test test-slow check format bench train lock messages clean

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

setup: $(STAMP) ## a virtual environment with everything in requirements.lock, hashes checked

# uv is quick and comes from the package index like everything else; where it cannot be had, pip does the same slower.
$(STAMP): requirements.lock pyproject.toml
	@started=$$SECONDS
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
		echo "Python 3.11 or later is needed; this is $$($(PYTHON) --version). Say: make PYTHON=/path/to/python3.11 setup" >&2
		exit 2
	}
	echo "Setting up $(VENV) ..."
	[ -x $(BIN)/python ] || $(PYTHON) -m venv $(VENV)
	if $(BIN)/python -m pip install --quiet --disable-pip-version-check uv; then
		$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements.lock
		$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation -e .
	else
		$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
		$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	fi
	touch $(STAMP)
	echo "Set up in $$((SECONDS - started)) s."

demo: setup ## eight questions over the shipped corpus: every path of the pipeline, no key, no network
	@$(BIN)/tadasu demo --temporary

test: setup ## the tests that every change must pass
	@$(BIN)/python -m pytest -m "not slow" -n 2 --dist worksteal

test-slow: setup ## the longer suites too
	@$(BIN)/python -m pytest -m slow

check: setup ## format, lint, types, contracts between packages, dependencies
	@$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/deptry .

format: setup ## put the format right
	@$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: setup ## every benchmark, side by side with its alternatives; prints tables
	@for program in encoder store segmentation retrieval grading_features grading cache refinement reading answers grounding ingest overhead answering; do
		echo "== benchmarks/$$program.py"
		$(BIN)/python -m benchmarks.$$program
	done

train: setup ## what is needed to make the models anew (see docs/how-to/train.md)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group train

lock: setup ## requirements.lock anew from pyproject.toml
	@$(BIN)/uv pip compile pyproject.toml --group dev --all-extras --universal --generate-hashes --no-header --no-emit-index-url --quiet --output-file requirements.lock

messages: setup ## compile the message catalogues
	@$(BIN)/pybabel compile --domain tadasu --directory src/tadasu/text/locales

clean: ## remove what was built
	@rm -rf $(VENV) dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -prune -exec rm -rf {} +
