# Everything runs in .venv, which is made on first use. Needed beforehand: make, Python 3.11 or newer.
# The demo needs eke alone; whatever checks, tests or measures needs the rest as well.

PYTHON  ?= python3
WORKERS ?= 2
BIN     := .venv/bin
BASE    := .venv/.base
STAMP   := .venv/.installed
DEMO    := $(BIN)/eke demo

# One thread per worker: the tests run side by side and BLAS would otherwise fight over the cores.
PYTEST  := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 NUMBA_NUM_THREADS=1 MPLBACKEND=Agg $(BIN)/pytest

# Bytecode is kept, whatever the shell says: thousands of processes would compile NumPy again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help .venv servers demo browser test suite lint test-long audit mutants reference format bench reproductions clean

help: ## this list
	@awk -F ':.*## ' '/^[.a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.venv: $(STAMP) ## the environment of the tests, with the exact versions of constraints.txt

# -qq: pip's errors are shown, its remarks about package locations are not. Most of what is
# installed is never imported by the demo: --no-compile leaves the rest to whoever imports it.
INSTALL := $(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt

$(BASE): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "eke needs Python 3.11 or newer; '$(PYTHON)' is missing or older." >&2; \
	  echo "Name another one: make PYTHON=python3.12 $(or $(MAKECMDGOALS),help)" >&2; exit 1; }
	@echo "Installing eke into .venv (about a minute the first time)"
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(INSTALL) --no-compile -e .
	@touch $@

$(STAMP): $(BASE)
	@echo "Installing what the tests need into .venv (a few minutes the first time)"
	@$(INSTALL) -e '.[dev]'
	@touch $@

demo: $(BASE) ## a guided tour on the Adult table
	@$(DEMO)

# The tests start a PostgreSQL server of their own, and Spark, which needs Java; power cuts are
# simulated from what strace records. PostgreSQL's drivers for ODBC and JDBC ask eke as well.
servers: ## PostgreSQL with ODBC and JDBC, Java and strace for the tests, installed when run as root on Debian or Ubuntu
	@missing=; \
	ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null || test -n "$$PG_BIN" || missing="postgresql"; \
	command -v java >/dev/null || test -n "$$JAVA_HOME" || missing="$$missing default-jre-headless"; \
	command -v strace >/dev/null || missing="$$missing strace"; \
	find -L /usr/lib* /usr/local/lib -maxdepth 3 -name libodbc.so.2 2>/dev/null | grep -q . || missing="$$missing unixodbc"; \
	find -L /usr/lib* /usr/local/lib -maxdepth 4 -name psqlodbcw.so 2>/dev/null | grep -q . || missing="$$missing odbc-postgresql"; \
	test -e "$${PG_JDBC:-/usr/share/java/postgresql.jar}" || missing="$$missing libpostgresql-jdbc-java"; \
	test -z "$$missing" && exit 0; \
	if test "$$(id -u)" = 0 && command -v apt-get >/dev/null; then \
	  echo "Installing $$missing"; apt-get update -qq && \
	  DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $$missing >/dev/null; \
	else \
	  echo "The tests need: $$missing. Install them (apt-get install $$missing, or the same of your" >&2; \
	  echo "system), or run make as root; PG_BIN=... names another folder with initdb, PG_JDBC=... the" >&2; \
	  echo "driver for JDBC." >&2; exit 1; fi

# Root can install the system's Chromium with all it needs; others get Playwright's own copy, which
# needs libraries that most desktops have.
browser: $(STAMP) ## Chromium for the tests of the console, unless there is one
	@command -v chromium chromium-browser google-chrome google-chrome-stable >/dev/null \
	  || test -x "$$($(BIN)/python -c 'from playwright.sync_api import sync_playwright as s; p = s().start(); print(p.chromium.executable_path); p.stop()')" \
	  || { echo "Installing Chromium for the tests of the console"; \
	    if test "$$(id -u)" = 0 && command -v apt-get >/dev/null; \
	    then apt-get -qq update && apt-get -qq install -y --no-install-recommends chromium >/dev/null; \
	    else $(BIN)/playwright install chromium; fi; } \
	  || { echo "Install Chromium by hand (a package called chromium) and run make again." >&2; exit 1; }

# Types are checked beside the tests: they leave a core idle, and so do the last tests.
test: servers browser ## every check, and all tests but the long ones
	@$(MAKE) --no-print-directory -j2 lint suite

suite: $(STAMP)
	$(PYTEST) -n $(WORKERS) --dist worksteal --durations=10

lint: $(STAMP) ## ruff, mypy and the layer contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test-long: $(STAMP) servers browser ## the long tests: big audits, crashes, races
	$(PYTEST) -n $(WORKERS) --dist worksteal --durations=10 -m long

audit: $(STAMP) servers ## the scoreboard of privacy and reliability, in full, into docs/security.md
	$(BIN)/python audits/run.py --jobs $(WORKERS) --keep .audit --write docs/security.md

mutants: $(STAMP) ## small changes of the release path that no test notices, into audits/mutants.json
	@$(INSTALL) -e '.[mutants]'
	MPLBACKEND=Agg $(BIN)/python audits/mutants.py --jobs $(WORKERS)

reference: $(STAMP) ## docs/reference/python.md, from the docstrings
	$(BIN)/python docs/generator/run.py

format: $(STAMP) ## let ruff rewrite the sources
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(STAMP) ## the timed comparisons in benchmarks/
	@set -e; for script in benchmarks/*.py; do \
	  test -e "$$script" || { echo "benchmarks/ holds no scripts"; exit 1; }; \
	  echo "== $$script"; $(BIN)/python "$$script"; done

# As many papers side by side as there are workers, each on one core, the longest first. What one
# prints comes in one piece when it is done; until then it grows in build/reproductions/PAPER.log.
# One that fails does not stop the others, and fails the whole.
PAPERS := online hist bayes comp cube

reproductions: $(STAMP) ## the experiments of the papers, in full; KEEP=--keep writes them into the READMEs
	@$(MAKE) --no-print-directory --keep-going -j$(WORKERS) $(PAPERS:%=reproduction-%)

.PHONY: $(PAPERS:%=reproduction-%)
$(PAPERS:%=reproduction-%): reproduction-%: $(STAMP)
	@mkdir -p build/reproductions
	@echo "== reproductions/$*/run.py, into build/reproductions/$*.log"
	@OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 NUMBA_NUM_THREADS=1 MPLBACKEND=Agg PYTHONUNBUFFERED=1 \
	  $(BIN)/python reproductions/$*/run.py --workers 1 $(KEEP) >build/reproductions/$*.log 2>&1; \
	status=$$?; echo "== reproductions/$*/run.py"; cat build/reproductions/$*.log; exit $$status

clean: ## remove the environment and everything generated
	rm -rf .venv .audit .mutants .superset build dist src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +
