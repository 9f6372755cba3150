# make venv    environment with all extras in .venv, pinned versions
# make test    the default tests: CPU, offline, a few minutes, in two processes (WORKERS= changes that)
# make check   what CI asks of a change: lint, test, exhaustive, page and browser
# make serve   the REST API and its page on http://127.0.0.1:8000 (HOST=, PORT=, MODEL= change that)
# make lint    ruff and mypy --strict
# make audit   known vulnerabilities of the pinned packages, looked up on PyPI
#
# make exhaustive     tests of more cases than the default ones
# make page           types of the page's scripts; needs npm
# make browser        tests that drive the page in headless Chromium; needs chromedriver
# make newest-torch   import and translate on the newest torch that can be had, newer than the tested one perhaps
#
# Needs Python 3.11 or later (PYTHON= names another one) and nothing else. To take torch from another
# index, such as PyTorch's own for CPU builds, set TORCH_INDEX=URL.

PYTHON ?= python3
HOST ?= 127.0.0.1
PORT ?= 8000
MODEL ?=
TORCH_INDEX ?=
WORKERS ?= 2
PYTEST_ARGS ?=

VENV := .venv
READY := $(VENV)/.ready

.PHONY: venv test check exhaustive page browser serve lint format tables audit newest-torch

venv: $(READY)

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "$(PYTHON) is older than Python 3.11: install a newer one, or name it: make venv PYTHON=python3.12" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --no-deps $(if $(TORCH_INDEX),--index-url $(TORCH_INDEX)) torch==2.13.0
	$(VENV)/bin/python -m pip install --quiet --constraint constraints.txt --editable '.[train,serve,otel,dev]'
	touch $@

test: venv
	$(VENV)/bin/python -m pytest -n $(WORKERS) --dist worksteal $(PYTEST_ARGS)

check: lint test exhaustive page browser

exhaustive: venv
	$(VENV)/bin/python -m pytest -n $(WORKERS) --dist worksteal -m 'exhaustive and not slow'

# Checks of the page's scripts and of its accessibility; nothing of them is shipped.
page:
	@if command -v npm >/dev/null; then \
	  npm install --silent --no-save --no-package-lock axe-core@4.14.1 typescript@7.0.2 || \
	    echo "axe-core and typescript could not be installed" >&2; \
	else echo "no npm: the page's scripts are not checked" >&2; fi
	@if test -x node_modules/.bin/tsc; then node_modules/.bin/tsc --project jsconfig.json; fi

browser: venv page
	@if command -v chromedriver >/dev/null; then $(VENV)/bin/python -m pytest -m browser; \
	else echo "no chromedriver: browser tests left out" >&2; fi

serve: venv
	$(VENV)/bin/nmt serve --host $(HOST) --port $(PORT) $(if $(MODEL),--model $(MODEL))

lint: venv
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy --strict

format: venv
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .

tables: venv
	$(VENV)/bin/python scripts/readme_tables.py
	$(VENV)/bin/python scripts/training_tables.py
	$(VENV)/bin/python -m scripts.reliability_table
	$(VENV)/bin/python scripts/operate_tables.py
	$(VENV)/bin/python -m scripts.speed_tables
	$(VENV)/bin/python -m scripts.dependency_table

audit:
	$(PYTHON) -m venv $(VENV)-audit
	$(VENV)-audit/bin/python -m pip install --quiet pip-audit==2.10.1
	$(VENV)-audit/bin/python scripts/audit.py constraints.txt requirements/common.txt

newest-torch:
	TORCH_INDEX=$(TORCH_INDEX) $(PYTHON) scripts/newest_torch.py
