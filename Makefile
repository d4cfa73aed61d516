PYTHON ?= python3
BIN := .venv/bin
CHROMIUM ?= chromium
CPU_WHEELS := https://download.pytorch.org/whl/cpu
TORCH = $(shell grep '^torch==' requirements.txt)
BUILDS := Linux x86_64, Linux aarch64, Darwin arm64, Windows AMD64
LICENCES := Apache;BSD;ISC;MIT;MPL;Mozilla Public License;PSF;Python Software Foundation
OXLINT = npx --yes oxlint@1.94.0
RECORD = $(BIN)/python record/recording.py
HOW = $(if $(DATA),--data "$(DATA)") $(if $(FOLDER),--folder "$(FOLDER)") $(if $(PROCESSES),--processes $(PROCESSES)) \
	$(if $(DEVICE),--device $(DEVICE)) $(if $(ONLY),--only $(ONLY))
export PIP_DISABLE_PIP_VERSION_CHECK = 1

.PHONY: help install book test coverage lint lint-scripts refresh pretrained experiments costs real papers exercises verify serve pdf lock clean

help: ## list these commands
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 14

install: .venv/installed ## install requirements.txt and the packages into .venv; most commands below do it first

book: .venv/installed ## execute every chapter and build the pages
	rm -rf _build/.doctrees _build/html _build/jupyter_execute
	@$(BIN)/jupyter-book build . --all -W -n --keep-going || { cat _build/html/claims.txt 2>/dev/null; exit 1; }
	@echo "The book is ready: open $(CURDIR)/_build/html/index.html"

test: lint ## check everything: code, notebooks, pages
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder --nbval --twice notebooks tests

coverage: .venv/installed ## name the lines of the package that no test of it reaches
	$(BIN)/python -m pytest -n 2 --dist loadfile tests/package --cov --cov-report=term-missing:skip-covered

lint: .venv/installed ## check the style of code and notebooks
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python tools/notebook_rules.py
	$(BIN)/mypy
	@if $(OXLINT) --version >/dev/null 2>&1; then $(MAKE) --no-print-directory lint-scripts; \
	else echo "The scripts of the pages are not checked: that needs Node, and once the network."; fi

lint-scripts: ## check the scripts of the pages; needs Node
	$(OXLINT) --deny-warnings src book

refresh: .venv/installed ## execute the notebooks in place and normalize what they store
	$(BIN)/python tools/refresh.py

pretrained: .venv/installed ## train the models that the chapters speak of, those that are missing; one to four minutes each
	$(BIN)/python record/recipes.py

experiments: .venv/installed ## record what is missing of a plan; stopped, it goes on where it was. PLAN=world PROCESSES=2
	$(RECORD) $(PLAN) $(HOW)

costs: .venv/installed ## measure what every model of a plan costs, in one sitting. PLAN=world
	$(RECORD) $(PLAN) --costs $(HOW)

real: .venv/installed ## record what is missing of chapter 5's models on real sentences. DATA=folder ONLY="bahdanau luong" FOLDER=again
	$(RECORD) sentences $(HOW)

papers: .venv/installed ## record what is missing of the papers' tables; about a day of two cores for all. DATA=folder PROCESSES=2 DEVICE=cuda
	$(RECORD) papers-captions papers-grammar $(HOW)

exercises: .venv/installed ## try typical wrong answers on every check of every chapter; minutes
	EXERCISES=all $(BIN)/python -m pytest tests -k exercise

verify: .venv/installed ## break a module in every small way, and count the faults that its tests notice; about half an hour. MODULE=scores
	$(PYTHON) -m venv --clear _build/mutants
	_build/mutants/bin/pip install --quiet cosmic-ray
	sed 's/MODULE/$(MODULE)/' tools/mutants.toml > _build/mutants.toml
	_build/mutants/bin/cosmic-ray init --force _build/mutants.toml _build/mutants.sqlite
	_build/mutants/bin/cr-filter-operators _build/mutants.sqlite _build/mutants.toml
	OMP_NUM_THREADS=1 _build/mutants/bin/cosmic-ray exec _build/mutants.toml _build/mutants.sqlite
	_build/mutants/bin/cr-report --surviving-only --show-diff _build/mutants.sqlite
	_build/mutants/bin/cr-rate --fail-over 5 _build/mutants.sqlite

