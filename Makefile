# Everything a person types in a checkout; `make` alone explains.
PYTHON ?= python3
VENV   := .venv
RUN    := $(VENV)/bin/boostrun
PYTEST := $(VENV)/bin/python -m pytest
STAMP  := $(VENV)/.ready
RARE   := torch|torchvision|torchgen|functorch|sympy|mpmath|networkx|sqlalchemy|alembic|fontTools|pygments|pip|setuptools|mypy|mypyc

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-all lint bench peers versions storm fuzz table3 table4 table5 timing calibration \
	calibration_online calibration_full beyond adaptive1 adaptive2 adaptive3 adaptive4 sharing iboost capymoa frontiers report picture pictures docs wheel clean

help:  ## this list
	@awk -F ':.*## ' '/^[a-z0-9 _-]+:.*## / { printf "  make %-22s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(STAMP)  ## a virtual environment in .venv with everything that tests and real data need

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --no-compile --disable-pip-version-check -c constraints.txt -e '.[dev,images,streams]'
	@# on two cores, and also where PYTHONDONTWRITEBYTECODE would make each command compile what it imports; not what is rarely used
	-@find $(VENV)/lib -name '*.py' | grep -Ev '/($(RARE)|tests?)/' | xargs -P 2 -n 500 $(VENV)/bin/python -m compileall -q > /dev/null 2>&1
	-@$(VENV)/bin/python -m compileall -q -j 0 --invalidation-mode checked-hash boostrun > /dev/null 2>&1  # see import_hooks.py
	@touch $(STAMP)

demo: setup  ## the main job on scikit-learn's digits: four strategies, ten trials each, one table
	$(RUN) -m algo=max,rand,wsam,geem dataset=digits r=50

test test-all: export OMP_NUM_THREADS = 1  # each of the workers has one core

test: lint  ## ruff, mypy and the tests, a few minutes
	$(PYTEST) -q -n auto --dist worksteal --ignore tests/bench

test-all: setup  ## the slow tests and those that read the real data sets too
	$(PYTEST) -q -n auto --dist worksteal -m 'not bench'

lint: setup  ## ruff over everything, mypy over the package
	$(VENV)/bin/ruff check .
	$(VENV)/bin/mypy --num-workers 2

bench: setup  ## each kernel beside its floor and other libraries, as one table (docs/speed.md); then whole runs, as ratios
	$(PYTEST) -q -s -m bench tests/bench/test_speed.py
	$(VENV)/bin/python scripts/speed_page.py
	$(PYTEST) -q -s -m bench tests --ignore tests/bench/test_speed.py

peers: setup  ## speed and features beside scikit-learn, LightGBM, XGBoost, river, a loop of joblib and Hydra's multirun
	$(PYTEST) -q -s -m bench tests/bench/test_side_by_side.py

versions: setup  ## quick tests with the lowest and newest dependencies that are allowed, and Hydra's pre-release
	for kind in lowest newest hydra; do $(PYTHON) scripts/versions.py $$kind || exit; done

storm: setup  ## a sweep killed at 200 random moments on a busy machine, starved of disk, its clock set wrong: the same table; live rows and Dask's workers too
	$(VENV)/bin/python scripts/storm.py --kills 200 --busy 4

fuzz: setup  ## five thousand damaged settings, data files, records, models, banks, rounds, kernels: each ends in a sentence or a right result
	$(VENV)/bin/python scripts/fuzz.py --cases 5000

table3 table4 table5: setup  ## a table of the reservoir paper on the data that is there: runs what is missing, writes results/reservoir
	$(RUN) reproduce reservoir/$@

timing calibration calibration_online calibration_full: setup  ## the timing paragraph; what open choices do, on held-out training data
	$(RUN) reproduce reservoir/$@

beyond: setup  ## what the reservoir paper only names: nine items, each a table and figures
	for item in exponential lattice swaps carried_mass split active shared likely_target adaboost_fix; do $(RUN) reproduce reservoir/$$item || exit; done

adaptive1: SET := dataset=mnist features=families19
adaptive2: SET := dataset=inria features=families19
adaptive3: SET := dataset=caltech101 dataset.size=150 features=families33
adaptive4: SET := dataset=cifar10 features=families19
adaptive1 adaptive2 adaptive3 adaptive4: setup  ## a table of adaptive sampling, its four tuned rows too: many hours each (boostrun reproduce ... --quick is less)
	-$(RUN) tune -m algo=best_family,ucb,exp3p,eps_greedy T=1000 $(SET)
	$(RUN) reproduce adaptive/table$(subst adaptive,,$@)

