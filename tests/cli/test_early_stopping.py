"""Early stopping from the command line: run, plan, tune, export and predict, with the rounds kept in the record."""

import csv
import json

import numpy as np
import pytest

LINE = "mine.csv algo=logitboost T=60 n_jobs=1"
EARLY = "algo.early_stopping=true algo.validation_fraction=0.2 algo.n_iter_no_change=5"


@pytest.fixture
def mine(workplace):
    """400 rows whose label depends on two of three columns, with noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    rows = [f"{a:.3f},{b:.3f},{c:.3f},{'no' if d > 0 else 'yes'}\n" for (a, b, c), d in
            zip(X, X[:, 0] + X[:, 1] + rng.normal(size=400))]  # fmt: skip
    (workplace / "mine.csv").write_text("".join(["a,b,c,kind\n", *rows]))
    return workplace


def records(workplace):
    return [json.loads(path.read_text()) for path in (workplace / "results" / "runs").glob("*/*.json")]


def test_a_run_records_the_rounds_that_it_keeps_and_a_second_one_finds_them(command, mine):
    code, out, _ = command(f"{LINE} trials=2 {EARLY}")
    assert code == 0 and "logitboost: early stopping kept " in out
    for record in records(mine):
        kept = record["cost"]["rounds_kept"]
        assert record["cell"]["algo"]["early_stopping"] is True and record["curve"]["T"][-1] == kept < 60
        assert len(record["curve"]["T"]) == len(record["curve"]["balanced_accuracy_pct"])
    code, out, _ = command(f"plan {LINE} trials=2 {EARLY}")
    assert code == 0 and "2 cached" in out
    assert command(f"{LINE} trials=1")[0] == 0
    (plain,) = [record for record in records(mine) if "rounds_kept" not in record["cost"]]
    assert "early_stopping" not in plain["cell"]["algo"] and plain["curve"]["T"][-1] == 60


def test_the_exported_model_has_the_rounds_kept_and_predicts_as_measured(command, mine):
    code, _, err = command(f"export {LINE} {EARLY} -o model.c")
    assert code == 0, err
    assert command("predict model.npz mine.csv -o said.csv")[0] == 0
    said = [row["prediction"] for row in csv.DictReader((mine / "said.csv").open())]
    truth = [row["kind"] for row in csv.DictReader((mine / "mine.csv").open())]
    (record,) = records(mine)
    from boostrun import FullDataClassifier

    assert FullDataClassifier.load(mine / "model.npz").ensemble_.n_rounds == record["cost"]["rounds_kept"]
    assert np.mean(np.array(said) == truth) > 0.6


def test_every_trial_of_a_search_stops_early(command, mine):
    code, _, err = command(f"tune {LINE} {EARLY} tune.trials=2 algo.shrinkage=interval(0.1,1)")
    assert code == 0, err
    assert all("rounds_kept" in record["cost"] for record in records(mine))


@pytest.mark.parametrize("words, sentence", [
    ("algo.validation_fraction=1", "algo.validation_fraction"),
    ("algo.early_stopping=maybe", "algo.early_stopping"),
    ("algo.early_stopping=true algo.validation_fraction=0.999", "too few are left to train on every class"),
])  # fmt: skip
def test_what_does_not_fit_is_a_sentence_before_anything_runs(words, sentence, command, mine):
    code, _, err = command(f"{LINE} {words}")
    assert code == 2 and sentence in err.splitlines()[-1] and not records(mine)


def test_data_read_in_pieces_are_refused(command, mine):
    line = "algo=geem dataset=stream dataset.path=mine.csv dataset.test_path=mine.csv r=10 T=5 trials=1 n_jobs=1"
    code, _, err = command(f"{line} algo.early_stopping=true")
    assert code == 2 and "read in pieces" in err


def test_a_frontier_says_what_its_budget_leaves_out(command, mine):
    line = "frontier mine.csv budget=samples_held at=20 algo=rand,fix T=5 trials=1 n_jobs=1 tuning=0"
    assert "beyond the budget" in command(f"{line} algo.early_stopping=true")[1]
    assert all("rounds_kept" in record["cost"] for record in records(mine))
