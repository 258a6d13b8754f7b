# Everything a person does with this repository. Only make and a system Python (3.11 or 3.12) are assumed.
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PIP := -m pip --quiet --disable-pip-version-check

# The first Python that can make an environment and that flytekit allows; set PYTHON to choose another.
USABLE := import ensurepip, sys, venv; sys.exit(not (3, 11) <= sys.version_info < (3, 13))
PYTHON ?= $(shell for python in python3 python3.12 python3.11 python; do \
  $$python -c '$(USABLE)' >/dev/null 2>&1 && echo $$python && break; done)

# Scripts and the editable install know their folder by its full path: an environment that was moved, or whose Python is
# gone, is made anew.
INTACT := $(shell [ "$$($(BIN)/python -c 'print(open("$(STAMP)").read().strip())' 2>&1)" = "$(CURDIR)" ] && echo yes)
ifneq ($(INTACT),yes)
.PHONY: bench $(STAMP)
endif

.DEFAULT_GOAL := help
.PHONY: bench help setup demo test check docs diagram constraints services services-kubernetes

help: ## list the targets
	@echo 'Propwash: an asynchronous, event-driven workflow engine for flytekit workflows'
	@echo
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-20s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup: $(STAMP) ## make the environment .venv in the repository root

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c '$(USABLE)' >/dev/null 2>&1 || { echo 'This needs Python 3.11 or 3.12 (flytekit allows no newer) with its' \
	  'venv module (on Debian and Ubuntu: python3-venv). To name one: make setup PYTHON=/path/to/python3' >&2; exit 1; }
	@$(if $(INTACT),,$(PYTHON) -m venv --clear $(VENV))
	@echo 'installing the pinned packages into $(VENV); the first time this takes about a minute'
	@PIP_CONSTRAINT=constraints.txt PIP_BUILD_CONSTRAINT=constraints.txt \
	  $(BIN)/python $(PIP) install --editable '.[flytekit,dev]'
	@pwd -P > $(STAMP)

demo: $(STAMP) ## run the big-map example on the embedded default and explain what happened
	@$(BIN)/python examples/demo.py

test: check ## check the code, then run every test
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile

services: $(STAMP) ## start what tests use, until Ctrl-C: Kafka, S3, Kubernetes (docs/operations.md says how to use them)
	@$(BIN)/python -m tests.backing

services-kubernetes: $(STAMP) ## build a Kubernetes API server for tests, with Go, once for all checkouts of a user
	@$(BIN)/python -m tests.backing.kubernetes

bench: $(STAMP) ## measure speed beside a reference (ONLY=W3 for one figure)
	$(BIN)/python -m benchmarks $(ONLY)

chaos: $(STAMP) ## kill engines at every place and at random moments, and check what is left (about 40 minutes)
	$(BIN)/python -m tests.chaos $(SEED)
	$(BIN)/python -m tests.service.fleet_chaos 120 $(SEED)

check: $(STAMP) ## style, types, and the floors of the house
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: diagram ## write the generated pages anew: configuration, events and the phase diagram
	$(BIN)/python -m config.reference > docs/configuration.md
	$(BIN)/python -m engine.wire.eventpage

diagram: $(STAMP) ## write the phase diagram of ARCHITECTURE.md anew from the transition table
	@$(BIN)/python -c 'import pathlib, re; from engine.model.phases import mermaid; page = pathlib.Path("ARCHITECTURE.md"); \
	  page.write_text(re.sub(r"(?s)```mermaid\nstateDiagram.*?```", f"```mermaid\n{mermaid()}\n```", page.read_text()))'

constraints: ## pin the newest versions that pyproject.toml allows (constraints.txt)
	$(PYTHON) -m venv --clear $(VENV)-pins
	$(VENV)-pins/bin/python $(PIP) install --editable '.[flytekit,dev]'
	echo '# What make setup installs and the tests ran with. Written by make constraints.' > constraints.txt
	$(VENV)-pins/bin/python $(PIP) freeze --all --exclude pip --exclude-editable >> constraints.txt
	rm -rf $(VENV)-pins
