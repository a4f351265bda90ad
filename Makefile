# Two commands: `make book` renders the book, `make test` runs everything CI holds us to.
PROFILE ?= quick
DEVICE  ?= cpu
JOBS    ?=
PYTHON  ?= python3
PORT    ?= 8000

BIN  := .venv/bin
PIP  := $(BIN)/python -m pip install --quiet --disable-pip-version-check
HIER := $(BIN)/hier
RUN_OPTIONS := --profile $(PROFILE) --device $(DEVICE) $(if $(JOBS),--jobs $(JOBS))

.PHONY: book test check serve bench lock clean data help

help:  ## show this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

# The lock first, every file of it checked by its hash. Then torch, apart because its build is the machine's (CPU or CUDA): what
# it needs beside CUDA is there by then and stays as it is. Then this package, built with what the lock brought.
.venv/ready: requirements.lock requirements-torch.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "make: Python 3.11 or newer is needed; set PYTHON=..." >&2; exit 2; }
	$(PYTHON) -m venv .venv
	$(PIP) --require-hashes --only-binary :all: -r requirements.lock
	$(PIP) -r requirements-torch.txt
	$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@

data: .venv/ready  ## fetch the image data the pages use (a set that cannot be had is reported, its pages are skipped)
	@$(HIER) data --profile $(PROFILE) || true

book: data  ## run every page and render the book to _build/html
	$(HIER) run $(RUN_OPTIONS)
	$(HIER) book --profile $(PROFILE) --device $(DEVICE)

test: .venv/ready  ## lint, types, unit tests, every page at smoke and quick, numbers, book, browser
	@JOBS=$(JOBS) tests/stages

check: .venv/ready  ## the quick part of it, for every few minutes: lint, types, fast unit tests
	@tests/stages check

serve: .venv/ready  ## serve the rendered book on this machine
	@echo "http://localhost:$(PORT)"; $(BIN)/python -m http.server $(PORT) --bind 127.0.0.1 --directory _build/html

bench: .venv/ready  ## side-by-side measurements, written to benchmarks/RESULTS.md
	$(BIN)/python -m benchmarks

lock: .venv/ready  ## resolve pyproject.toml into requirements.lock and environment.yml; pins that are there are kept
	$(BIN)/python tools/lock.py

clean:  ## remove everything that was built (not the environment, not the data)
	rm -rf _build book/ledger.md book/gallery.md book/errata.md book/status.md book/api.md
	rm -rf book/_static/thumbs book/_static/mathjax book/_static/source book/_static/data book/_static/figures
	find notebooks -name '*.ipynb' -delete
