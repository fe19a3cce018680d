"""Metrics beside accuracy, from the command line to the table."""

import csv
import json

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, f1_score

SWEEP = "-m algo=majority,rand r=20 T=2 trials=2 n_jobs=1 dataset=csv dataset.path=rare.csv"


@pytest.fixture
def rare(workplace):
    """1,200 rows, of which 1 % have a rare class that no column tells from the other."""
    rng = np.random.default_rng(0)
    rows = [
        f"{a:.3f},{b:.3f},{'rare' if i % 100 == 0 else 'common'}" for i, (a, b) in enumerate(rng.normal(size=(1200, 2)))
    ]
    (workplace / "rare.csv").write_text("\n".join(["a,b,kind", *rows]))
    return workplace


def records(workplace):
    return [json.loads(path.read_text()) for path in (workplace / "results" / "runs").glob("*/*.json")]


def test_a_table_of_a_rare_class_says_that_its_accuracy_is_the_majoritys(command, rare):
    code, out, _ = command(f"{SWEEP} table.metrics=[accuracy,balanced_accuracy,roc_auc,log_loss] name=mine")
    assert code == 0
    head = out.splitlines()[0]
    assert all(name in head for name in ("test accuracy %", "balanced accuracy %", "ROC AUC", "log loss"))
    assert "majority: accuracy is that of the majority class (99.17); balanced accuracy 50.00" in out
    assert out.count("of the majority class (99.17); balanced accuracy") == 2
    folder = rare / "results" / "tables" / "mine"
    first = next(csv.DictReader((folder / "table.csv").open()))
    assert first["balanced accuracy %"] == "50" and first["ROC AUC"] == "0.5" and float(first["mean"]) > 99
    assert "balanced accuracy 50.00" in (folder / "table.md").read_text()
    assert r"balanced accuracy \%" in (folder / "table.tex").read_text()
    for record in records(rare):
        assert record["metrics"].keys() >= {
            "balanced_accuracy_pct",
            "macro_f1_pct",
            "log_loss",
            "roc_auc",
            "average_precision",
        }
        assert record["metrics"]["test_rows"] == 240 and "metrics" not in record["cell"]["dataset"]
        curve = record["curve"]
        assert len(curve.get("T", ())) == len(curve.get("balanced_accuracy_pct", ()))
        assert not curve or curve["balanced_accuracy_pct"][-1] == record["metrics"]["balanced_accuracy_pct"]


def test_the_first_metric_is_the_one_that_rows_compete_by(command, rare):
    code, out, _ = command(f"{SWEEP} table.metrics=[log_loss] name=mine")
    assert code == 0 and out.split()[2:4] == ["log", "loss"] and "test accuracy" not in out.splitlines()[0]
    page = (rare / "results" / "tables" / "mine" / "table.md").read_text()
    assert "log loss, lower is better" in page
    rows = list(csv.DictReader((rare / "results" / "tables" / "mine" / "table.csv").open()))
    assert {row["metric"] for row in rows} == {"log_loss"}
    best = min(rows, key=lambda row: float(row["mean"]))
    assert best["rank"] == "best"


def test_a_small_test_part_is_named(command, workplace):
    (workplace / "few.csv").write_text("a,kind\n" + "".join(f"{i},{'x' if i % 2 else 'y'}\n" for i in range(40)))
    code, out, _ = command("algo=majority trials=1 dataset=csv dataset.path=few.csv n_jobs=1")
    assert code == 0 and "the test part has 8 rows: one row is 12.50 points of accuracy" in out


def test_an_unknown_metric_is_a_sentence_with_the_nearest_one(command, workplace):
    code, _, err = command("algo=majority dataset=digits table.metrics=[accuracy,rocauc]")
    assert code == 2 and "no metric 'rocauc'; did you mean 'roc_auc'? (accuracy, balanced_accuracy, " in err
    code, _, err = command("algo=majority dataset=digits metric=roc_auc")
    assert code == 2 and "the list of metrics in the table is table.metrics: table.metrics=" in err
    assert command("plan algo=majority dataset=digits table.metrics=[roc_auc]")[0] == 0


def test_records_without_metrics_have_a_dash_until_predictions_are_kept(command, workplace):
    line = "algo=majority dataset=digits trials=1 n_jobs=1"
    assert command(line)[0] == 0
    (record,) = records(workplace)
    assert "balanced_accuracy_pct" not in record["metrics"]  # data of papers are measured as they were
    asked = f"{line} table.metrics=accuracy,balanced_accuracy"
    code, out, _ = command(asked)
    assert code == 0 and "majority: — its records were made without balanced accuracy %; run.predictions=true" in out
    code, out, _ = command(f"{asked} run.predictions=true")
    assert code == 0 and "made without" not in out and "10.00" in out.splitlines()[1]
    assert records(workplace) == [record]


