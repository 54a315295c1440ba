# The verbs of this project. Each does its own set-up.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
HISTORIES ?= 5000
SEED      := $(if $(SEED),$(SEED),$(shell date +%s))

.DEFAULT_GOAL := help
.PHONY: help install demo crash mechanisms soak histories test test-all coverage check format bench docs clean audit-quality audit-fuzz audit-bench effects-bench verify-faults backfill-crash performance

help: ## Show these lines
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install: $(STAMP) ## Make .venv with pinned versions

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
	  { echo "Setpoint needs Python 3.10 or newer: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)"; exit 1; }
	@echo "Making $(VENV) (once; a few minutes on a slow line) …"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[spark,postgres]' --group dev
	@touch $@

demo: $(STAMP) ## The incident, 430,000 rows or 250,000; then a whole shop, killed three times
	@$(BIN)/setpoint demo
	@$(BIN)/python -m examples.shop.night_of_crashes

test: $(STAMP) ## Run the tests, pure ones first
	$(BIN)/python -m tests.suite

test-all: $(STAMP) ## Run also the tests that make test samples
	$(BIN)/python -m tests.suite --all

coverage: $(STAMP) ## Lines of model/ and ledger/ that tests without Spark reach; 95 % at least
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest -q --ignore=tests/spark --ignore=tests/process --ignore=tests/shop --ignore=tests/crash
	$(BIN)/coverage combine -q
	$(BIN)/coverage report --include='*/setpoint/model/*' --fail-under=95
	$(BIN)/coverage report --include='*/setpoint/ledger/*' --fail-under=95

check: $(STAMP) ## Lint, types, import layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(STAMP) ## Format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

crash: $(STAMP) ## Kill runs at every failpoint and compare what is left; FULL=1 for all (ONLY="iceberg delta")
	$(BIN)/python -m tests.crash.matrix $(if $(FULL),--full) $(foreach each,$(ONLY),--only $(each))

mechanisms: $(STAMP) ## Run each scenario's test without its mechanism, and see it fail
	$(BIN)/python -m tests.mechanisms.prove

soak: $(STAMP) ## Readers during a thousand replaces of a Postgres mart
	SETPOINT_REPLACES=1000 $(BIN)/python -m pytest tests/spark/postgres/test_readers.py

backfill-crash: $(STAMP) ## Kill a backfill at 20 random moments; the same command goes on
	SETPOINT_KILLS=20 $(BIN)/python -m pytest -s tests/process/test_backfill_crash.py -k random

performance: $(STAMP) ## Measure how a backfill's cost grows, and write docs/performance.md with its plot
	$(BIN)/python -m bench.growth

histories: $(STAMP) ## Thousands of random histories of runs, deaths and takeovers (SEED=n replays)
	SETPOINT_HISTORIES=$(HISTORIES) $(BIN)/python -m pytest -q tests/leases/test_histories.py --hypothesis-seed=$(SEED)
	@echo "$(HISTORIES) histories of seed $(SEED): no wrong table"

verify-faults: $(STAMP) ## Every check on every planted fault and on every sound case
	SETPOINT_EVERY_CHECK=1 $(BIN)/python -m pytest -q --all tests/process/test_verify_scripts.py tests/spark/test_verify_faults.py

bench: $(STAMP) ## Measure; a table and JSON lines
	$(BIN)/python -m bench.run

effects-bench: $(STAMP) ## Kill senders of 10,000 effects at random; effects a second
	$(BIN)/python -m bench.effects

docs: $(STAMP) ## Write the pages that are generated
	$(BIN)/python -m setpoint.auditing.docs docs/rules
	$(BIN)/python -m setpoint.cli.reference > docs/cli.md

audit-quality: $(STAMP) ## Precision and recall of the audit on labelled cases
	$(BIN)/python tests/audit/quality.py

audit-fuzz: $(STAMP) ## Audit 10,000 broken files: no crash, no hang, none over 2 s
	$(BIN)/python -m tests.audit.fuzz

audit-bench: $(STAMP) ## Measure the audit of 1,000 files, cold and again
	$(BIN)/python -m bench.audit

clean: ## Remove what the other verbs made
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis bench/out