sharing: setup  ## figures and tables of ShareBoost, at the weights chosen before: many hours (boostrun reproduce ... --quick is less)
	-$(RUN) tune -m algo=shareboost dataset=statlog,pendigits features=products T=120
	-$(RUN) tune -m algo=shareboost dataset=statlog,pendigits features=stumps T=150
	-$(RUN) tune algo=shareboost dataset=mnist features=templates T=320
	for item in section6 fig1 fig3_top fig3_bottom seconds fig2_letter fig2 fig7 fig4 fig5 fig6 table1; do \
	  $(RUN) reproduce shareboost/$$item || exit; done

IBOOST := fig_drift_types table_methods table_data table_summary fig_sea_nb_a fig_sea_nb_b fig_santafe table_real fig_led fig_rbf \
	cost_n cost_m table_sea_bp table_sea_budget fig_sea_stumps table_sea_window fig_window table_sea_noise \
	today_recorded today_generated today_large tuning tuned today_tuned today_generated_tuned
MEMBERS := iboost_stochastic,iboost_trees,iboost_fitted,iboost_adwin,ocb,flb,dwm,osboost_stream,onlineboost,nsoboost,flc,adwinbag,sgbt,arf_stream,arf,adwin_bagging,adwin_boosting,leveraging_bagging,srp
TREES := vfdt,hat,hoeffding_tree
TUNED := "dataset=electricity dataset.scored_after=9063" "dataset=weather dataset.scored_after=3632" \
	"dataset=sea dataset.eval_every=200 dataset.n_samples=5000" "dataset=rbf dataset.n_samples=5000" "dataset=led dataset.n_samples=5000"
iboost: setup  ## tables and figures of IBoost on drifting streams: hours (boostrun reproduce ... --quick is less)
	for stream in $(TUNED); do \
	  $(RUN) tune -m algo=$(MEMBERS) M=10 $$stream dataset.measures=all tune.trials=8 || exit; \
	  $(RUN) tune -m algo=$(TREES) $$stream dataset.measures=all tune.trials=8 || exit; done
	for item in $(IBOOST); do $(RUN) reproduce iboost/$$item || exit; done
	$(VENV)/bin/python scripts/stream_page.py

capymoa: setup  ## MOA's stream learners beside ours: an hour; needs Java, and pip install -e '.[capymoa]'
	for stream in $(TUNED); do \
	  $(RUN) tune -m algo=capymoa_arf,capymoa_srp,capymoa_sgbt M=10 $$stream dataset.measures=all tune.trials=8 || exit; \
	  $(RUN) tune algo=capymoa_hat $$stream dataset.measures=all tune.trials=8 || exit; done
	for item in today_capymoa today_capymoa_tuned; do $(RUN) reproduce iboost/$$item || exit; done
	$(VENV)/bin/python scripts/stream_page.py

frontiers: setup  ## what each budget buys, data set by data set, ours beside the rivals of today, and what they say together: hours from nothing
	for name in $$($(RUN) ls frontier | cut -d ' ' -f 1); do $(RUN) reproduce $$name || exit; done
	$(VENV)/bin/python scripts/budget_page.py

report: setup  ## report.html and report_files: every table, curve and record that is stored, of all papers
	$(RUN) report

$(VENV)/.docs: $(STAMP)
	$(VENV)/bin/python -m pip install --quiet --no-compile --disable-pip-version-check -c constraints.txt -e '.[docs]'
	@touch $@

picture: setup  ## docs/architecture.svg: the rooms and their imports, and what of them runs upward
	$(VENV)/bin/python scripts/picture_rooms.py

pictures: setup  ## the pictures that README.md and docs/ show, from the published records, and the gallery
	$(VENV)/bin/python scripts/pictures.py

docs: $(VENV)/.docs  ## the documentation in build/docs: pages that need no network, and no server but for the search
	NO_MKDOCS_2_WARNING=1 $(VENV)/bin/python -m mkdocs build --quiet --strict

wheel: setup  ## in dist/: the source distribution, a wheel for all, and one with kernels compiled for this Python and x86-64
	rm -rf boostrun/compiled
	$(VENV)/bin/python -m build --outdir dist .
	$(VENV)/bin/python scripts/compile_kernels.py
	$(VENV)/bin/python -m build --wheel --outdir dist .

clean:  ## remove the environment and caches; data sets and results stay
	rm -rf $(VENV) build dist boostrun/compiled .pytest_cache .hypothesis .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