def test_data_of_papers_are_measured_if_a_table_asks_for_it(command, workplace):
    code, out, _ = command("algo=majority dataset=digits trials=1 n_jobs=1 table.metrics=[macro_f1]")
    assert code == 0 and "macro F1 %" in out.splitlines()[0]
    assert records(workplace)[0]["metrics"]["macro_f1_pct"] == pytest.approx(1.82, abs=0.01)


def test_own_data_are_not_measured_if_that_is_not_wanted(command, rare):
    assert command(f"{SWEEP} trials=1 run.metrics=none")[0] == 0
    assert all("test_rows" not in record["metrics"] for record in records(rare))


@pytest.mark.parametrize("names", [("no", "yes"), (5, 7)])
def test_a_streamed_set_is_measured_by_the_names_of_its_classes(command, workplace, names):
    rng = np.random.default_rng(0)
    for file, rows in (("train.csv", 300), ("test.csv", 100)):
        y = rng.integers(0, 2, rows)
        lines = [f"{x:.3f},{x + z:.3f},{names[k]}\n" for x, z, k in zip(rng.normal(y), rng.normal(size=rows), y)]
        (workplace / file).write_text("a,b,kind\n" + "".join(lines))
    line = "algo=rand r=20 T=3 trials=1 n_jobs=1 dataset=stream dataset.path=train.csv dataset.test_path=test.csv"
    code, out, _ = command(f"{line} table.metrics=[accuracy,roc_auc] run.predictions=true")
    assert code == 0 and "—" not in out
    (record,) = records(workplace)
    assert record["metrics"]["roc_auc"] > 0.6 and record["metrics"]["balanced_accuracy_pct"] > 55
    assert len(record["curve"]["balanced_accuracy_pct"]) == 3


STREAM = "dataset=file_stream dataset.path=rare.csv trials=1 n_jobs=1"


@pytest.mark.parametrize("keys", ["", "dataset.scored_after=150", "dataset.delay=7", "dataset.measures=accuracy"])
def test_a_stream_has_the_metrics_of_its_predictions(keys, command, rare):
    """On a stream sorted by class the majority so far is right until the class changes: all figures are known."""
    rows = [f"{i % 7},{i % 3},{'ab'[i >= 300]}" for i in range(400)]
    (rare / "rare.csv").write_text("\n".join(["x,y,kind", *rows]))
    code, out, _ = command(f"algo=majority_so_far {STREAM} {keys} table.metrics=[accuracy,balanced_accuracy,macro_f1]")
    first = 150 if "scored" in keys else 0
    wrong = {"dataset.delay=7": 8}.get(keys, 1) * (first == 0)  # before the first label it says b, the second class
    said = np.r_[np.ones(wrong), np.zeros(400 - wrong)][first:]
    truth = (np.arange(400) >= 300)[first:]
    (record,) = records(rare)
    assert code == 0 and "—" not in out and record["metrics"]["test_rows"] == 400 - first
    assert record["metrics"]["test_accuracy_pct"] == pytest.approx(100 * np.mean(said == truth))
    assert record["metrics"]["balanced_accuracy_pct"] == pytest.approx(100 * balanced_accuracy_score(truth, said))
    assert record["metrics"]["macro_f1_pct"] == pytest.approx(100 * f1_score(truth, said, average="macro"))


def test_a_stream_has_no_metrics_of_probabilities(command, rare):
    code, out, _ = command(f"algo=majority_so_far {STREAM} table.metrics=[balanced_accuracy,roc_auc]")
    assert code == 0 and "— no ROC AUC: no probabilities are asked for along a stream" in out
    assert "accuracy is within noise of that of the majority class (99.00); balanced accuracy 54.08" in out
    line = f"tune algo=iboost_stochastic M=3 n=20 {STREAM} dataset.scored_after=200".replace(" trials=1", "")
    code, _, err = command(f"{line} metric=roc_auc")
    assert code == 2 and "tuned by its accuracy or balanced_accuracy or macro_f1" in err
    code, out, err = command(f"{line} metric=macro_f1 tune.trials=2")
    assert code == 0 and "2 trials by macro F1 on" in out, err


def test_streams_of_papers_are_measured_if_that_is_asked_for(command, workplace):
    line = "algo=majority_so_far dataset=electricity dataset.first=600 trials=1 n_jobs=1"
    if command(line)[0]:
        pytest.skip("its file is not there")
    assert "macro_f1_pct" not in records(workplace)[0]["metrics"]


# -- which metrics -----------------------------------------------------------------------------------------------------


