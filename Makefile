# Everything a person does with this repository. Only make and a system python3 (3.11 or newer) are assumed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: help setup demo test check

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 16

setup: $(STAMP) ## make the environment .venv in the repository root

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "propwash needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Set PYTHON=/path/to/python3.11")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt --editable '.[flytekit,dev]'
	touch $(STAMP)

demo: $(STAMP) ## run the big-map example on the embedded default and explain what happened
	$(BIN)/python examples/demo.py

test: $(STAMP) ## check the code, then run every test
	$(MAKE) --no-print-directory check
	$(BIN)/python -m pytest

check: $(STAMP) ## lint, types and floors
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
