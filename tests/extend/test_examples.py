"""The examples run as their readers run them, and keep the rules."""

import json
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
RUN = f"--config-dir {EXAMPLES} n_jobs=1"


def records(workplace):
    return [json.loads(path.read_text()) for path in (workplace / "results" / "runs").rglob("*.json")]


def test_the_algorithm_learns_digits_and_shows_its_curve(command, workplace):
    code, _, err = command(f"{RUN} algo=mean_boost dataset=digits T=12 trials=2 algo.n_columns=24")
    assert code == 0, err
    first, second = sorted(records(workplace), key=lambda record: record["seed"])
    assert first["cell"]["algo"] == {"name": "mean_boost", "class": "mean_boost:MeanBoost", "n_columns": 24}
    assert first["cell"]["budget"] == {"T": 12} and first["curve"]["T"] == [1, 2, 3, 5, 7, 10, 12]
    assert first["metrics"]["test_accuracy_pct"] > 80 and first["metrics"] != second["metrics"]
    assert first["curve"]["test_accuracy_pct"][-1] == first["metrics"]["test_accuracy_pct"]


def test_the_data_set_is_learnt_and_its_keys_count(command, workplace):
    line = f"{RUN} algo=mean_boost dataset=moons T=5 trials=1"
    assert command(f"-m {line} dataset.n=200 dataset.noise=0.05,0.2")[0] == 0
    tight, loose = sorted(records(workplace), key=lambda record: record["cell"]["dataset"]["noise"])
    assert tight["cell"]["dataset"]["n"] == 200 and tight["inputs"]["data"] != loose["inputs"]["data"]
    assert tight["metrics"]["test_accuracy_pct"] > 70


def test_each_trial_on_it_has_a_split_of_its_own(command, workplace):
    line = f"{RUN.replace('trials=2', '')} algo=mean_boost dataset=moons dataset.n=60 T=5 trials=2"
    code, out, _ = command(line)
    assert code == 0 and "two splits" in out
    assert len({record["inputs"]["data"] for record in records(workplace)}) == 2
    assert "one split, two seeds" in command(f"{line} dataset.split_seed=0")[1]


@pytest.mark.slow
def test_the_family_makes_columns_that_tell_digits_apart(command, workplace):
    code, _, err = command(f"{RUN} algo=mean_boost dataset=digits features=frames T=5 trials=1")
    assert code == 0, err
    (record,) = records(workplace)
    assert 25 < record["metrics"]["test_accuracy_pct"] < 80
    (meta,) = (workplace / "datasets" / "banks").glob("*/meta.json")
    assert json.loads(meta.read_text())["families"] == [["frames", 0, 7]]


@pytest.mark.slow
def test_workers_and_the_library_get_the_same(command, workplace):
    from boostrun import run

    line = f"--config-dir {EXAMPLES} algo=mean_boost dataset=moons features=raw T=4 trials=3"
    assert command(f"{line} n_jobs=1 store=one")[0] == command(f"{line} n_jobs=2 store=two")[0] == 0
    one, two = ({path.name: json.loads(path.read_text())["metrics"] for path in (workplace / name).rglob("*.json")}
                for name in ("one", "two"))  # fmt: skip
    assert one == two and len(one) == 3
    table = run("algo=mean_boost", "dataset=moons", config_dir=str(EXAMPLES), T=4, trials=3, n_jobs=1)
    assert sorted(table.test_accuracy_pct) == sorted(metrics["test_accuracy_pct"] for metrics in one.values())


@pytest.mark.slow
@pytest.mark.parametrize("where", ["mean_boost:MeanBoost", "moons:moons", "frames:frames"])
def test_they_keep_the_rules(where, command):
    code, out, _ = command(f"check {where} --config-dir {EXAMPLES}")
    assert code == 0 and "FAILED" not in out and out.count("\nok ") >= 3


def test_they_are_listed_without_being_imported(command):
    import sys

    code, out, _ = command(f"ls --config-dir {EXAMPLES} algo")
    assert code == 0 and "boosted nearest means on random columns" in out and "mean_boost" not in sys.modules
