"""What a search costs besides its trials: Optuna's part, and that of the rounds; no time is asserted."""

import time

import pytest

from boostrun.config.settings import Choices, Range
from boostrun.runner.plan import compose_one
from boostrun.runner.search import BATCH, Sampler, optuna, study_of, tune_all
from tests.bench.timing import show

pytestmark = pytest.mark.bench


@pytest.mark.parametrize("trials", [30, 100])
def test_optuna_a_trial(trials):
    space = {f"x{number}": Range(0.001, 1.0, log=True) for number in range(6)}
    space |= {"n": Range(1, 100), "kind": Choices("a", "b", "c")}
    usual = {**dict.fromkeys(space, 0.1), "n": 10, "kind": "a"}
    begun = time.perf_counter()
    optuna()
    imported = 1e3 * (time.perf_counter() - begun)
    begun = time.perf_counter()
    sampler = Sampler(space, usual, 0)
    asked = []
    for _ in range(trials // BATCH):
        asked.append(sampler.ask(BATCH))
        sampler.tell([values["x0"] + abs(values["n"] - 40) for values in asked[-1]])
    each = 1e3 * (time.perf_counter() - begun) / trials
    assert [len(batch) for batch in asked] == [BATCH] * (trials // BATCH) and asked[0][0] == usual
    rows = [("asked and told, a trial", f"{each:.1f} ms (target: 20 ms)"), ("imported", f"{imported:.0f} ms")]
    show(f"Optuna, eight keys, {trials} trials", rows)


def test_a_search_whose_trials_are_there(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    words = ["algo=wsam", "dataset=digits", "r=20", "T=5", "n_jobs=1", f"cache_root={tmp_path}"]
    study = study_of(compose_one([*words, f"store={tmp_path}/runs", f"results={tmp_path}/results"]))
    rows = []
    for name in ("first", "again, all trials in the store"):
        begun = time.perf_counter()
        tune_all([study], 30, quiet=True)
        assert len(list(tmp_path.glob("runs/**/*.json"))) == 30
        rows.append((name, f"{1e3 * (time.perf_counter() - begun) / 30:.1f} ms a trial"))
    show("a search of 30 trials of WSam on digits, r=20 T=5", rows)
