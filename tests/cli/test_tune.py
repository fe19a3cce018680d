"""``boostrun tune``: a run with each value, or a search on held-out training data; who reads what it chose."""

import json
import re
import shlex
import shutil
import sys

import pytest

FAMILIES = "dataset=digits features=families19 features.only=[lbp,gray_hist] T=4 n_jobs=1"
TYPED = FAMILIES.replace("features.only=[lbp,gray_hist]", "'features.only=[lbp,gray_hist]'")  # for a shell
BANDIT = "dataset=digits T=3 n_jobs=1"


def records(workplace):
    found = [json.loads(path.read_text()) for path in (workplace / "results" / "runs").rglob("*.json")]
    return {record["key"]: record for record in found}


def choice(workplace, algo):
    (path,) = (workplace / "results" / "tuned").glob(f"{algo}-*/tuned.json")
    return json.loads(path.read_text())


@pytest.mark.slow
def test_the_best_family_is_the_one_with_the_smallest_training_loss_and_is_read_back(command, workplace):
    code, out, err = command(f"tune algo=best_family {FAMILIES}")
    assert code == 0, err
    made, chosen = records(workplace), choice(workplace, "best_family")
    losses = {record["cell"]["algo"]["family"]: record["metrics"]["log10_loss"] for record in made.values()}
    assert set(losses) == {"lbp", "gray_hist"} and losses[chosen["value"]] == min(losses.values())
    assert {record["seed"] for record in made.values()} == {0} == {chosen["seed"]}
    costs = [record["cost"]["evaluations"] for record in made.values()]
    assert chosen["cost"]["with_tuning"]["evaluations"] == sum(costs) == 2 * costs[0]
    assert chosen["cost"]["of_the_run"]["evaluations"] == costs[0]
    assert [made[row["record"]]["metrics"]["log10_loss"] for row in chosen["grid"]] == [
        row["log10_loss"] for row in chosen["grid"]
    ]
    for line in (r"lbp +-0\.\d{4} .* chosen", r"cost of the run +57 520 ", r"cost with tuning +115 040 .* 2 runs"):
        assert re.search(line, out)
    (table,) = (workplace / "results" / "tuned").glob("*/table.md")
    assert "| lbp | -0." in table.read_text() and (table.parent / "records.parquet").is_file()
    again = re.search(r"next: boostrun (.*)", out).group(1)
    assert again == f"algo=best_family {TYPED} algo.family={chosen['value']}"
    code, out, _ = command(f"plan algo=best_family {FAMILIES} trials=2 algo.family=tuned")
    assert code == 0 and "1 cached, 0 stale, 1 to run" in out  # the run of the grid is the first trial
    assert command(f"plan {' '.join(shlex.split(again))} trials=2")[1] == out
    assert command(f"algo=best_family {FAMILIES} trials=2 algo.family=tuned")[0] == 0
    assert {r["cell"]["algo"]["family"] for r in records(workplace).values() if r["seed"] == 1} == {chosen["value"]}


def test_tuning_goes_on_where_it_was_and_runs_nothing_twice(command, workplace):
    code, first, err = command(f"tune -m algo=best_family,ucb {BANDIT}")
    assert code == 0 and "13 cells · 13 trials" in err and len(records(workplace)) == 13
    assert "next: boostrun algo=best_family dataset=digits T=3" in first
    first = first.partition("ucb ·")[2]
    assert [row["value"] for row in choice(workplace, "ucb")["grid"]] == list(range(12))
    paths = sorted((workplace / "results" / "runs").rglob("*.json"))
    next(path for path in paths if '"name":"ucb"' in path.read_text().replace(" ", "")).unlink()
    shutil.rmtree(workplace / "results" / "tuned")  # the packed records are read too
    before = {path: path.stat().st_mtime_ns for path in paths if path.exists()}
    code, again, err = command(f"tune algo=ucb {BANDIT}")
    assert code == 0 and "trials 1/1" in err
    assert all(path.stat().st_mtime_ns == stamp for path, stamp in before.items())
    losses = [re.findall(r"-0\.\d{4}", text) for text in (first, again)]
    assert losses[0] == losses[1] and len(losses[0]) == 12
    chosen = choice(workplace, "ucb")  # one family: all are equal, and the default counts
    assert len({row["log10_loss"] for row in chosen["grid"]}) == 1 and chosen["value"] == 9
    assert f"next: boostrun algo=ucb {BANDIT} algo.scale=9\n" in again
    assert "every value does the same here: algo.scale=9 is no better than the others" in again


