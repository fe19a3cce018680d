"""Light commands and searches, beside what they cannot do without; no time is asserted."""

import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest

from boostrun.config.fields import Choices, Range
from boostrun.runner.plan import compose_one
from boostrun.runner.search import BATCH, Sampler, optuna, study_of, tune_all
from tests.bench.timing import show

pytestmark = pytest.mark.bench
ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(not (ROOT / "results").is_dir(), reason="this copy comes without published results")
def test_light_commands_beside_hydra(tmp_path):
    boostrun = ["-m", "boostrun"]
    commands = {
        "import hydra": ["-c", "import hydra"],
        "boostrun --help": [*boostrun, "--help"],
        "plan of four cells": [*boostrun, "plan", "-m", "algo=geem,wsam", "dataset=digits", "r=20,50", "T=50"],
        "table adaptive/table1": [*boostrun, "table", "adaptive/table1"],
        "table iboost/table_summary": [*boostrun, "table", "iboost/table_summary"],
    }
    # the cache is empty at first
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "BOOSTRUN_DATA": str(tmp_path)}

    def seconds(arguments):
        before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run([sys.executable, *arguments], cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, time.perf_counter() - begun

    first = {name: seconds(arguments)[0] for name, arguments in commands.items()}
    times = {name: [] for name in commands}
    for _ in range(5):  # in turn, so that a busy minute meets all of them
        for name, arguments in commands.items():
            times[name].append(seconds(arguments))
    assert all(cpu > 0.0 for found in times.values() for cpu, _ in found)
    rows = []
    for name, found in times.items():
        (cpu, clock), (cpu_of_one, clock_of_one) = (map(min, zip(*each)) for each in (found, times["import hydra"]))
        told = (
            f"{cpu:.2f} s of a processor, {cpu / cpu_of_one:.1f} times as long; clock {clock / clock_of_one:.1f} times"
        )
        rows.append((name, f"{told}; the first time {first[name]:.2f} s"))
    show("light commands beside import hydra, the best of five", rows)


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
