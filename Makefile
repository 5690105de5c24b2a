# Everything that a developer or a player runs. `make help` lists it.
#
# Law: each target sets up what it needs and no more; a second run of it installs nothing.
# Stamps live in the folders that they speak for (.venv, node_modules), so removing such a
# folder is enough to start over. All paths are relative: the checkout's path may hold spaces.

VENV := .venv
PYTHON_IN := $(VENV)/bin/python
RUNTIME := $(VENV)/.installed
DEV := $(VENV)/.installed-dev
NODE := node_modules/.installed

# What is passed on: make serve ARGS='--port 9000', make test PYTEST='-k chord'.
ARGS ?=
PYTEST ?=

# Two files of tests at a time; what compares times runs alone, afterwards. In their long forms
# all faults compare times.
ALONE := $(if $(DEMINEUR_FULL),alone or browser or faults,alone)
PARALLEL := -n 2 --dist loadfile -m 'not ($(ALONE))'
SERIAL := -m '$(ALONE)'
# Tests picked with PYTEST may all be in one of the two (pytest ends with 5 where it has none).
NONE_IS_WELL := $(if $(PYTEST),|| test $$? -eq 5)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help serve setup test test-full check format types docs bench load faults fuzz soak wheel clean

help: ## list these targets
	@grep -hE '^[a-z-]+:.*## ' Makefile | sed -E 's/:.*## /\t/' | while IFS="$$(printf '\t')" read -r name text; do printf '  make %-10s %s\n' "$$name" "$$text"; done

serve: $(RUNTIME) ## start the server and the web client; prints its addresses
	@$(VENV)/bin/demineur serve --host 0.0.0.0 $(ARGS)

setup: $(DEV) $(NODE) ## install everything for developing

test: setup ## check, then every test
	@.ci/missing redis node npm chromium haproxy openssl
	@$(MAKE) --no-print-directory check
	$(PYTHON_IN) -m pytest $(PARALLEL) $(PYTEST) $(NONE_IS_WELL)
	$(PYTHON_IN) -m pytest $(SERIAL) $(PYTEST) $(NONE_IS_WELL)

test-full: ## the same with the long forms of the fault and property tests
	@DEMINEUR_FULL=1 $(MAKE) --no-print-directory test

check: setup ## format, lint, types (Python and JavaScript), floors of the architecture
	@$(VENV)/bin/ruff format --check --quiet . || { echo 'make check: run "make format"'; exit 1; }
	@$(VENV)/bin/ruff check --quiet .
	@$(MAKE) --no-print-directory types
	@$(PYTHON_IN) -m pytest -q --no-header tests/test_architecture.py

types: setup
	@$(PYTHON_IN) -m mypy
	@node_modules/.bin/tsc --project tsconfig.json

format: $(DEV) ## put the code in the project's form
	@$(VENV)/bin/ruff format --quiet .
	@$(VENV)/bin/ruff check --quiet --fix .

docs: $(DEV) ## write docs/settings.md from the code
	@$(PYTHON_IN) .ci/settings_page.py >docs/settings.md.new && mv docs/settings.md.new docs/settings.md

bench: $(DEV) ## measure each part: the engine, the transport, the store
	@for bench in loadtest/bench_*.py; do echo "== $$bench"; $(PYTHON_IN) "$$bench" $(ARGS) || exit 1; done

load: $(DEV) ## race 40 simulated players for 30 s against a server of its own
	@$(PYTHON_IN) -m loadtest.run $(ARGS)

faults: export DEMINEUR_FULL := 1
faults: setup ## kill, pause, split and flood real processes, in full length
	$(PYTHON_IN) -m pytest tests/faults $(PYTEST)

fuzz: export DEMINEUR_FULL := 1
fuzz: setup ## 200,000 hostile frames against a real server
	$(PYTHON_IN) -m pytest tests/faults -k fuzz $(PYTEST)

soak: $(DEV) ## race for ten minutes and watch that memory stays flat
	@$(PYTHON_IN) -m loadtest.run --soak -t 10m $(ARGS)

wheel: $(DEV) ## build the wheel into dist/
	@$(PYTHON_IN) -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist .
	@ls dist/*.whl

clean: ## remove what these targets made (not .data)
	rm -rf $(VENV) node_modules build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis test-results

$(PYTHON_IN):
	@python=$$(.ci/find-python) && "$$python" -m venv $(VENV)

$(RUNTIME): pyproject.toml | $(PYTHON_IN)
	@echo 'Installing into $(VENV), once: about a minute.'
	@$(PYTHON_IN) -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(DEV): pyproject.toml | $(PYTHON_IN)
	@echo 'Installing into $(VENV) what developing needs, once: some minutes.'
	@$(PYTHON_IN) -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $(RUNTIME) $@

$(NODE): package.json
	@.ci/missing node npm
	@npm install --no-package-lock --no-audit --no-fund --silent
	@touch $@
