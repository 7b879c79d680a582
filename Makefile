# `make demo` runs the main job on a real model, `make test` passes the tests. Both set up what they need in .venv.

PYTHON ?= python3
VENV ?= .venv
RUN := $(VENV)/bin/python
PIP_INSTALL := $(RUN) -m pip install --quiet --disable-pip-version-check

.PHONY: demo test check unit mutations slow bench clean

$(VENV)/installed: pyproject.toml
	@echo "setting up $(VENV): mace-cl with Intel's OpenCL runtime, the tools of the tests, and LiteRT to compare with"
	$(PYTHON) -m venv $(VENV)
	$(PIP_INSTALL) --upgrade pip
	$(PIP_INSTALL) --editable '.[cpu,dev,peers]'
	touch $@

demo: $(VENV)/installed
	$(RUN) demo/face_detection.py --output demo-output

test: check unit mutations

check: $(VENV)/installed
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m mypy

unit: $(VENV)/installed
	$(RUN) -m pytest -q -n $$(nproc) --dist loadfile -m "not slow"

mutations: $(VENV)/installed
	$(RUN) -m pytest -q -n $$(nproc) -m slow tests/formats

slow: $(VENV)/installed
	$(RUN) -m pytest -q -m slow

bench: $(VENV)/installed
	$(RUN) benchmarks/latency.py
	$(RUN) benchmarks/start.py

clean:
	rm -rf $(VENV) demo-output .pytest_cache .mypy_cache .ruff_cache .hypothesis
