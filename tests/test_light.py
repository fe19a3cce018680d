"""The early imports of a command: nothing heavy, and nothing of other rooms."""

import subprocess
import sys

import pytest

HEAVY = "numpy numba scipy sklearn pandas matplotlib torch hydra"
LIGHT = {
    "from boostrun.cli import main; main(['--help'])": (
        f"{HEAVY} boostrun.config boostrun.plugins importlib.metadata email"
    ),
    "import os; os.environ.update(COMP_LINE='boostrun algo=', COMP_POINT='14'); from boostrun.cli import main\n"
    "try: main(['--shell-completion', 'query=bash'])\nexcept SystemExit: pass": HEAVY.replace("hydra", ""),
    "from boostrun.config import catalogue; assert len(catalogue.papers()) > 4": HEAVY,
    "import boostrun.store.cell": "numpy joblib tqdm",
    "import boostrun.report, boostrun.report.own_table": (
        "pandas scipy matplotlib numba hydra boostrun.runner boostrun.store boostrun.data boostrun.features"
    ),
    "from boostrun import LearnerReservoirClassifier, ReservoirClassifier, StumpEnsemble": "numba matplotlib hydra",
    "from boostrun import AdaBoostMHClassifier, ShareBoostClassifier": (  # lanes and pieces are compiled to be tried
        "boostrun.kernels.lanes boostrun.papers.shareboost.pieces matplotlib hydra"
    ),
    "import boostrun.runner.execute": "dask distributed ray submitit",
    "from boostrun.digest import source_digest; source_digest(['boostrun.runner.queue:run_trials'])": (
        "boostrun.runner boostrun.store"
    ),
}


@pytest.mark.parametrize("code", LIGHT)
def test_nothing_is_imported_before_it_is_needed(code):
    asked = f"{code}\nimport sys; print('heavy:', *({set(LIGHT[code].split())} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "heavy:"
