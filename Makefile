# Two commands do everything on a fresh machine: `make run` and `make test`.
# Before another one that of the system, if it makes environments: Debian compiles it with profiles, pyenv does not, and
# an eighth of all that a server or a test computes lies between them.
SYSTEM := /usr/bin/python3.11
PYTHON ?= $(shell $(SYSTEM) -c 'import ensurepip' 2>/dev/null && echo $(SYSTEM) || command -v python3.11 || command -v python3)
HOST ?= 127.0.0.1
PORT ?= 8000
BIN := .venv/bin
TORCH := torch==2.13.0
# The index of CPU builds that torch's installation page names; the default one may bring gigabytes for graphics cards.
TORCH_INDEX ?=
# Four for two processors: some of them wait for a browser, a broker, or what a test has started.
WORKERS := -n 4 --no-loadscope-reorder
# What is compiled is kept: a test run starts some two hundred processes, and pytest rewrites each file of tests.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: run setup developed test suite wheel hashes release prove openedx quick mutants lint format tools benchmark pictures clean

run: setup
	$(BIN)/backhand serve --host $(HOST) --port $(PORT)

setup: .venv/.installed static/dist/manifest.json
developed: .venv/.developed static/dist/manifest.json

# torch first and alone where an index of its own is given; what is there then stays. All the rest in one call: each
# one looks at every package anew, and builds this project once more. Modules are compiled when they are imported, most
# never are; what a zygote imports is imported once here, since a zygote writes nothing.
PIP_INSTALL = $(BIN)/pip install --quiet --disable-pip-version-check --no-compile -c constraints.txt
define install
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed; found $$($(PYTHON) --version). Set PYTHON=/path/to/python3.11."; exit 1; }
	@$(PYTHON) -c 'import sys; v = sys.version_info; mended = {11: 10, 12: 6}.get(v[1], 0); v[2] < mended and print("Note: Python 3.%d.%d reads quoted cookies in quadratic time (CVE-2024-7592), 3.%d.%d does not. Backhand lets no quoted cookie come so far." % (v[1], v[2], v[1], mended))'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(if $(TORCH_INDEX),$(PIP_INSTALL) $(TORCH) --index-url '$(TORCH_INDEX)')
	$(PIP_INSTALL) --editable '.$(1)'
	$(BIN)/python -c 'import torch'
endef

.venv/.installed: pyproject.toml constraints.txt
	$(call install)
	touch $@

.venv/.developed: pyproject.toml constraints.txt
	$(call install,[dev])
	touch .venv/.installed $@

node_modules/.installed: package.json package-lock.json
	@command -v npm >/dev/null || { echo "npm (Node 20 or newer) is needed to build the scripts and styles."; exit 1; }
	npm ci --no-audit --no-fund --loglevel=error
	touch $@

static/dist/manifest.json: node_modules/.installed $(shell find static -path static/dist -prune -o -type f -print 2>/dev/null) $(wildcard app/kinds/*/*.js)
	npm run --silent build

# A wheel and a source distribution in dist/: with the course, scripts and styles.
wheel: developed
	$(BIN)/python -m hatchling build

# The packages of the image by hash. Those that torch brings for graphics cards are no part of it.
hashes: developed
	$(PIP_INSTALL) --editable '.[release]'
	$(BIN)/uv pip compile pyproject.toml --extra postgres --extra nats --constraint constraints.txt --python-version 3.11 \
		--generate-hashes --no-annotate --no-header --quiet | \
		awk '/^[a-z]/ {skipped = /^(torch|triton|nvidia|cuda)/} !skipped' >deploy/requirements.txt

# make release VERSION=1.2.0: version and heading, tests, wheel, commit and tag.
release: developed
	$(BIN)/python deploy/release.py '$(VERSION)'

tools:
	@bash tests/find-tools.sh

lint: .venv/.developed
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: .venv/.developed
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# On two processors: the scripts are built while packages come, and types are checked while tests run.
test:
	@$(MAKE) --no-print-directory --jobs=2 developed tools
	@$(MAKE) --no-print-directory --jobs=2 lint suite

suite: developed tools
	$(BIN)/pytest $(WORKERS) --durations=10

# What `make test` leaves out, and forty times as many examples of each fuzz test.
prove: developed
	@bash tests/find-tools.sh prove
	$(PIP_INSTALL) --editable '.[prove]'
	-$(MAKE) openedx
	EXAMPLES=20 $(BIN)/pytest $(WORKERS) --durations=10 -m "prove or hypothesis or in_turn" -o faulthandler_timeout=3600

# The platform code of Open edX, in an environment of its own: what it needs does not fit to what Backhand needs.
openedx: var/openedx/bin/python

var/openedx/bin/python:
	$(PYTHON) -m venv var/openedx
	var/openedx/bin/python -m pip install --quiet 'lti-consumer-xblock>=11,<12' 'pyjwt[crypto]' 'django<6'

# The tests that belong to what changed since main.
quick: developed
	@tests="$$($(BIN)/python -m tests.quick)"; [ -z "$$tests" ] || $(BIN)/pytest $(WORKERS) $$tests

# Two hundred single reversals of the code, and whether a test notices each, in copies of the tree. While lines are
# counted a search may meet the end of its time, and its test fails: that says nothing here. REACHED=1 counts none anew.
mutants: developed tools
	$(PIP_INSTALL) --editable '.[prove]'
	$(if $(REACHED),,-$(BIN)/pytest $(WORKERS) --cov=app --cov-context=test --cov-report= --ignore=tests/browser)
	$(BIN)/python -m tests.mutate $(if $(SEED),--seed $(SEED)) $(if $(PART),--every $(PART))

benchmark: developed
	$(BIN)/python -m benchmarks

# How every picture is drawn, every component looks, a lesson is read aloud, and what is said of wrong lines: what tests
# compare with. Look at it.
pictures: developed tools
	PICTURES=1 $(BIN)/pytest -m "prove or not prove" tests/engine/grade/test_said.py tests/web/pictures/test_drawn.py tests/browser/test_styleguide.py tests/browser/test_transcript.py

clean:
	rm -rf .venv node_modules static/dist
