# make venv    environment with all extras in .venv, pinned versions
# make test    the default tests: CPU, offline, a few minutes
# make serve   the REST API and its page on http://127.0.0.1:8000 (HOST=, PORT=, MODEL= change that)
# make lint    ruff and mypy --strict
# make audit   known vulnerabilities of the pinned packages, looked up on PyPI
#
# Needs Python 3.11 or later (PYTHON= names another one) and nothing else. To take torch from another
# index, such as PyTorch's own for CPU builds, set TORCH_INDEX=URL.

PYTHON ?= python3
HOST ?= 127.0.0.1
PORT ?= 8000
MODEL ?=
TORCH_INDEX ?=
PYTEST_ARGS ?=

VENV := .venv
READY := $(VENV)/.ready

.PHONY: venv test serve lint format tables audit

venv: $(READY)

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "$(PYTHON) is older than Python 3.11: install a newer one, or name it: make venv PYTHON=python3.12" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --no-deps $(if $(TORCH_INDEX),--index-url $(TORCH_INDEX)) torch==2.13.0
	$(VENV)/bin/python -m pip install --quiet --constraint constraints.txt --editable '.[train,serve,otel,dev]'
	touch $@

test: venv
	$(VENV)/bin/python -m pytest $(PYTEST_ARGS)

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
