# Two commands do everything on a machine with Python 3.11 or later: `make demo` and `make test`.
# `make help` lists the others.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
READY  := $(VENV)/.ready
FLOWER := .venv-flower
# Modules are compiled once, also where the machine says not to: the tests start the command hundreds of times.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test test-all audit check test-slow test-flower attack coverage lint types docs wheel release lint-workflows bench requirements clean help

demo: $(READY)  ## install, learn a known network from simulated data, write demo/report.html
	$(BIN)/dagora demo -o demo

# What every machine runs: large inputs (slow), peers and Flower have commands of their own.
ALWAYS := not slow and not peer and not flower
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal

test: $(READY)  ## lint, types, and tests of every room, in minutes: what every change must pass
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy & types=$$!; $(PYTEST) -m "$(ALWAYS) and not full"; tests=$$?; wait $$types; types=$$?; \
	echo "exit codes: types $$types, tests $$tests"; test $$types$$tests = 00

test-all: lint types  ## everything: also processes, documents, the site, browsers, hostile input
	$(PYTEST) -m "$(ALWAYS)"

# Part of test-all, too.
audit: $(READY)  ## recompute verdicts and numbers of README and docs from kept cells, CSV files and tables of benchmarks
	$(BIN)/python -m pytest -n 0 -m "$(ALWAYS)" tests/documents/test_kept_cells.py tests/documents/test_numbers.py \
	tests/documents/test_site_pages.py tests/documents/test_words_about_papers.py tests/papers/test_sources.py

check: lint types  ## the inner loop: lint, types, and the tests that the changes since main concern
	tests=$$($(BIN)/python -m building.changed_tests) && \
	$(BIN)/python -m pytest -n 0 -m "$(ALWAYS) and not full" tests/test_imports.py $$tests

test-slow: $(READY)  ## every test: also large inputs, and comparisons with peers that `make bench` installed
	$(BIN)/python -m pytest -m "not flower"

# Flower pins packages of its own, so it has an environment of its own.
test-flower:  ## install Flower beside dagora in .venv-flower, and run real SuperLinks and SuperNodes
	test -x $(FLOWER)/bin/python || $(PYTHON) -m venv $(FLOWER)
	$(FLOWER)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r requirements.txt
	$(FLOWER)/bin/python -m pip install --quiet --disable-pip-version-check --no-build-isolation -e '.[flower]'
	$(FLOWER)/bin/python -m pytest -p no:xdist -m flower tests/flower

# At most ten minutes: what draws at random, one after the other, for 540 seconds in all. A failure names the seed;
# a test that does not end is ended.
attack: $(READY)  ## attack door, questions, messages, files and page at random, for ten minutes at most
	DAGORA_ATTACKS=1000000 DAGORA_ATTACK_SECONDS=540 DAGORA_ATTACK_SEED=$${DAGORA_ATTACK_SEED:-$$(date +%s)} \
	timeout 600 $(BIN)/python -m pytest -n 0 -s -m fuzz tests/attacks

coverage: $(READY)  ## the suite of `make test-all`, and the share of lines and branches that it runs
	$(PYTEST) -m "$(ALWAYS)" --cov --cov-report=term

lint: $(READY)  ## ruff: rules and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)  ## mypy, strict
	$(BIN)/mypy

docs: $(READY)  ## build/site: the documentation as a site; a warning is an error
	$(BIN)/python building/site.py build/site

wheel: $(READY)  ## dist/: a wheel for this Python and kind of processor that brings its kernels compiled
	$(BIN)/python building/compile_kernels.py build/kernels
	DAGORA_KERNELS=build/kernels $(BIN)/python -m hatchling build -t wheel

release: $(READY)  ## dist/: sdist, pure wheel and the wheel of `make wheel`, each installed anew and tried with the demo
	rm -rf dist
	$(BIN)/python -m hatchling build -t sdist -t wheel
	$(MAKE) wheel
	$(BIN)/python building/release.py dist

lint-workflows:  ## check .github/workflows by the schema of workflows and by zizmor (needs uv)
	uvx check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	uvx zizmor --offline .github/workflows

# Peers are installed in environments of their own; the tables in the README and docs/ come from here.
bench: $(READY)  ## install the peers and measure the comparisons with them
	$(BIN)/python benchmarks/peers.py
	$(BIN)/python benchmarks/agreement.py
	$(BIN)/python benchmarks/defaults.py
	$(BIN)/python benchmarks/hill_climbing.py
	$(BIN)/python benchmarks/climb_seeds.py
	$(BIN)/python benchmarks/large_table.py
	$(BIN)/python benchmarks/local_scores.py
	$(BIN)/python benchmarks/exact.py
	$(BIN)/python benchmarks/queries.py
	$(BIN)/python benchmarks/distances.py
	$(BIN)/python benchmarks/identification.py
	$(BIN)/python benchmarks/orders.py
	$(BIN)/python benchmarks/boss.py
	$(BIN)/python benchmarks/direct_lingam.py
	$(BIN)/python benchmarks/wide.py
	$(BIN)/python benchmarks/notears.py
	$(BIN)/python benchmarks/dynotears.py
	$(BIN)/python benchmarks/pcmci.py --peer --wide
	$(BIN)/python benchmarks/hidden_in_time.py
	$(BIN)/python benchmarks/federated.py
	$(BIN)/python benchmarks/private.py
	$(BIN)/python benchmarks/privacy.py
	$(BIN)/python benchmarks/samplers.py
	$(BIN)/python benchmarks/gp_scores.py
	$(BIN)/python benchmarks/mixed.py
	$(BIN)/python benchmarks/rbnets.py

# The environment: pinned and hashed packages of all extras, then dagora itself. The pins are complete, so pip
# looks for no dependencies of its own: it would take a newer coverage[toml] for another package than the pinned one.
# Bytecode is made when a module is first imported, which halves the time to install; so do two pips, each for
# every other package.
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps
$(READY): requirements.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "dagora needs Python 3.11 or later; set PYTHON=python3.x")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	awk '/^[^ #]/ { half = 1 - half } { print > "$(VENV)/half" half }' requirements.txt
	$(PIP) --require-hashes --no-compile -r $(VENV)/half0 & other=$$!; \
	$(PIP) --require-hashes --no-compile -r $(VENV)/half1; one=$$?; wait $$other && test $$one = 0
	$(PIP) --no-build-isolation -e .
	touch $(READY)

# Write the pins anew (needs uv).
requirements:  ## write requirements.txt anew from pyproject.toml (needs uv)
	uv pip compile --quiet --universal --generate-hashes --no-header --python-version 3.11 --extra runtime --extra bench --extra dev pyproject.toml -o requirements.txt

clean:  ## remove the environment and everything else that was made here
	rm -rf $(VENV) $(FLOWER) demo build/site build/site-remembered .coverage .mypy_cache .ruff_cache .pytest_cache .hypothesis

help:  ## list these commands
	@awk -F ':.*##' '/^[a-z-]+:.*##/ { printf "make %-14s%s\n", $$1, $$2 }' Makefile
