# One entry point for each task. Needs Python 3.11 or newer, git and make; the first task makes
# .venv with everything else in it, which takes a few minutes once.

PYTHON ?= python3
VENV ?= .venv
# More arguments for pytest or the benchmarks: make test ARGS="-k softmax"
ARGS ?=

RUN := $(VENV)/bin/python
INSTALLED := $(VENV)/.installed
DOCS_INSTALLED := $(VENV)/.docs-installed
DOCS_NOTEBOOKS := $(patsubst %,build/docs/%,$(wildcard notebooks/*.ipynb notebooks/encore/*.ipynb))
DOCS_CLASS := build/docs/example/said.txt
DEMO := build/demo
SAMPLES := $(wildcard corpus/answers/ex1/samples/*.py)

# A path to the lecture's names, or the word `bundled`. Absolute, since notebooks run elsewhere.
ifneq ($(filter-out bundled,$(MAKEMORE_NAMES)),)
override MAKEMORE_NAMES := $(abspath $(MAKEMORE_NAMES))
endif
# An empty one counts as not set: a program could take it for a path, that of the working folder.
ifneq ($(strip $(MAKEMORE_NAMES)),)
export MAKEMORE_NAMES
else
unexport MAKEMORE_NAMES
endif

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo train train-encore test test-slow test-browser test-windows test-tools test-colab test-all lab check lint types
.PHONY: verdicts notebooks verify nbval-all dev-check nbval nbgrader otter bench clean docs

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

demo: $(INSTALLED) ## grade the solution and the sample submissions of notebook 1
	@rm -rf $(DEMO) && mkdir -p $(DEMO)
	@cp notebooks/solutions/01_atomic_backprop.ipynb $(DEMO)/solution.ipynb
	@$(RUN) -m grader dev fill notebooks/01_atomic_backprop.ipynb $(SAMPLES) --out $(DEMO)
	@# Exit status 1 is what samples with mistakes in them should give; 2 would be a real failure.
	@$(RUN) -m grader check $(DEMO)/*.ipynb --html $(DEMO)/report.html || [ $$? -eq 1 ]
	@echo "The same as a page: $(abspath $(DEMO)/report.html)"

train: $(INSTALLED) ## train by hand for 200,000 steps; print losses and 20 names (a minute and a half)
	$(RUN) -m grader.commands.train $(ARGS)

train-encore: $(INSTALLED) ## train the encore's transformer by hand; print losses and 20 names (a minute)
	$(RUN) notebooks/encore/train.py $(ARGS)

# nbval's plugin costs each process two seconds, and these tests call it as a program.
PYTEST := $(RUN) -m pytest -n auto --dist worksteal -p no:nbval

test: $(INSTALLED) ## run the quick tests: a sample of each corpus (a hundred seconds)
	$(PYTEST) -m "not slow and not browser and not tools" $(ARGS)

test-slow: $(INSTALLED) ## run the other tests
	$(PYTEST) -m "slow and not browser and not tools" $(ARGS)

test-browser: $(INSTALLED) ## work through the notebooks in JupyterLab (needs Chromium)
	$(PYTEST) -m browser $(ARGS) tests/browser

test-windows: $(INSTALLED) ## try what has to work on Windows, without what Windows lacks
	$(PYTEST) --like-windows $(ARGS) tests/test_like_windows.py

test-tools: $(INSTALLED) ## run the instructor's tools on the course (installs them; half an hour)
	$(RUN) -m pytest -m tools $(ARGS)

test-colab: ## run the tests and the notebooks with Colab's Python and torch (root, Debian; 8 GB)
	.ci/test-colab test nbval ARGS="$(ARGS)"
	.ci/test-colab test-slow ARGS=tests/test_colab.py

test-all: test test-slow test-browser test-windows nbval-all ## run every test but those of other tools; compare all verdicts
	$(RUN) -m corpus.verdicts --compare

lab: $(INSTALLED) ## open the notebooks in JupyterLab
	@# In a container one is root, and JupyterLab has to be told that this is meant.
	$(RUN) -m jupyter lab --notebook-dir notebooks $(if $(filter 0,$(shell id -u)),--allow-root)

verdicts: $(INSTALLED) ## grade every answer of the corpus again; write corpus/verdicts.tsv
	$(RUN) -m corpus.verdicts $(ARGS)

check: lint types dev-check test ## run the linters, the type checker and the tests, as CI does

lint: $(INSTALLED)
	$(RUN) -m ruff check
	$(RUN) -m ruff format --check
	$(VENV)/bin/lint-imports

types: $(INSTALLED)
	$(RUN) -m mypy

notebooks: $(INSTALLED) ## make the notebooks from notebooks/source; REPO=owner/name: for a fork
ifdef REPO
	$(RUN) -m grader dev repoint $(REPO)
else
	$(RUN) -m grader dev build $(ARGS)
endif

verify: $(INSTALLED) ## say whether the notebooks are what their sources make
	$(RUN) -m grader dev verify

dev-check: $(INSTALLED) ## say of every exercise whether all that belongs to it is in order
	$(RUN) -m grader dev check $(ARGS)

# A notebook's cells stay together (loadscope). A training whose outcome is not compared is a short
# one here.
NBVAL = BACKPROP_NINJA_STEPS=60 $(RUN) -m pytest -n auto --dist loadscope \
	--nbval --nbval-sanitize-with notebooks/nbval_sanitize.cfg

nbval: $(INSTALLED) ## run the four solutions and compare their outputs (with MAKEMORE_NAMES, all of them)
ifneq ($(filter-out bundled,$(MAKEMORE_NAMES)),)
	$(NBVAL) notebooks/solutions
else
	@echo "MAKEMORE_NAMES names no file: outputs that depend on the names are not compared."
	@rm -rf build/nbval
	$(RUN) -m grader dev mark --out build/nbval
	MAKEMORE_NAMES=bundled $(NBVAL) build/nbval
endif

nbval-all: nbval ## the same with both lists of names, and the encore
ifneq ($(filter-out bundled,$(MAKEMORE_NAMES)),)
	$(NBVAL) notebooks/encore/solutions
	$(MAKE) nbval MAKEMORE_NAMES=bundled
endif

nbgrader: $(INSTALLED) ## write the course as an assignment for nbgrader, to build/nbgrader
	$(RUN) -m grader dev nbgrader --out build/nbgrader

docs: $(DOCS_INSTALLED) $(DOCS_NOTEBOOKS) $(DOCS_CLASS) ## build the site, to be opened at build/site/index.html
	@rm -rf build/docs/pages build/site && cp -Rp docs/pages build/docs/pages
	@cp -Rp build/docs/notebooks build/docs/pages/notebooks
	@cp -p docs/*.svg docs/*.png build/docs/pages/assets
	@mkdir -p build/docs/pages/example/gradebook
	@cp -Rp build/docs/example/gradebook/report build/docs/pages/example/gradebook
	@# All of it each time: pages say what the code says, and Sphinx sees only that a text has changed.
	$(RUN) -m sphinx --jobs auto --fresh-env --fail-on-warning --quiet --conf-dir docs \
		--doctree-dir build/docs/doctrees build/docs/pages build/site
	$(RUN) -m docs.building.links build/site

$(DOCS_CLASS): docs/building/example_class.py $(wildcard docs/example_class/*) | $(DOCS_INSTALLED)
	$(RUN) -m docs.building.example_class $(dir $@)

build/docs/notebooks/%.ipynb: notebooks/%.ipynb docs/building/notebooks.py | $(DOCS_INSTALLED)
	BACKPROP_NINJA_STEPS=60 $(RUN) -m docs.building.notebooks $< $@

otter: $(INSTALLED) ## write an assignment of each notebook for otter-grader, to build/otter
	$(RUN) -m grader export otter --out build/otter

bench: $(INSTALLED) ## measure what the project promises about speed
	$(RUN) -m benchmarks $(ARGS)

clean: ## remove what the other tasks made, but for .venv
	rm -rf build dist .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +

# Also after an interrupted installation: each of the steps can be repeated.
$(INSTALLED): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("Python 3.11 or newer is needed; this one is " + sys.version.split()[0] + ". Try: make PYTHON=python3.13 ...")'
	@echo "Installing what the course needs into $(VENV); a few minutes, once."
	$(PYTHON) -m venv $(VENV)
	$(RUN) -m pip install -qq --disable-pip-version-check -c constraints.txt -e '.[author,dask,dev,grade,lab]'
	@# matplotlib lists the fonts when it is first imported, and says so on stderr where that is slow.
	@$(RUN) -c 'import matplotlib.font_manager'
	@touch $@

# What only the site needs, when the site is asked for.
$(DOCS_INSTALLED): $(INSTALLED)
	$(RUN) -m pip install -qq --disable-pip-version-check -c constraints.txt -e '.[docs]'
	@touch $@