def test_named_metrics_are_measured_alone_whatever_the_data(command, workplace):
    line = "algo=rand r=20 T=2 dataset=digits trials=1 n_jobs=1"
    assert command(f"{line} run.metrics=[log_loss,balanced_accuracy]")[0] == 0
    (record,) = records(workplace)
    found = record["metrics"].keys() - {"test_accuracy_pct", "test_error_pct"}
    assert found == {"log_loss", "balanced_accuracy_pct"} and "macro_f1_pct" not in record["curve"]
    assert "run.predictions=true measures them" in command(f"{line} table.metrics=[roc_auc]")[1]


def test_a_name_that_is_no_metric_to_measure_is_a_sentence(command, workplace):
    for words, nearest in (("[rocauc]", "roc_auc"), ("f1", "macro_f1"), ("[log_loss,AUC]", "roc_auc")):
        code, _, err = command(f"algo=majority dataset=digits run.metrics={words}")
        assert code == 2 and f"did you mean '{nearest}'?" in err and "run.metrics=" in err


# -- choosing ----------------------------------------------------------------------------------------------------------

SEARCH = "algo=rand r=20 T=2 n_jobs=1 dataset=csv dataset.path=rare.csv"


@pytest.mark.parametrize("metric, better", [("balanced_accuracy", max), ("log_loss", min)])
def test_tune_chooses_by_a_metric_and_says_so(command, rare, metric, better):
    code, out, err = command(f"tune {SEARCH} metric={metric} tune.trials=3 algo.shrinkage=interval(0.01,1)")
    words = metric.replace("_", " ")
    assert code == 0 and f"3 trials each by {metric}" in err and f"3 trials by {words} on held-out training data" in out
    (path,) = (rare / "results" / "tuned").glob("rand-*/tuned.json")
    choice = json.loads(path.read_text())
    figures = [row[choice["by"]] for row in choice["trials"]]
    assert choice["values"] == choice["trials"][figures.index(better(figures))]["values"]
    assert words in (path.parent / "table.md").read_text()


def test_records_of_an_earlier_search_are_measured_again(command, rare):
    line = f"tune {SEARCH} tune.trials=1 algo.shrinkage=interval(0.01,1)"
    assert command(f"{line} run.metrics=none")[0] == 0
    before = records(rare)
    code, out, err = command(f"{line} metric=roc_auc")
    assert code == 0 and "trained once more for their metrics, records stay: 1 trials" in err
    assert records(rare) == before and "by ROC AUC on held-out" in out


@pytest.mark.slow
def test_a_frontier_of_a_metric_is_named_after_it_in_title_files_and_columns(command, rare):
    line = "frontier dataset=rare.csv budget=samples_held at=20,40 algo=rand,fix T=2 trials=2 n_jobs=1 tuning=0"
    code, out, _ = command(f"{line} metric=balanced_accuracy")
    folder = rare / "results" / "frontiers" / "rare-balanced_accuracy-samples_held"
    assert code == 0 and "written: " in out and "On rare by balanced accuracy, " in out
    assert out.startswith("rare: balanced accuracy by samples held")
    page = (folder / "table.md").read_text()
    assert (
        page.startswith("# rare: balanced accuracy by samples held") and "balanced accuracy %, higher is better" in page
    )
    for name in ("table.csv", "contest.csv"):
        assert {row["metric"] for row in csv.DictReader((folder / name).open())} == {"balanced_accuracy_pct"}
    drawn = (folder / "figure.svg").read_text()
    assert "balanced accuracy (%)" in drawn and "rare: balanced accuracy by samples held" in drawn
    assert command(line)[0] == 0  # beside that of accuracy, whose files are as ever
    assert "metric" not in (folder.parent / "rare-samples_held" / "table.csv").read_text()
    assert "1 data set" in command("frontier summary budget=samples_held")[1]


def test_an_unknown_metric_of_a_search_is_a_sentence_with_the_nearest_one(command, rare):
    for line in (f"tune {SEARCH}", "frontier dataset=rare.csv budget=samples_held"):
        code, _, err = command(f"{line} metric=balanced")
        assert code == 2 and "no metric 'balanced'; did you mean 'balanced_accuracy'?" in err


@pytest.mark.slow
def test_the_page_of_own_runs_has_the_metrics_and_says_what_the_test_part_does(command, rare):
    assert command(f"{SWEEP} table.metrics=[accuracy,roc_auc]")[0] == 0
    assert command("report own -o page.html")[0] == 0
    page = (rare / "page.html").read_text()
    assert "ROC AUC" in page and "of the majority class (99.17); balanced accuracy" in page
    assert "no curve of ROC AUC: measured after the last round only" in page


def test_metrics_are_columns_of_the_librarys_table(workplace, rare):
    from boostrun import run

    table = run("algo=majority", "dataset=csv", "dataset.path=rare.csv", trials=1, n_jobs=1)
    assert table[["balanced_accuracy_pct", "roc_auc", "test_rows"]].values.tolist() == [[50.0, 0.5, 240]]
