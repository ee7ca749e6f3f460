# Everything from a fresh clone: `make demo` and `make test` set up .venv by themselves.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := $(shell find src CMakeLists.txt pyproject.toml README.md LICENSE -type f -not -name '*.pyc')
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt
TSAN_LIBRARIES = $(shell $${CXX:-c++} -print-file-name=libtsan.so)
ASAN_LIBRARIES = $(shell $${CXX:-c++} -print-file-name=libasan.so):$(shell $${CXX:-c++} -print-file-name=libstdc++.so)
SANITIZED = LD_PRELOAD=$(ASAN_LIBRARIES) ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 \
	  PYTHONMALLOC=malloc PYTHONPATH=build/sanitize

GROUPS_OF_TOOLS = build cluster docs lint perf test wheel

# On Linux, auditwheel checks what the wheel needs of the system, and names the oldest glibc that has it (manylinux).
ifeq ($(shell uname -s),Linux)
REPAIR_WHEEL = PATH="$(abspath $(BIN)):$$PATH" $(BIN)/auditwheel repair --wheel-dir dist build/wheel/*.whl
else
REPAIR_WHEEL = cp build/wheel/*.whl dist
endif

.PHONY: help demo test browser cluster lint docs perf perf-gpu surroundings campaign soak fuzz recipe sanitize sanitize-fuzz sanitize-threads wheel locked hashes clean

help:  ## Say what can be made
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 18

demo: $(VENV)/installed  ## Find Kepler's third law in the planets' orbits
	$(BIN)/symseed fit planets --target period_days --set patience=4

# Each process begins with one half of the tests, so that the fixtures of a module are made in one process.
test: $(VENV)/installed $(VENV)/test-tools  ## Run the tests against the installed package
	$(BIN)/python -m pytest -n 2 --dist worksteal

browser: $(VENV)/installed $(VENV)/test-tools $(VENV)/browser-tools  ## Run the tests of Studio in a Chromium, if there is one
	$(BIN)/python -m pytest -q tests/studio/test_browser.py

cluster: $(VENV)/installed $(VENV)/test-tools $(VENV)/cluster-tools  ## Run the tests on a Dask cluster of processes of this machine
	$(BIN)/python -m pytest -q tests/portfolio/test_cluster.py

lint: $(VENV)/installed $(VENV)/test-tools $(VENV)/lint-tools  ## Formats, lint rules, types, layers, the native stub, and the pages
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/clang-format --dry-run --Werror src/core/*.hpp src/core/*.cpp src/core/*.cu neural/*.cpp perf/*.cpp tests/cuda/*.cpp
	$(BIN)/python -m pytest -q tests/core/test_stub.py
	$(MAKE) --no-print-directory docs

docs: $(VENV)/installed $(VENV)/docs-tools  ## Build the pages into build/docs
	$(BIN)/sphinx-build -W --keep-going -n -q docs build/docs

perf: $(VENV)/installed $(VENV)/perf-tools  ## Measure speed beside peers and the hardware; figures go to build/perf.json
	$(BIN)/python perf/run.py --json build/perf.json

perf-gpu: $(VENV)/installed $(VENV)/gpu-tools  ## Measure speed on a GPU, and compare its bits with the core's; figures go to build/perf-gpu.json
	$(BIN)/python perf/gpu.py --json build/perf-gpu.json

surroundings: $(VENV)/installed  ## Compare 85 whole fits between simulated processors, to the bit; the result goes to build/surroundings.json
	$(BIN)/python perf/surroundings.py --expressions 12000 --json build/surroundings.json

SIGNALS ?= 200
campaign: $(VENV)/installed  ## End runs by signals at random moments and continue them, SIGNALS=200 each; figures go to build/campaign.json
	$(BIN)/python perf/campaign.py --signals $(SIGNALS) --json build/campaign.json

soak: $(VENV)/installed  ## Fit 500 times in one process, and see that nothing piles up; figures go to build/soak.json
	$(BIN)/python perf/soak.py --json build/soak.json

SECONDS ?= 60
fuzz: $(VENV)/installed $(VENV)/test-tools $(VENV)/fuzz-tools  ## Give changed bytes to all that reads bytes, SECONDS=60 each; figures add up in build/fuzz.json
	$(BIN)/python fuzz/fuzz.py --seconds $(SECONDS) --json build/fuzz.json

recipe: $(VENV)/installed $(VENV)/test-tools  ## Add two operators to a copy of the source by the recipe, build and test it
	$(BIN)/python perf/recipe.py

# The core as both sanitizers see it; a build that is there is only brought up to date.
.PHONY: sanitized
sanitized: $(VENV)/installed $(VENV)/test-tools
	$(PIP) --no-deps --no-build-isolation --upgrade --target build/sanitize \
	  --config-settings=build-dir=build/sanitize-objects --config-settings=cmake.define.SYMSEED_SANITIZE=address,undefined .

# A fork beside threads may hang in the memory of this sanitizer.
sanitize: sanitized  ## Run the core's tests with address and undefined-behaviour sanitizers
	$(SANITIZED) $(BIN)/python -m pytest -p no:cacheprovider --timeout 600 -m 'not memory' -k 'not fork' \
	  $(addprefix tests/,core data/test_losses.py language/test_functions.py language/test_population.py \
	  scoring/test_evaluation.py scoring/test_fitting.py scoring/test_regression.py search/test_policy.py \
	  search/test_variation.py space)

# Without atheris, whose own allocator is not that of the sanitizer; what it found before is changed at random.
sanitize-fuzz: sanitized  ## Run the fuzzers with these sanitizers, SECONDS=60 each; figures go to build/sanitize-fuzz.json
	$(SANITIZED) $(BIN)/python fuzz/fuzz.py --blind --seconds $(SECONDS) --json build/sanitize-fuzz.json

# The addresses of a process are not random under this sanitizer, which needs some of them for itself. Tests that limit
# times are left out, and so are forks, which it does not follow.
sanitize-threads: $(VENV)/installed $(VENV)/test-tools  ## Run the core from several threads with the thread sanitizer
	$(PIP) --no-deps --no-build-isolation --upgrade --target build/sanitize-threads \
	  --config-settings=build-dir=build/sanitize-threads-objects --config-settings=cmake.define.SYMSEED_SANITIZE=thread .
	LD_PRELOAD=$(TSAN_LIBRARIES) TSAN_OPTIONS=halt_on_error=1:exitcode=66:report_bugs=1 OPENBLAS_NUM_THREADS=1 \
	  PYTHONPATH=build/sanitize-threads setarch $$(uname -m) --addr-no-randomize \
	  $(BIN)/python -m pytest -p no:cacheprovider --timeout 900 -m 'not memory' -k 'not ctrl_c and not signals_handler' \
	  $(addprefix tests/core/,test_sharing.py test_threads_and_instruction_sets.py)

wheel: $(VENV)/build-tools $(VENV)/wheel-tools  ## Build a wheel into dist/ that installs without a compiler
	rm -rf build/wheel
	$(BIN)/python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir build/wheel .
	mkdir -p dist
	$(REPAIR_WHEEL)
	$(BIN)/python supply/contents.py dist/*.whl

locked: $(VENV)/pip  ## Compare the archives of all tools with the hashes of constraints.hashes, without installing them
	for group in $(GROUPS_OF_TOOLS); do \
	  $(BIN)/python -m pip install --quiet --dry-run --ignore-installed --constraint constraints.hashes --group $$group || exit 1; \
	done

hashes: $(VENV)/bin/python  ## Write constraints.hashes anew, with what the package index says of constraints.txt
	$(BIN)/python supply/hashes.py

clean:  ## Remove everything that was built
	rm -rf $(VENV) build dist

# Stamps: each group of tools in pyproject.toml is installed once, at the versions of constraints.txt.
$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

# The pip that a new environment has may be older than 25.1, the first that knows groups.
$(VENV)/pip: constraints.txt | $(VENV)/bin/python
	$(PIP) 'pip>=25.1'
	@touch $@

$(VENV)/%-tools: constraints.txt pyproject.toml | $(VENV)/pip
	$(PIP) --group $*
	@touch $@

$(VENV)/installed: $(SOURCES) $(VENV)/build-tools
	$(PIP) --no-build-isolation .
	@touch $@