ITEM = """# with tuned bandits
title: mine
paper: ""
table: ""
metric: log10_loss
higher_is_better: false
rows: algo
columns: [dataset]
where: {}
overrides: [T=3, trials=2]
blocks:
  - sweep: {algo: [uniform_1q], dataset: [digits]}
  - sweep: {algo: [ucb], dataset: [digits]}
    settings: {tuned: [algo.scale=tuned]}
"""


@pytest.mark.slow
def test_a_table_shows_what_is_not_tuned_as_missing_and_has_it_afterwards(command, workplace):
    (workplace / "mine" / "paper" / "my").mkdir(parents=True)
    (workplace / "mine" / "paper" / "my" / "item.yaml").write_text(ITEM)
    code, out, _ = command("table my/item --config-dir mine --strict")
    assert code == 1 and "nothing is tuned for ucb · digits" in " ".join(out.split())
    assert command("tune algo=ucb dataset=digits T=3 n_jobs=1")[0] == 0
    assert command("reproduce my/item --config-dir mine n_jobs=1")[0] == 0
    code, out, _ = command("table my/item --config-dir mine --strict")
    assert code == 0 and "nothing is tuned" not in out


def test_where_a_run_fails_nothing_is_chosen(command, workplace, monkeypatch):
    from boostrun.papers.adaptive.classifier import StagedVotes

    working = StagedVotes.run

    def failing(self, model, *rest):
        return 1 / 0 if model.policy.scale == 5 else working(self, model, *rest)

    monkeypatch.setattr(StagedVotes, "run", failing)
    code, out, err = command(f"tune algo=ucb {BANDIT}")
    assert code == 1 and "11 of 12 runs are there" in err and "chosen" not in out
    assert not (workplace / "results" / "tuned").exists()


@pytest.mark.parametrize("content", ["", "[]", '{"value"}', '{"values": 3}'])
def test_a_choice_that_cannot_be_read_is_one_sentence(content, command, workplace):
    from boostrun.runner.plan import cell_of, compose_one, tuned_folder

    place = tuned_folder("results", cell_of(compose_one(["algo=ucb", "T=3"])))
    place.mkdir(parents=True)
    (place / "tuned.json").write_text(content)
    code, _, err = command("algo=ucb T=3 algo.scale=tuned n_jobs=1")
    assert code == 2 and "is no choice made by boostrun tune" in err and "Traceback" not in err


def test_a_regulariser_is_chosen_on_held_out_training_data(command, workplace):
    line = "algo=shareboost dataset=digits features=linear T=4 n_jobs=1"
    code, out, err = command(f"tune {line}")
    assert code == 0, err
    made, chosen = records(workplace), choice(workplace, "shareboost")
    assert len(made) == 8 and all(record["cell"]["dataset"]["holdout"] == 0.2 for record in made.values())
    errors = {record["cell"]["algo"]["reg"]: record["metrics"]["test_error_pct"] for record in made.values()}
    assert errors[chosen["value"]] == min(errors.values()) and chosen["by"] == "test_error_pct"
    assert "by the error on held-out training data" in out and f"next: boostrun {line} algo.reg=" in out
    assert command(f"{line} algo.reg=tuned")[0] == 0
    (record,) = [r for r in records(workplace).values() if "holdout" not in r["cell"]["dataset"]]
    assert record["cell"]["algo"]["reg"] == chosen["value"]
    assert command(f"tune {line} holdout=0.3")[0] == 2


LINE = "algo=wsam algo.weak_learner=stump dataset=digits r=12 T=2 train_samples=100 n_jobs=1"