serve: ## show the built book at http://localhost:8000
	$(PYTHON) -m http.server 8000 --bind localhost --directory _build/html

pdf: _build/html/index.html ## print the built chapters into _build/pdf. CHROMIUM="google-chrome"
	mkdir -p _build/pdf
	for page in $$(find _build/html/notebooks -name "*.html" ! -name changes.html); do $(CHROMIUM) --headless --no-pdf-header-footer --virtual-time-budget=60000 \
	  --print-to-pdf=_build/pdf/$$(basename $$page .html).pdf "file://$(CURDIR)/$$page" || exit 1; done

lock: ## pin the newest versions that pyproject.toml admits, if their licenses do; torch stays
	$(PYTHON) -m venv --clear _build/lock
	_build/lock/bin/pip install --quiet --no-deps --index-url $(CPU_WHEELS) $(TORCH)
	_build/lock/bin/pip install --quiet $(TORCH) '.[build,test]'
	_build/lock/bin/pip-licenses --from=mixed --partial-match --allow-only="$(LICENCES)" --ignore-packages axe-playwright-python >/dev/null
	{ sed '/^[^#]/d' requirements.txt; _build/lock/bin/pip freeze --exclude attnlib | sed 's/+cpu$$//'; } > _build/new.lock
	mv _build/new.lock requirements.txt
	$(PYTHON) -m venv --clear _build/read
	_build/read/bin/pip install --quiet --no-deps --index-url $(CPU_WHEELS) $(TORCH)
	_build/read/bin/pip install --quiet --constraint requirements.txt '.[text]' jupyterlab
	{ sed '/^[^#]/d' requirements-read.txt; _build/read/bin/pip freeze --exclude attnlib | sed 's/+cpu$$//'; } > _build/new.lock
	mv _build/new.lock requirements-read.txt

clean: ## remove all that was built or installed
	rm -rf .venv _build .coverage .hypothesis .pytest_cache .ruff_cache .mypy_cache

_build/html/index.html:
	$(MAKE) book

.venv/installed: requirements.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	|| { echo "Python 3.11 or later is needed, but '$(PYTHON)' is $$($(PYTHON) -V 2>&1 | grep ^Python || echo missing). Say which: make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info >= (3, 15))' \
	|| echo "The book has been tried with Python 3.11 to 3.14. With $$($(PYTHON) -V) it should run; if it does not, name another: make PYTHON=python3.14" >&2
	@$(PYTHON) -c 'import platform, sys; sys.exit(f"{platform.system()} {platform.machine()}" not in "$(BUILDS)".split(", "))' \
	|| { echo "PyTorch has builds for $(BUILDS), and none for this machine. Run the book on Binder or Colab, as book/how-to-run.md says." >&2; exit 1; }
	$(PYTHON) -m venv .venv
	@echo "Installing the packages of requirements.txt. The first time this takes minutes; README.md says how much is downloaded."
	-$(BIN)/pip install --quiet --no-deps --retries 0 --timeout 10 --extra-index-url $(CPU_WHEELS) $(TORCH)
	$(BIN)/pip install --quiet -r requirements.txt
	$(BIN)/pip install --quiet --no-deps --no-build-isolation --editable .
# a kernel warns that it speaks without encryption, though it speaks to this machine only
	@mkdir -p .venv/etc/ipython
	@echo 'c.IPKernelApp.log_level = "ERROR"' > .venv/etc/ipython/ipython_kernel_config.py
	@touch $@
