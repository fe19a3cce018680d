"""``boostrun tune`` without a grid: a search on held-out training data, and who takes what it chose."""

import json
import re
import sys

LINE = "algo=wsam algo.weak_learner=stump dataset=digits r=12 T=2 train_samples=100 n_jobs=1"


def kept(workplace, algo):
    (path,) = (workplace / "results" / "tuned").glob(f"{algo}-*/tuned.json")
    return json.loads(path.read_text())


def records(workplace):
    return [json.loads(path.read_text()) for path in (workplace / "results" / "runs").rglob("*.json")]


def test_all_methods_are_searched_alike_on_held_out_data_and_what_is_chosen_is_read_back(command, workplace):
    code, out, err = command(
        f"tune -m {LINE.replace('wsam', 'wsam,rand')} tune.trials=4 algo.shrinkage=interval(0.1,1)"
    )
    assert code == 0, err
    assert "tune 2 cells · 4 trials each" in err and "trials 8/8" in err
    made = records(workplace)
    assert len(made) == 8 and {record["cell"]["dataset"]["holdout"] for record in made} == {0.2}
    for algo in ("wsam", "rand"):
        choice = kept(workplace, algo)
        errors = [row["test_error_pct"] for row in choice["trials"]]
        chosen = choice["trials"][errors.index(min(errors))]
        assert len(errors) == 4 and choice["values"] == chosen["values"]
        assert choice["space"]["algo.shrinkage"] == "tag(log,interval(0.1,1.0))"
        assert {row["records"][0] for row in choice["trials"]} <= {record["key"] for record in made}
    assert "4 trials by the error on held-out training data, seed 0" in out and "cost with tuning" in out
    again = re.findall(r"next: boostrun (.*)", out)[1]
    assert again == f"{LINE.replace('wsam', 'rand')} tuned=true"
    assert command(f"{again} trials=1")[0] == 0
    (run,) = [record for record in records(workplace) if "holdout" not in record["cell"]["dataset"]]
    values = kept(workplace, "rand")["values"]
    assert {f"algo.{key}": run["cell"]["algo"][key] for key in ("shrinkage", "coefficient")} == values
    (table,) = (workplace / "results" / "tuned").glob("rand-*/table.md")
    assert table.read_text().count("\n| 0.") == 4 and (table.parent / "records.parquet").is_file()
    assert command("plan algo=majority dataset=digits trials=1 tuned=true")[0] == 0  # it has no ranges
    assert "nothing is tuned for wsam" in command(f"{LINE} algo.coefficient=newton tuned=true")[2]


def test_a_grid_stays_unless_trials_of_a_search_are_asked_for(command, workplace):
    line = "algo=ucb dataset=digits T=2 n_jobs=1"
    assert command(f"tune {line} tune.trials=1 holdout=0.3")[0] == 0
    choice = kept(workplace, "ucb")
    assert choice["held_out"] == 0.3 and set(choice["space"]) == {"algo.init", "algo.scale"}
    assert len(records(workplace)) == 1


def test_where_no_value_fits_the_data_it_is_said_and_nothing_is_kept(command, workplace):
    code, _, err = command("tune algo=wsam dataset=digits r=2000 T=2 n_jobs=1 tune.trials=2")
    assert code == 2 and "r + q must be at most 1438" in err and not (workplace / "results" / "tuned").exists()


def test_a_stream_that_is_drawn_is_searched_on_another_one(command, workplace):
    line = "algo=dwm dataset=sea dataset.n_samples=400 dataset.holdout_per_concept=20"
    assert command(f"tune {line} n_jobs=1 tune.trials=2")[0] == 0
    assert {record["seed"] for record in records(workplace)} == {1_000_000}


def test_without_optuna_it_is_said_how_to_get_it(command, monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    code, out, err = command(f"tune {LINE}")
    assert code == 2 and "boostrun tune needs Optuna: pip install 'boostrun[tuning]'" in err and not out