def test_all_methods_are_searched_alike_on_held_out_data_and_what_is_chosen_is_read_back(command, workplace):
    code, out, err = command(
        f"tune -m {LINE.replace('wsam', 'wsam,rand')} tune.trials=4 algo.shrinkage=interval(0.1,1)"
    )
    assert code == 0, err
    assert "tune 2 cells · 4 trials each" in err and "trials 8/8" in err
    made = records(workplace).values()
    assert len(made) == 8 and {record["cell"]["dataset"]["holdout"] for record in made} == {0.2}
    for algo in ("wsam", "rand"):
        found = choice(workplace, algo)
        errors = [row["test_error_pct"] for row in found["trials"]]
        chosen = found["trials"][errors.index(min(errors))]
        assert len(errors) == 4 and found["values"] == chosen["values"]
        assert found["space"]["algo.shrinkage"] == "tag(log,interval(0.1,1.0))"
        assert {row["records"][0] for row in found["trials"]} <= {record["key"] for record in made}
    assert "4 trials by the error on held-out training data, seed 0" in out and "cost with tuning" in out
    again = re.findall(r"next: boostrun (.*)", out)[1]
    assert again == f"{LINE.replace('wsam', 'rand')} tuned=true"
    assert command(f"{again} trials=1")[0] == 0
    (run,) = [record for record in records(workplace).values() if "holdout" not in record["cell"]["dataset"]]
    values = choice(workplace, "rand")["values"]
    assert {f"algo.{key}": run["cell"]["algo"][key] for key in ("shrinkage", "coefficient")} == values
    (table,) = (workplace / "results" / "tuned").glob("rand-*/table.md")
    assert table.read_text().count("\n| 0.") == 4 and (table.parent / "records.parquet").is_file()
    assert command("plan algo=majority dataset=digits trials=1 tuned=true")[0] == 0  # it has no ranges
    assert "nothing is tuned for wsam" in command(f"{LINE} algo.coefficient=newton tuned=true")[2]


def test_a_typed_range_holds_the_first_trial_too_and_a_choice_that_is_replaced_is_said(command, workplace):
    ranges = "T=interval(3,5) algo.shrinkage=interval(0.02,0.05) algo.coefficient=choice(newton)"
    line = f"tune {LINE.replace('T=2', ranges)}"
    code, _, err = command(f"{line} tune.trials=2")
    assert code == 0 and "replaces a choice" not in err
    (path,) = (workplace / "results" / "tuned").glob("*/tuned.json")
    first = json.loads(path.read_text())["trials"][0]["values"]
    assert first.items() >= {"algo.shrinkage": 0.05, "algo.coefficient": "newton", "T": 5}.items()
    _, _, err = command(f"{line} tune.trials=1 holdout=0.3")
    assert "replaces a choice of 2 trials by test_error_pct, 0.2 held out" in err


def test_a_grid_stays_unless_trials_of_a_search_are_asked_for(command, workplace):
    line = "algo=ucb dataset=digits T=2 n_jobs=1"
    assert command(f"tune {line} tune.trials=1 holdout=0.3")[0] == 0
    found = choice(workplace, "ucb")
    assert found["held_out"] == 0.3 and set(found["space"]) == {"algo.init", "algo.scale"}
    assert len(records(workplace).values()) == 1


def test_where_no_value_fits_the_data_it_is_said_and_nothing_is_kept(command, workplace):
    code, _, err = command("tune algo=wsam dataset=digits r=2000 T=2 n_jobs=1 tune.trials=2")
    assert code == 2 and "r + q must be at most 1438" in err and not (workplace / "results" / "tuned").exists()


@pytest.mark.slow
def test_a_stream_that_is_drawn_is_searched_on_another_one(command, workplace):
    line = "algo=dwm dataset=sea dataset.n_samples=400 dataset.holdout_per_concept=20"
    assert command(f"tune {line} n_jobs=1 tune.trials=2")[0] == 0
    assert {record["seed"] for record in records(workplace).values()} == {1_000_000}


def test_without_optuna_it_is_said_how_to_get_it(command, monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    code, out, err = command(f"tune {LINE}")
    assert code == 2 and "boostrun tune needs Optuna: pip install 'boostrun[tuning]'" in err and not out
